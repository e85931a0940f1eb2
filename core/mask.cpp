#include "core/mask_shape.hpp"

#include "core/parallel.hpp"

namespace gradus {

// One part of a mask, or two masks joined. A null side is a mask that allows everything.
struct Mask::Term {
  enum class Kind : std::uint8_t { causal, window, lengths, keys, keep, both, either, negation };
  Kind kind;
  Align align = Align::unspecified;
  std::int64_t left = 0, right = 0;
  Tensor tensor{};
  Mask a{}, b{};
  int parts = 1;  // how many are joined
};

namespace {

using Kind = Mask::Term::Kind;

// Printed and destroyed by recursion, and a mask joined with itself doubles.
constexpr int most_parts = 1000;

Mask joined(Kind kind, const Mask& a, const Mask& b) {
  const int parts = a.term()->parts + b.term()->parts;
  if (parts > most_parts)
    fail("mask: more than {} parts are joined; join fewer, or give one b8 tensor to keep", most_parts);
  return Mask(std::make_shared<const Mask::Term>(Mask::Term{.kind = kind, .a = a, .b = b, .parts = parts}));
}

Mask made(Mask::Term term) { return Mask(std::make_shared<const Mask::Term>(std::move(term))); }

// Where query 0 stands among the keys.
std::int64_t first_position(const char* name, Align align, std::int64_t queries, std::int64_t keys) {
  if (align == Align::unspecified && queries != keys)
    fail(
        "{}: {} queries against {} keys; say how they align: Align::end when the last query is the last key (a cache), "
        "Align::start when the first query is the first key",
        name, queries, keys);
  return align == Align::end ? keys - queries : 0;
}

// y[i, j] = low <= j - i <= high, as [L, S].
Tensor dense_band(Mask::Band band, std::int64_t queries, std::int64_t keys) {
  Tensor y({queries, keys}, DType::b8);
  bool* const out = y.fresh_data<bool>();
  parallel_for(queries, chunk_for(0.2 * static_cast<double>(keys) + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < keys; ++j) out[i * keys + j] = j - i >= band.low && j - i <= band.high;
  });
  return y;
}

// [B, 1, ..., 1, S]: the shape of what lengths and keys say of scores [B, ..., L, S].
Shape key_shape(const char* name, const Shape& given, const Shape& scores) {
  if (scores.rank() < 3 || scores[0] != given[0])
    fail("{}: {} for scores {}; its first extent is the batch, so the scores must be [{}, ..., L, S]", name, given,
         scores, given[0]);
  Shape shape{given[0]};
  while (shape.rank() < scores.rank() - 1) shape.push_back(1);
  shape.push_back(scores.back());
  return shape;
}

Tensor dense_lengths(const Tensor& n, const Shape& scores) {
  const Shape shape = key_shape("lengths", n.shape(), scores);
  const std::int64_t keys = shape.back();
  Tensor y(shape, DType::b8);
  bool* out = y.fresh_data<bool>();
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const std::int64_t length = n.data<std::int64_t>()[b];
    if (length < 0 || length > keys)
      fail("lengths: length {} of batch item {} is not within [0, {}], the number of keys; clamp it", length, b, keys);
    for (std::int64_t j = 0; j < keys; ++j) *out++ = j < length;
  }
  return y;
}

Tensor dense_keys(const Tensor& t, const Shape& scores) {
  const Shape shape = key_shape("keys", t.shape(), scores);
  if (t.shape()[1] != shape.back())
    fail("keys: {} for scores {}; give one value for each of the {} keys", t.shape(), scores, shape.back());
  return Tensor(t.storage(), {shape, contiguous_strides(shape), t.layout().offset}, DType::b8);
}

Tensor dense_keep(const Tensor& t, const Shape& scores) {
  bool fits = t.rank() == 2 || t.rank() == scores.rank();
  for (int i = 1; fits && i <= t.rank(); ++i) {
    const std::int64_t extent = t.shape()[t.rank() - i];
    fits = extent == 1 || (i <= scores.rank() && extent == scores[scores.rank() - i]);
  }
  if (!fits)
    fail("keep: {} does not broadcast to scores {}; give it rank 2, or rank {} with extents equal or 1", t.shape(),
         scores, scores.rank());
  return t;
}

