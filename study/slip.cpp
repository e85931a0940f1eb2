#include "study/slip.hpp"

#include "core/mode.hpp"
#include "ops/ops.hpp"
#include "study/difference.hpp"

#include <cmath>
#include <optional>

namespace gradus::study {
namespace {

using Found = std::optional<Guess>;

/// One claimed gradient under examination.
struct Case {
  Tensor claimed, right;
  const SlipContext& context;
  double apart = 0;  ///< max|claimed - right|, infinite when the shapes differ

  /// Whether `value` is what was claimed, and not just near it because everything is.
  bool is_claimed(const Tensor& value) const {
    if (!value.defined() || !(value.shape() == claimed.shape())) return false;
    const Difference d = difference_of(claimed, value);
    return d.largest <= 1e-5 * d.size && d.largest <= 0.01 * apart;
  }
};

/// `x` summed over what was broadcast from `shape`; undefined when it does not fit or nothing is summed.
Tensor summed_to(Tensor x, const Shape& shape) {
  if (x.rank() < shape.rank() || x.numel() <= shape.numel()) return {};
  while (x.rank() > shape.rank()) x = sum(x, 0);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (x.shape()[axis] == shape[axis]) continue;
    if (shape[axis] != 1) return {};
    x = sum(x, axis, keepdim);
  }
  return x;
}

/// `x` broadcast to `shape`, undefined when it does not fit.
Tensor expanded_to(const Tensor& x, const Shape& shape) {
  if (x.rank() > shape.rank()) return {};
  for (int i = 1; i <= x.rank(); ++i)
    if (x.shape()[x.rank() - i] != 1 && x.shape()[x.rank() - i] != shape[shape.rank() - i]) return {};
  return expand(x, shape);
}

bool near(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !(a.shape() == b.shape())) return false;
  const Difference d = difference_of(a, b);
  return d.largest <= 1e-5 * std::max(d.size, 1e-300);
}

/// The first suspect of a kind that is what was claimed.
Found suspect_of(const Case& c, Slip kind, Slip named) {
  Found found;
  if (c.context.suspects)
    c.context.suspects(kind, [&](const Suspect& s) {
      if (!c.is_claimed(s.value)) return false;
      found = Guess{named, 0, s.why};
      return true;
    });
  return found;
}

Found shape_slip(const Case& c) {
  if (c.claimed.shape() == c.right.shape()) return {};
  const std::string both =
      fmt::format("the claim has shape {}, the right value {}", c.claimed.shape(), c.right.shape());
  if (near(summed_to(c.claimed, c.right.shape()), c.right))
    return Guess{Slip::broadcast, 0,
                 both + ": it becomes right when it is summed over what was broadcast in the forward pass"};
  if (const Found f = suspect_of(c, Slip::broadcast, Slip::broadcast))
    return Guess{Slip::broadcast, 0, both + ": " + f->sentence};
  if (c.claimed.rank() >= 2 && near(transpose(c.claimed), c.right))
    return Guess{Slip::shape, 0, both + "; its transpose would be right"};
  if (c.claimed.numel() == c.right.numel() && near(reshape(c.claimed, c.right.shape()), c.right))
    return Guess{Slip::shape, 0, both + "; the numbers are right, only the shape is not"};
  if (near(expanded_to(c.claimed, c.right.shape()), c.right))
    return Guess{Slip::shape, 0, both + "; it would be right when expanded to that shape"};
  return Guess{Slip::shape, 0, both};
}

/// The ratio claimed / right when it is the same everywhere.
std::optional<double> constant_ratio(const Tensor& claimed, const Tensor& right, double apart) {
  const double square = sum(right * right).item();
  if (!(square > 0)) return {};
  const double ratio = sum(claimed * right).item() / square;
  if (!std::isfinite(ratio)) return {};
  const double left = difference_of(claimed, right * ratio).largest, size = difference_of(claimed, claimed).size;
  if (!(size > 0 && left <= 1e-5 * size && left <= 0.01 * apart)) return {};
  return ratio;
}

std::int64_t entries_not_zero(const Tensor& x) {
  std::int64_t count = 0;
  for (const double v : x.to_vector<double>()) count += v != 0;
  return count;
}

