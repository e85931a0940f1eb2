#include "core/reduce.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

// Columns of x [rows, n] added up in double: row blocks of fixed size, folded in order.
template <class T>
void sum_columns(const T* x, std::int64_t rows, std::int64_t n, T* y) {
  constexpr std::int64_t block = 256;
  const std::int64_t blocks = (rows + block - 1) / block;
  PoolVector<double> partial(static_cast<std::size_t>(blocks * n), 0.0);
  parallel_for(blocks, chunk_for(0.2 * block * static_cast<double>(n)), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b) {
      double* const total = partial.data() + b * n;
      for (std::int64_t row = b * block; row < std::min(rows, (b + 1) * block); ++row)
        for (std::int64_t j = 0; j < n; ++j) total[j] += static_cast<double>(x[row * n + j]);
    }
  });
  for (std::int64_t j = 0; j < n; ++j) {
    double total = 0;
    for (std::int64_t b = 0; b < blocks; ++b) total += partial[static_cast<std::size_t>(b * n + j)];
    y[j] = static_cast<T>(total);
  }
}

struct Sum {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{.name = "sum",
                               .math = R"(y = \sum_{i} x_i)",
                               .rule = R"(\bar x = \operatorname{expand}(\bar y))",
                               .derivation = R"(Each x_i enters one sum with factor 1, so its cotangent is that of its sum.)",
                               .why_kept = "nothing: only the shape of x, which the ghost knows",
                               .numpy = "np.sum({x}, axis={axis}, keepdims={keepdim})"};

  Tensor forward(const Tensor& x) const {
    if (x.dtype() == DType::b8 || x.dtype() == DType::i64) return sum_integers(x);
    const unsigned mask = axis.mask("sum", x.shape());
    return dispatch_floating("sum", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      int leading = 0;
      while (leading < x.rank() && ((mask >> leading) & 1U)) ++leading;
      if (leading > 0 && leading < x.rank() && mask >> leading == 0 && x.is_contiguous()) {
        Tensor y(reduced_shape(x.shape(), mask, keepdim), x.dtype());
        const std::int64_t n = y.numel();
        sum_columns<T>(x.data<T>(), n == 0 ? 0 : x.numel() / n, n, y.fresh_data<T>());
        return y;
      }
      return reduce_rows<T, T>(x, mask, keepdim, 0.2, [](const T* row, std::int64_t n) { return sum_of(row, n); });
    });
  }
  Tensor sum_integers(const Tensor& x) const {
    const unsigned mask = axis.mask("sum", x.shape());
    return dispatch(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return reduce_rows<std::int64_t, T>(x, mask, keepdim, 0.5, [](const T* row, std::int64_t n) {
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::int64_t>(row[i]);
        return total;
      });
    });
  }
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const Shape kept = reduced_shape(shape, axis.mask("sum", shape), true);
    return {expand(kept == v.g.shape() ? v.g : reshape(v.g, kept), shape)};
  }

  static void samples(Samples& s) {
    s.add(sum, s.randn({2, 3, 4})).for_benchmark();
    s.add(sum, s.randn({2, 3, 4}), 1);
    s.add(sum, s.randn({2, 3, 4}), Axes{0, -1}, true);
    s.add(sum, s.randn({300, 4}), 0);
    s.add(sum, s.randn({2, 0}), 1);
    s.add(sum, s.randn({}));
    s.add(sum, s.bools({3, 4}), 0);
    s.error("axis 2 is out of range for shape [3, 3]", sum, s.randn({3, 3}), 2);
    s.error("axis 1 is named twice", sum, s.randn({3, 3}), Axes{1, -1});
  }
};

const Register<Sum> registered{sum, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor sum(const Tensor& x, const Axes& axis, bool keepdim) { return apply(Sum{axis, keepdim}, x); }
Tensor Tensor::sum() const { return gradus::sum(*this); }
Tensor Tensor::sum(const Axes& axis, bool keepdim) const { return gradus::sum(*this, axis, keepdim); }

}  // namespace gradus
