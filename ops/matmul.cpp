#include "core/gemm.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct MatMul {
  static constexpr OpInfo info{
      .name = "matmul",
      .math = R"(Y = A B)",
      .rule = "\\bar A = \\bar Y B^{T}\n\\bar B = A^{T} \\bar Y",
      .derivation = R"(Y_{i j} = \sum_k A_{i k} B_{k j}, so \bar A_{i k} = \sum_j \bar Y_{i j} B_{k j} and
\bar B_{k j} = \sum_i A_{i k} \bar Y_{i j}. A matrix shared by a batch gets the sum over the batch.)",
      .why_kept = "each rule needs the other factor",
      .numpy = "{a} @ {b}"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;  // leading axes

  Tensor forward(const Tensor& a, const Tensor& b) const { return batched_gemm("matmul", a, b); }

  Grads vjp(const Vjp& v) const {
    const Tensor &a = v.x[0], &b = v.x[1];
    return {v.want(0, [&] { return matmul(v.g, transpose(b)); }), v.want(1, [&] { return right_gradient(a, b, v.g); })};
  }
  // dB = A^T dY. A single B under a batch of A: stack the batch, so that the sum over it happens inside one product.
  static Tensor right_gradient(const Tensor& a, const Tensor& b, const Tensor& g) {
    if (b.rank() == 2 && a.rank() > 2) {
      std::int64_t rows = 1;  // not a.numel() / k: k may be 0
      for (int i = 0; i + 1 < a.rank(); ++i) rows *= a.shape()[i];
      return matmul(transpose(reshape(a, {rows, a.size(-1)})), reshape(g, {rows, g.size(-1)}));
    }
    return matmul(transpose(a), g);
  }

  static void samples(Samples& s) {
    s.add(matmul, s.randn({2, 3}), s.randn({3, 4})).for_benchmark();
    s.add(matmul, s.randn({2, 1, 3, 4}), s.randn({5, 4, 2}));
    s.add(matmul, s.randn({2, 3, 4}), s.randn({4, 2}));
    s.add(matmul, s.randn({3, 4}), s.randn({4}));
    s.add(matmul, s.randn({4}), s.randn({2, 4, 3}));
    s.add(matmul, s.randn({4}), s.randn({4}));
    s.add(matmul, s.randn({2, 0}), s.randn({0, 3}));
    s.add(matmul, s.randn({2, 3, 0}), s.randn({0, 2}));
    s.add(matmul, s.randn({0, 3}), s.randn({3, 2}));
    s.add(matmul, s.randn({33, 17}), s.randn({17, 65})).within(1e-5);
    s.error("shapes [2, 3] and [2, 3]", matmul, s.randn({2, 3}), s.randn({2, 3}));
    s.error("needs at least one axis", matmul, s.randn({}), s.randn({2}));
  }
};

const Register<MatMul> registered{matmul, {"a", "b"}};

}  // namespace

// A vector on the left is a row, on the right a column; the axis of extent 1 is taken away again.
Tensor matmul(const Tensor& a, const Tensor& b) {
  operands("matmul", a, b);
  if (a.rank() == 0 || b.rank() == 0)
    fail("matmul: shapes {} and {}; each needs at least one axis, use mul for numbers", a.shape(), b.shape());
  if (a.size(-1) != b.size(b.rank() == 1 ? -1 : -2))
    fail("matmul: shapes {} and {} do not fit: {} columns against {} rows; transpose one of them?", a.shape(),
         b.shape(), a.size(-1), b.size(b.rank() == 1 ? -1 : -2));
  if (a.rank() > 1 && b.rank() > 1) return apply(MatMul{}, a, b);
  const Tensor left = a.rank() == 1 ? reshape(a, {1, a.size(0)}) : a;
  const Tensor right = b.rank() == 1 ? reshape(b, {b.size(0), 1}) : b;
  const Tensor y = apply(MatMul{}, left, right);
  Shape shape = y.shape();
  if (b.rank() == 1) shape.erase(shape.rank() - 1);
  if (a.rank() == 1) shape.erase(shape.rank() - (b.rank() == 1 ? 1 : 2));
  return reshape(y, shape);
}

}  // namespace gradus