// f(a, b) element by element, with broadcasting. The inputs are small beside the product that they mask.
template <class F>
Tensor combined(const Tensor& a, const Tensor& b, F f) {
  const Shape shape = broadcast_shapes("mask", a.shape(), b.shape());
  const Layout la = broadcast_to("mask", a.layout(), shape);
  const Layout lb = broadcast_to("mask", b.layout(), shape);
  Tensor y(shape, DType::b8);
  if (shape.numel() == 0) return y;
  bool* out = y.fresh_data<bool>();
  const bool* const pa = static_cast<const bool*>(a.storage().data());
  const bool* const pb = static_cast<const bool*>(b.storage().data());
  const int last = shape.rank() - 1;  // at least 1: every part has the axes [L, S]
  const std::int64_t n = shape.back(), rows = shape.numel() / n, step_a = la.strides[last], step_b = lb.strides[last];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t ia = la.offset, ib = lb.offset;
    std::int64_t rest = row;
    for (int axis = last - 1; axis >= 0; rest /= shape[axis], --axis) {
      ia += rest % shape[axis] * la.strides[axis];
      ib += rest % shape[axis] * lb.strides[axis];
    }
    for (std::int64_t j = 0; j < n; ++j) *out++ = f(pa[ia + j * step_a], pb[ib + j * step_b]);
  }
  return y;
}

Tensor everywhere(bool allowed) {
  Tensor y({1, 1}, DType::b8);
  *y.fresh_data<bool>() = allowed;
  return y;
}

Tensor dense_pair(const Mask::Term& term, const Shape& scores) {
  const Tensor a = term.a.dense(scores), b = term.b.dense(scores);
  if (term.kind == Kind::both) return combined(a, b, [](bool x, bool y) { return x && y; });
  return combined(a, b, [](bool x, bool y) { return x || y; });
}

// A copy of a part's tensor, after its dtype and rank were checked.
Tensor checked_part(const char* name, const Tensor& t, DType dtype, const char* wanted) {
  if (!t.defined()) fail("{}: the tensor is undefined; give {}", name, wanted);
  if (t.dtype() != dtype) fail("{}: got {} {}; give {}", name, t.dtype(), t.shape(), wanted);
  return copy_of(t);
}

std::string align_argument(Align align, bool first) {
  if (align == Align::unspecified) return "";
  return fmt::format("{}\"{}\"", first ? "" : ", ", align == Align::end ? "end" : "start");
}

// In parentheses where it binds more loosely than what stands around it; ~ binds before &, & before |.
std::string inside(const Mask& mask, Kind around) {
  const std::string text = to_string(mask);
  if (mask.is_everything()) return text;
  const Kind kind = mask.term()->kind;
  const bool loose =
      (kind == Kind::either && around != Kind::either) || (kind == Kind::both && around == Kind::negation);
  return loose ? fmt::format("({})", text) : text;
}

}  // namespace

std::optional<Mask::Band> Mask::band(std::int64_t queries, std::int64_t keys) const {
  if (!term_) return std::nullopt;
  constexpr std::int64_t far = std::int64_t{1} << 62;
  if (term_->kind == Kind::causal) return Band{-far, first_position("causal", term_->align, queries, keys)};
  if (term_->kind != Kind::window) return std::nullopt;
  const std::int64_t first = first_position("window", term_->align, queries, keys);
  return Band{first - std::min(term_->left, far), first + std::min(term_->right, far)};
}

Tensor Mask::dense(const Shape& scores) const {
  if (!term_) return {};
  if (scores.rank() < 2) fail("mask: scores of shape {}; they are [..., L, S]", scores);
  const std::int64_t queries = scores[scores.rank() - 2], keys = scores.back();
  switch (term_->kind) {
    case Kind::causal:
    case Kind::window: return dense_band(*band(queries, keys), queries, keys);
    case Kind::lengths: return dense_lengths(term_->tensor, scores);
    case Kind::keys: return dense_keys(term_->tensor, scores);
    case Kind::keep: return dense_keep(term_->tensor, scores);
    case Kind::both:
    case Kind::either: return dense_pair(*term_, scores);
    case Kind::negation: break;
  }
  const Tensor a = term_->a.is_everything() ? everywhere(true) : term_->a.dense(scores);
  return combined(a, a, [](bool x, bool) { return !x; });
}

bool Mask::is_causal_only() const { return term_ && term_->kind == Kind::causal; }

Mask operator&(const Mask& a, const Mask& b) {
  if (a.is_everything()) return b;
  if (b.is_everything()) return a;
  return joined(Kind::both, a, b);
}