Found sign_slip(const Case& c) {
  if (!c.is_claimed(-c.right)) return {};
  return Guess{Slip::sign, 0, "the claim is the right value with the other sign"};
}

Guess scale_guess(double ratio, const SlipContext& context, const std::string& what) {
  std::string where;
  const std::string name = name_of_ratio(ratio, context, &where), number = number_text(ratio);
  std::string text =
      fmt::format("{} {} times the right value", what, name.empty() || name == number ? number : name + " = " + number);
  const double size = std::abs(ratio);
  if (!name.empty()) {
    const std::string inverse = name_of_ratio(1 / ratio, context);
    text += size > 1 ? fmt::format(": a factor {} is missing", inverse)
                     : fmt::format(": a factor {} is too many, or {} is missing", name, inverse);
  }
  if (!where.empty()) text += " (" + where + ")";
  return {Slip::scale, ratio, text};
}

Found scale_slip(const Case& c, bool named_only) {
  const auto ratio = constant_ratio(c.claimed, c.right, c.apart);
  if (!ratio || (named_only && name_of_ratio(*ratio, c.context).empty())) return {};
  return scale_guess(*ratio, c.context, "the claim is");
}

Found transpose_slip(const Case& c) {
  if (c.right.rank() >= 2 && c.right.size(-1) == c.right.size(-2) && c.is_claimed(transpose(c.right)))
    return Guess{Slip::transpose, 0, "the claim is the transpose of the right value"};
  return suspect_of(c, Slip::transpose, Slip::transpose);
}

/// A slip in a row sum on the way, or else rows of claimed - right that are multiples of the softmax's rows: then some
/// other number was subtracted there.
Found row_sum_slip(const Case& c) {
  if (const Found f = suspect_of(c, Slip::row_sum, Slip::row_sum)) return f;
  const Tensor d = c.claimed - c.right;
  for (const auto& weights : c.context.softmaxes) {
    const Tensor& a = weights.value;
    if (!(a.shape() == d.shape()) || a.size(weights.axis) < 2) continue;
    const Tensor k = sum(d * a, weights.axis, keepdim) / sum(a * a, weights.axis, keepdim);
    if (difference_of(k * a, d).largest > 1e-5 * c.apart) continue;
    return Guess{
        Slip::row_sum, 0,
        fmt::format("every row of the difference is a multiple of the row of {0} (the first by {1}): the sum "
                    "along the row is missing or wrong, which is there because each entry moves all of its row "
                    "of {0}",
                    weights.name, number_text(k.to_vector<double>().front()))};
  }
  return {};
}

/// `d_X_via_Q and d_X_via_K`.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Every proper subset of at most six parts forgotten.
Found path_slip(const Case& c) {
  const auto& parts = c.context.parts;
  const std::size_t n = parts.size();
  if (n >= 2 && n <= 6)
    for (std::size_t subset = 1; subset + 1 < (std::size_t{1} << n); ++subset) {
      Tensor value = c.right;
      std::vector<std::string> missing;
      for (std::size_t i = 0; i < n; ++i)
        if (subset >> i & 1U) value = value - parts[i].value, missing.push_back(parts[i].name);
      if (c.is_claimed(value))
        return Guess{Slip::path, 0,
                     fmt::format("the gradient is a sum over {} paths, and {} {} forgotten", n, joined(missing),
                                 missing.size() == 1 ? "is" : "are")};
    }
  return suspect_of(c, Slip::path, Slip::path);
}

/// Two equal paths, one of them forgotten, are a factor 1/2 first.
Guess also_path(Guess scale, const Case& c) {
  if (const Found f = path_slip(c)) scale.sentence += "; or else " + f->sentence;
  return scale;
}

/// One part of the sum over paths comes with a factor: claimed = right + (factor - 1) part.
Found part_slip(const Case& c) {
  const Tensor d = c.claimed - c.right;
  if (entries_not_zero(c.right) < 2) return {};
  for (const auto& part : c.context.parts) {
    const auto extra = constant_ratio(d, part.value, c.apart);
    if (!extra) continue;
    const double factor = 1 + *extra;
    if (std::abs(factor + 1) < 1e-6)
      return Guess{Slip::sign, 0, fmt::format("{} has the other sign in the sum over the paths", part.name)};
    if (std::abs(factor - 2) < 1e-6)
      return Guess{Slip::path, 0, fmt::format("{} is counted twice in the sum over the paths", part.name)};
    return scale_guess(factor, c.context, fmt::format("in the sum over the paths {} is", part.name));
  }
  return {};
}

