#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/parts.hpp"

namespace gradus {
namespace {

// Where the diagonals of matrices [..., rows, columns] lie.
Layout diagonal_of(const Layout& x) {
  Layout y = x;
  const int last = x.shape.rank() - 1;
  y.shape[last - 1] = std::min(x.shape[last - 1], x.shape[last]);
  y.strides[last - 1] = x.strides[last - 1] + x.strides[last];
  y.shape.erase(last);
  y.strides.erase(last);
  return y;
}

struct Diag {
  static constexpr OpInfo info{
      .name = "diag",
      .math = R"(y_{i} = x_{i i})",
      .rule = R"(\bar x = \operatorname{diag}(\bar y))",
      .derivation =
          R"(Of a matrix the diagonal is read: its cotangent returns there, between zeros. Of a vector the diagonal
is filled: the cotangent is read from it.)",
      .why_kept = "only the shape of x, which the ghost knows",
      .numpy = "(np.diag({x}) if np.ndim({x}) == 1 else np.diagonal({x}, axis1=-2, axis2=-1))"};

  Tensor forward(const Tensor& x) const {
    if (x.rank() > 1) return part_of(x, diagonal_of(x.layout()));
    return placed_in_zeros(x, {x.numel(), x.numel()}, diagonal_of);
  }
  // Element i of the diagonal of an n x m matrix is element i (m + 1) of its flattened rows.
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    if (shape.rank() == 1 || (shape.rank() == 2 && shape[0] == shape[1])) return {diag(v.g)};
    const std::int64_t k = v.g.shape().back(), rows = shape[shape.rank() - 2], columns = shape.back();
    std::int64_t matrices = 1;
    for (int i = 0; i < shape.rank() - 2; ++i) matrices *= shape[i];
    PoolVector<std::int64_t> places;
    for (std::int64_t i = 0; i < k; ++i) places.push_back(i * (columns + 1));
    const Tensor index = expand(indices(places, {k}), {matrices, k});
    const Tensor flat = zeros({matrices, rows * columns}, v.g.dtype());
    return {reshape(scatter_add(flat, index, reshape(v.g, {matrices, k}), 1), shape)};
  }
  Grads fused_vjp(const Vjp& v) const {
    if (v.x[0].rank() == 1) return {part_of(v.g, diagonal_of(v.g.layout()))};
    return {placed_in_zeros(v.g, v.x[0].shape(), diagonal_of)};
  }

  static void samples(Samples& s) {
    s.add(diag, s.randn({3, 3})).for_benchmark();
    s.add(diag, s.randn({4}));
    s.add(diag, s.randn({2, 5}));
    s.add(diag, s.randn({5, 2}));
    s.add(diag, s.randn({2, 3, 4}));
    s.add(diag, s.randn({0}));
    s.add(diag, s.randn({0, 3}));
    s.add(diag, s.indices({3}, 9));
    s.error("a scalar has no diagonal", diag, s.randn({}));
  }
};

const Register<Diag> registered{diag, {"x"}};

}  // namespace

// A vector [n] becomes a matrix [n, n]; matrices [..., n, m] become their diagonals [..., min(n, m)], as a view.
Tensor diag(const Tensor& x) {
  if (x.rank() == 0) fail("diag: a scalar has no diagonal; give a vector or a matrix");
  return apply(Diag{}, x);
}

}  // namespace gradus
