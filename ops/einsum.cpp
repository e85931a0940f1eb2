#include "ops/einsum_equation.hpp"

#include "core/gemm.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

using einsum_detail::Equation;
using einsum_detail::holds;

// ---- forward: tensors whose axes have letters, contracted pair by pair from the left

struct Term {
  Tensor x;
  std::string letters;
};

// A letter that stands twice reads the diagonal: one axis whose stride is the sum of both.
Term diagonal_of(const Tensor& x, const std::string& letters) {
  Layout y{{}, {}, x.layout().offset};
  std::string once;
  for (int i = 0; i < x.rank(); ++i) {
    const char c = letters[static_cast<std::size_t>(i)];
    const std::size_t at = once.find(c);
    if (at != std::string::npos) {
      y.strides[static_cast<int>(at)] += x.strides()[i];
      continue;
    }
    once += c;
    y.shape.push_back(x.shape()[i]);
    y.strides.push_back(x.strides()[i]);
  }
  return {part_of(x, y), once};
}

Term sum_out(const Term& t, const std::string& kept) {
  Shape axes;
  std::string left;
  for (std::size_t i = 0; i < t.letters.size(); ++i) {
    if (holds(kept, t.letters[i])) left += t.letters[i];
    else axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes.rank() == 0 ? t : Term{sum(t.x, Axes(axes)), left};
}

Tensor ordered(const Term& t, const std::string& letters) {
  if (t.letters == letters) return t.x;
  Shape axes;
  for (const char c : letters) axes.push_back(static_cast<std::int64_t>(t.letters.find(c)));
  return permute(t.x, axes);
}

Shape extents_of(const Term& t, const std::string& letters) {
  Shape shape;
  for (const char c : letters) shape.push_back(t.x.shape()[static_cast<int>(t.letters.find(c))]);
  return shape;
}

Shape joined(Shape a, const Shape& b) {
  for (const std::int64_t n : b) a.push_back(n);
  return a;
}

Shape ones_for(const std::string& letters) {
  Shape shape;
  for (std::size_t i = 0; i < letters.size(); ++i) shape.push_back(1);
  return shape;
}

// The letters of a pair by their fate.
struct Pair {
  std::string batch;  // in both, kept
  std::string inner;  // in both, summed
  std::string left;   // in a alone
  std::string right;  // in b alone
  Pair(const Term& a, const Term& b, const std::string& kept) {
    for (const char c : a.letters) (!holds(b.letters, c) ? left : holds(kept, c) ? batch : inner) += c;
    for (const char c : b.letters)
      if (!holds(a.letters, c)) right += c;
  }
};

// a [batch, left] times b [batch, right], element by element.
Term multiply(const Term& a, const Term& b, const Pair& p) {
  const std::string batch = p.batch + p.inner;
  const Tensor x = reshape(ordered(a, batch + p.left), joined(extents_of(a, batch + p.left), ones_for(p.right)));
  const Tensor y = reshape(ordered(b, batch + p.right),
                           joined(joined(extents_of(b, batch), ones_for(p.left)), extents_of(b, p.right)));
  return {mul(x, y), batch + p.left + p.right};
}

// a [batch, left, inner] times b [batch, inner, right] as matrices, the batch axes left as they are.
Term product(const Term& a, const Term& b, const Pair& p) {
  const Shape batch = extents_of(a, p.batch), left = extents_of(a, p.left), right = extents_of(b, p.right);
  const std::int64_t inner = extents_of(a, p.inner).numel();
  const Tensor x = reshape(ordered(a, p.batch + p.left + p.inner), joined(batch, {left.numel(), inner}));
  const Tensor y = reshape(ordered(b, p.batch + p.inner + p.right), joined(batch, {inner, right.numel()}));
  return {reshape(batched_gemm("einsum", x, y), joined(joined(batch, left), right)), p.batch + p.left + p.right};
}

Term contract(Term a, Term b, const std::string& kept) {
  a = sum_out(a, b.letters + kept);
  b = sum_out(b, a.letters + kept);
  const Pair p(a, b, kept);
  const std::size_t axes = p.batch.size() + p.left.size() + p.right.size();
  const bool as_matrices = !p.inner.empty() && !(p.left.empty() && p.right.empty());
  if (axes + (as_matrices ? 0 : p.inner.size()) > Shape::max_rank ||
      p.batch.size() + (as_matrices ? 2 : 0) > Shape::max_rank)
    fail(
        "einsum: \"{},{}\" needs more than {} axes at once; merge some with reshape, or order the operands so that "
        "indices are "
        "summed earlier",
        a.letters, b.letters, Shape::max_rank);
  return as_matrices ? product(a, b, p) : sum_out(multiply(a, b, p), kept);
}

Equation split_explicit(const std::string& text) {
  Equation equation{{""}, text.substr(text.find('>') + 1)};
  for (const char c : text.substr(0, text.find('-'))) {
    if (c == ',') equation.terms.emplace_back();
    else equation.terms.back() += c;
  }
  return equation;
}

struct Einsum {
  std::string equation;  // explicit and without spaces or ellipses
  static constexpr OpInfo info{
      .name = "einsum",
      .math = R"(y_{o} = \sum_{s} \prod_k (x_k)_{s_k})",
      .rule = R"((\bar x_k)_{s_k} = \sum_{s} \bar y_{o} \prod_{j \ne k} (x_j)_{s_j})",
      .derivation =
          R"(y is linear in each operand, and the factor of (x_k)_{s_k} is the product of the others. So the gradient
is again such a sum: y's indices and those of the other operands go in, those of x_k come out.)",
      .why_kept = "each rule needs the other operands",
      .numpy = "np.einsum({equation}, *{operands})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(TensorList operands) const {
    const Equation e = split_explicit(equation);
    Term result = diagonal_of(operands[0], e.terms[0]);
    for (std::size_t k = 1; k < operands.size(); ++k) {
      std::string kept = e.output;
      for (std::size_t later = k + 1; later < operands.size(); ++later) kept += e.terms[later];
      result = contract(std::move(result), diagonal_of(operands[k], e.terms[k]), kept);
    }
    return ordered(sum_out(result, e.output), e.output);
  }
  Grads vjp(const Vjp& v) const {
    const Equation e = split_explicit(equation);
    PoolVector<Tensor> dx(v.x.size());
    for (std::size_t k = 0; k < v.x.size(); ++k)
      dx[k] = v.want(static_cast<int>(k), [&] { return gradient_of(k, e, v); });
    return Grads(std::move(dx));
  }

  // The cotangent takes x_k's place in the cycle of operands, so that a chain of products stays one.
  static Tensor gradient_of(std::size_t k, const Equation& e, const Vjp& v) {
    Equation rule;
    std::vector<Tensor> operands;
    std::string known;
    for (std::size_t step = 1; step <= v.x.size(); ++step) {
      const std::size_t j = (k + step) % (v.x.size() + 1);
      rule.terms.push_back(j == v.x.size() ? e.output : e.terms[j]);
      operands.push_back(j == v.x.size() ? v.g : v.x[j]);
      known += rule.terms.back();
    }
    for (const char c : e.terms[k])
      if (holds(known, c) && !holds(rule.output, c)) rule.output += c;
    return spread(einsum(rule.text(), operands), e.terms[k], rule.output, v.x[k].shape());
  }

  // From the letters that were found to all axes of x_k: an index that only x_k had repeats the value, an index that
  // stands twice puts it on the diagonal.
  static Tensor spread(Tensor g, const std::string& letters, const std::string& found, const Shape& shape) {
    if (letters == found) return g;
    Shape single = shape, full = shape;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const bool again = letters.find(letters[i]) != i;
      if (again || !holds(found, letters[i])) single[static_cast<int>(i)] = 1;
      if (again) full[static_cast<int>(i)] = 1;
    }
    g = expand(reshape(g, single), full);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::size_t first = letters.find(letters[i]);
      if (first == i) continue;
      Shape plane = ones_for(letters);
      plane[static_cast<int>(first)] = plane[static_cast<int>(i)] = shape[static_cast<int>(i)];
      g = where(reshape(eye(shape[static_cast<int>(i)], DType::b8), plane), g, 0.0);
    }
    return g;
  }

  static void samples(Samples& s);
};