/// Two slips at once: a multiple of what a slip of another kind gives.
Found scaled_suspect(const Case& c) {
  Found found;
  if (!c.context.suspects || entries_not_zero(c.claimed) < 3) return found;
  for (const Slip kind : {Slip::transpose, Slip::row_sum, Slip::broadcast, Slip::path}) {
    c.context.suspects(kind, [&](const Suspect& s) {
      if (!s.value.defined() || !(s.value.shape() == c.claimed.shape())) return false;
      const auto ratio = constant_ratio(c.claimed, s.value, c.apart);
      if (!ratio) return false;
      const std::string name = name_of_ratio(*ratio, c.context);
      found = Guess{kind, 0,
                    fmt::format("{}; and besides a factor {}", s.why,
                                std::abs(*ratio + 1) < 1e-6 ? "-1"
                                : name.empty()              ? number_text(*ratio)
                                                            : name)};
      return true;
    });
    if (found) break;
  }
  return found;
}

Guess other_slip(const Case& c) {
  const Difference d = difference_of(c.claimed, c.right);
  if (!std::isfinite(d.largest))
    return {Slip::other, 0,
            fmt::format("the largest difference is{}: {} instead of {}", at_text(d.at), number_text(d.a),
                        number_text(d.b))};
  if (const Found f = suspect_of(c, Slip::other, Slip::other)) return *f;
  std::string text = fmt::format("none of the known slips; the largest difference is {}{}: {} instead of {}",
                                 number_text(d.largest), at_text(d.at), number_text(d.a), number_text(d.b));
  if (const auto& g = c.context.cotangent; g.value.defined() && g.value.shape() == c.claimed.shape())
    if (near(c.claimed * g.value, c.right))
      return {Slip::other, 0, text + "; it becomes right when it is multiplied by " + g.name};
  const double a = std::sqrt(sum(c.claimed * c.claimed).item()), b = std::sqrt(sum(c.right * c.right).item());
  if (a > 0 && b > 0 && c.right.numel() > 1)
    text += fmt::format("; the cosine of the angle between both is {:.2f}", sum(c.claimed * c.right).item() / (a * b));
  else if (a == 0) text += "; the claim is zero everywhere";
  else if (b == 0) text += "; the right value is zero everywhere";
  return {Slip::other, 0, text};
}

bool finite(const Tensor& x) {
  for (const double v : x.to_vector<double>())
    if (!std::isfinite(v)) return false;
  return true;
}

}  // namespace

const char* to_string(Slip slip) {
  static constexpr const char* names[] = {"none",    "shape",     "sign", "scale", "transpose",
                                          "row_sum", "broadcast", "path", "other"};
  return names[static_cast<std::size_t>(slip)];
}

Guess find_slip(const Tensor& claimed, const Tensor& right, const SlipContext& context) {
  const NoGrad no_grad;
  Case c{claimed, right, context, std::numeric_limits<double>::infinity()};
  if (const Found f = shape_slip(c)) return *f;
  if (!finite(claimed) || !finite(right)) return other_slip(c);
  c.apart = difference_of(claimed, right).largest;
  const bool many = entries_not_zero(right) >= 2;
  if (const Found f = sign_slip(c)) return *f;
  if (const Found f = scale_slip(c, !many)) return also_path(*f, c);
  for (const auto& test : {transpose_slip, row_sum_slip})
    if (const Found f = test(c)) return *f;
  if (const Found f = suspect_of(c, Slip::broadcast, Slip::broadcast)) return *f;
  for (const auto& test : {path_slip, part_slip})
    if (const Found f = test(c)) return *f;
  for (const Slip kind : {Slip::sign, Slip::scale})
    if (const Found f = suspect_of(c, kind, kind)) return *f;
  if (const Found f = scaled_suspect(c)) return *f;
  if (const Found f = scale_slip(c, false)) return *f;
  return other_slip(c);
}

}  // namespace gradus::study