Mask operator|(const Mask& a, const Mask& b) {
  if (a.is_everything() || b.is_everything()) return {};
  return joined(Kind::either, a, b);
}

Mask operator~(const Mask& a) {
  if (!a.is_everything() && a.term()->kind == Kind::negation) return a.term()->a;
  return made({.kind = Kind::negation, .a = a, .parts = a.is_everything() ? 1 : a.term()->parts + 1});
}

Mask causal(Align align) { return made({.kind = Kind::causal, .align = align}); }

Mask window(std::int64_t left, std::int64_t right, Align align) {
  if (left < 0 || right < 0)
    fail("window: left {} and right {}; give how many keys a query sees on either side of itself, 0 or more", left,
         right);
  return made({.kind = Kind::window, .align = align, .left = left, .right = right});
}

Mask lengths(const Tensor& n) {
  constexpr const char* wanted = "i64 [B], the number of keys of each batch item";
  if (n.defined() && n.rank() != 1) fail("lengths: got shape {}; give {}", n.shape(), wanted);
  return made({.kind = Kind::lengths, .tensor = checked_part("lengths", n, DType::i64, wanted)});
}

Mask keys(const Tensor& t) {
  constexpr const char* wanted = "b8 [B, S], true where a key may be attended to (padding is false)";
  if (t.defined() && t.rank() != 2) fail("keys: got shape {}; give {}", t.shape(), wanted);
  return made({.kind = Kind::keys, .tensor = checked_part("keys", t, DType::b8, wanted)});
}

Mask keep(const Tensor& t) {
  constexpr const char* wanted = "b8, true where a query may attend (a float that is added to the scores is a bias)";
  if (t.defined() && t.rank() < 2) fail("keep: got shape {}; give [L, S] or the scores' rank", t.shape());
  return made({.kind = Kind::keep, .tensor = checked_part("keep", t, DType::b8, wanted)});
}

std::string to_string(const Mask& mask) {
  if (mask.is_everything()) return "None";
  const Mask::Term& term = *mask.term();
  switch (term.kind) {
    case Kind::causal: return fmt::format("causal({})", align_argument(term.align, true));
    case Kind::window: return fmt::format("window({}, {}{})", term.left, term.right, align_argument(term.align, false));
    case Kind::lengths: return fmt::format("lengths({})", term.tensor.shape());
    case Kind::keys: return fmt::format("keys({})", term.tensor.shape());
    case Kind::keep: return fmt::format("keep({})", term.tensor.shape());
    case Kind::both: return fmt::format("{} & {}", inside(term.a, term.kind), inside(term.b, term.kind));
    case Kind::either: return fmt::format("{} | {}", inside(term.a, term.kind), inside(term.b, term.kind));
    case Kind::negation: break;
  }
  return fmt::format("~{}", inside(term.a, term.kind));
}

std::optional<Shape> known_shape(const Mask& mask) {
  if (mask.is_everything()) return {};
  const Mask::Term& term = *mask.term();
  if (term.kind == Kind::keep) return term.tensor.shape();
  const auto a = known_shape(term.a), b = known_shape(term.b);
  return !a || (b && b->rank() > a->rank()) ? b : a;
}

std::string grid(const Mask& mask, const Shape& scores) {
  if (scores.rank() < 2) fail("grid: scores of shape {}; they are [..., L, S]", scores);
  const Tensor part = mask.is_everything() ? everywhere(true) : mask.dense(scores);
  const Tensor whole(part.storage(), broadcast_to("grid", part.layout(), scores), DType::b8);
  const std::vector<bool> allowed = whole.to_vector<bool>();
  const std::int64_t queries = scores[scores.rank() - 2], keys = scores.back(), cells = queries * keys;
  std::string text;
  for (std::int64_t block = 0; block * cells < scores.numel(); ++block) {
    Shape index;
    std::int64_t rest = block;
    for (int axis = scores.rank() - 3; axis >= 0; rest /= scores[axis], --axis) index.insert(0, rest % scores[axis]);
    if (index.rank() > 0) text += fmt::format("{}{}\n", block ? "\n" : "", index);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      text += allowed[static_cast<std::size_t>(block * cells + cell)] ? '#' : '.';
      if ((cell + 1) % keys == 0) text += '\n';
    }
  }
  return text;
}

}  // namespace gradus