void Einsum::samples(Samples& s) {
  using List = std::vector<Tensor>;
  s.add(einsum, "ij,jk->ik", List{s.randn({1, 3}), s.randn({3, 2})});
  s.add(einsum, "bij,bjk->bik", List{s.randn({2, 3, 4}), s.randn({2, 4, 2})}).for_benchmark();
  s.add(einsum, "nqhd,nkhd->nhqk", List{s.randn({2, 3, 2, 4}), s.randn({2, 5, 2, 4})});
  s.add(einsum, "bij,bjk->ik", List{s.randn({2, 3, 4}), s.randn({2, 4, 5})});
  s.add(einsum, "...ij, ...jk -> ...ik", List{s.randn({2, 3, 4}), s.randn({4, 5})});
  s.add(einsum, "ba", List{s.randn({2, 3})});
  s.add(einsum, "ij,jk", List{s.randn({2, 3}), s.randn({3, 2})});
  s.add(einsum, "i,j->ij", List{s.randn({3}), s.randn({4})});
  s.add(einsum, "abc->", List{s.randn({2, 3, 4})});
  s.add(einsum, "ii->i", List{s.randn({4, 4})});
  s.add(einsum, "ii", List{s.randn({3, 3})});
  s.add(einsum, "iij,jki->k", List{s.randn({3, 3, 2}), s.randn({2, 4, 3})});
  s.add(einsum, "iii->", List{s.randn({2, 2, 2})});
  s.add(einsum, "ab,ab,b->a", List{s.randn({2, 3}), s.randn({2, 3}), s.randn({3})});
  s.add(einsum, "ij,jk,kl,lm->im", List{s.randn({2, 3}), s.randn({3, 4}), s.randn({4, 2}), s.randn({2, 3})});
  s.add(einsum, ",ij->ji", List{s.randn({}), s.randn({2, 3})});
  s.add(einsum, "ij,kj->i", List{s.randn({2, 3}), s.randn({4, 3})});
  s.add(einsum, "ij,jk->ik", List{s.randn({2, 0}), s.randn({0, 3})});
  s.error("\"ij,jk->ik\" with shapes [2, 3], [4, 5]: index j has extent 3 in operand 0 and 4 in operand 1", einsum,
          "ij,jk->ik", List{s.randn({2, 3}), s.randn({4, 5})});
  s.error("an extent of 1 is repeated by expand only", einsum, "ij,ij->ij", List{s.randn({2, 3}), s.randn({1, 3})});
  s.error("term \"ijk\" names 3 axes, operand 0 has 2", einsum, "ijk->i", List{s.randn({2, 3})});
  s.error("2 terms for 1 operands", einsum, "ij,jk->ik", List{s.randn({2, 3})});
  s.error("output index z stands in no input", einsum, "ij->iz", List{s.randn({2, 3})});
  s.error("index i stands twice in the output", einsum, "i->ii", List{s.randn({2})});
  s.error("'%' at position 1 is out of place", einsum, "i%->i", List{s.randn({2})});
  s.error("the output lacks \"...\"", einsum, "...i->i", List{s.randn({2, 3})});
  s.error("the list is empty", einsum, "->", List{});
  s.error("dtype i64 is not floating; cast", einsum, "i->i", List{s.indices({3}, 4)});
}

const Register<Einsum> registered{einsum, {"equation", "operands"}};

}  // namespace

// As NumPy's, except that an index has one extent throughout: an axis of extent 1 is not repeated.
Tensor einsum(std::string_view equation, TensorList operands) {
  check_list("einsum", operands);
  if (!is_floating(operands[0].dtype())) fail_not_floating("einsum", operands[0].dtype());
  return apply(Einsum{einsum_detail::read_equation(equation, operands).text()}, operands);
}

}  // namespace gradus
