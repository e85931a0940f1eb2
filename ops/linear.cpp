#include "core/gemm.hpp"
#include "core/local.hpp"
#include "core/reduce.hpp"
#include "core/registry.hpp"
#include "ops/activation.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

// A tensor [..., n] as a matrix [rows, n]: by its strides where it has one or two axes, else packed.
template <class T>
struct Matrix {
  Tensor held;
  std::int64_t rows = 1, n, row_stride, column_stride;
  const T* data;

  explicit Matrix(const Tensor& x) : n(x.shape().back()), row_stride(n), column_stride(1) {
    if (x.rank() <= 2) {
      held = x.detach();
      if (x.rank() == 2) rows = x.shape()[0], row_stride = x.strides()[0];
      column_stride = x.strides().back();
    } else {
      Rows packed_rows = rows_of(x, 1U << (x.rank() - 1));
      rows = packed_rows.outer;
      held = std::move(packed_rows.x);
    }
    data = held.data<T>();
  }
};

// Calls f(index of its first element, row) for the rows of a matrix just made.
template <class T, class F>
void for_matrix_rows(std::int64_t rows, std::int64_t n, T* y, const F& f) {
  for_rows(rows, n, 0.3, [&](std::int64_t row) { f(row * n, y + row * n); });
}

// Calls f with the activation and its slope, functions of one element.
template <class F>
auto with_activation(Activation activation, F&& f) {
  switch (activation) {
    case Activation::gelu:
      return f([](auto z) { return activation::gelu(z); }, [](auto z) { return activation::gelu_slope(z); });
    case Activation::gelu_tanh:
      return f([](auto z) { return activation::gelu_tanh(z); }, [](auto z) { return activation::gelu_tanh_slope(z); });
    default: return f([](auto z) { return activation::silu(z); }, [](auto z) { return activation::silu_slope(z); });
  }
}

struct Linear {
  Activation activation;
  static constexpr OpInfo info{
      .name = "linear",
      .math = R"(Y = a(Z), Z = X W^{T} + b)",
      .rule =
          "\\bar X = \\bar Z W, \\bar Z = \\bar Y \\odot a'(Z)\n"
          "\\bar W = \\bar Z^{T} X\n"
          "\\bar b = \\operatorname{sum}(\\bar Z)",
      .derivation = R"(Z_{i j} = \sum_k X_{i k} W_{j k} + b_j, so \bar X_{i k} = \sum_j \bar Z_{i j} W_{j k},
\bar W_{j k} = \sum_i \bar Z_{i j} X_{i k} and \bar b_j = \sum_i \bar Z_{i j}, where i runs over all leading axes. The activation acts
on each element: \bar Z = \bar Y \odot a'(Z).)",
      .why_kept = "each factor's rule needs the other one; the activation's slope needs Z, or for relu Y",
      .numpy = "linear({x}, {weight}, {bias}, activation={activation})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor reference(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    const Tensor product = matmul(x, transpose(weight));
    const Tensor z = bias.defined() ? product + bias : product;
    switch (activation) {
      case Activation::none: break;
      case Activation::relu: return relu(z);
      case Activation::gelu: return gelu(z);
      case Activation::gelu_tanh: return gelu_tanh(z);
      case Activation::silu: return silu(z);
    }
    return z;
  }

  // Keeps the signs of Z for relu, Z for the other activations.
  Forward forward(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
    return dispatch_floating("linear", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Matrix<T> in(x);
      const std::int64_t n = weight.shape()[0];
      Shape shape = x.shape();
      shape[shape.rank() - 1] = n;
      Tensor z(shape, x.dtype());
      T* const to = z.fresh_data<T>();
      gemm<T>(in.rows, n, in.n, T{1}, in.data, in.row_stride, in.column_stride, weight.data<T>(), weight.strides()[1],
              weight.strides()[0], T{0}, to, n);
      if (activation == Activation::none && !bias.defined()) return Forward(z);
      const Tensor packed_bias = bias.defined() ? packed(bias) : zeros({n}, x.dtype());
      const T* const b = packed_bias.data<T>();
      if (activation == Activation::none) {
        for_matrix_rows(in.rows, n, to, [&](std::int64_t, T* y) { add_row(y, b, n); });
        return Forward(z);
      }
      if (activation == Activation::relu) return rectified(z, in.rows, b, n);
      Tensor y(shape, x.dtype());
      T* const out = y.fresh_data<T>();
      with_activation(activation, [&](auto f, auto) {
        for_rows(in.rows, n, 2.0, [&](std::int64_t row) {
          T* const zr = to + row * n;
          T* const yr = out + row * n;
          add_row(zr, b, n);
          for (std::int64_t j = 0; j < n; ++j) yr[j] = f(zr[j]);
        });
      });
      return Forward(y, z);
    });
  }
  template <class T>
  static void add_row(T* y, const T* b, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) y[j] += b[j];
  }
  template <class T>
  static Forward rectified(Tensor& y, std::int64_t rows, const T* b, std::int64_t n) {
    for_matrix_rows(rows, n, y.fresh_data<T>(), [&](std::int64_t, T* row) {
      for (std::int64_t j = 0; j < n; ++j) row[j] = activation::relu(row[j] + b[j]);
    });
    return {y, y};  // its signs are those of Z
  }

  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }

  // dX = dZ W, dW = dZ^T X, db = column sums of dZ, over the flattened batch.
  Grads fused_vjp(const Vjp& v) const {
    return dispatch_floating("linear", v.g.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Tensor &x = v.x[0], &weight = v.x[1];
      const Tensor dz_tensor = packed(before_activation<T>(v));
      const Matrix<T> dz(dz_tensor);
      const auto product = [](const Shape& shape, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                              std::int64_t a_row, std::int64_t a_column, const Matrix<T>& b) {
        Tensor y(shape, dtype_of<T>);
        gemm<T>(m, n, k, T{1}, a, a_row, a_column, b.data, b.row_stride, b.column_stride, T{0}, y.fresh_data<T>(), n);
        return y;
      };
      return Grads{
          v.want(
              0,
              [&] { return product(x.shape(), dz.rows, x.shape().back(), dz.n, dz.data, dz.n, 1, Matrix<T>(weight)); }),
          v.want(
              1,
              [&] { return product(weight.shape(), dz.n, x.shape().back(), dz.rows, dz.data, 1, dz.n, Matrix<T>(x)); }),
          v.want(2, [&] {
            return sum(reshape(dz_tensor, {dz.rows, dz.n}), 0);
          })};
    });
  }
  // dZ = g a'(Z)
  template <class T>
  Tensor before_activation(const Vjp& v) const {
    if (activation == Activation::none) return v.g;
    if (activation == Activation::relu)
      return map_broadcast<T>(
          "linear", [](T g, T y) { return y > 0 ? g : T{0}; }, v.g, v.residuals[0]);
    return with_activation(activation, [&](auto, auto slope) { return local_product_map(v.g, v.residuals[0], slope); });
  }

  static void samples(Samples& s) {
    s.add(linear, s.randn({3, 4}), s.randn({5, 4}), s.randn({5})).for_benchmark();
    s.add(linear, s.randn({2, 3, 4}), s.randn({5, 4}));
    for (const Activation a : {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
      s.add(linear, s.randn({2, 3, 4}), s.randn({5, 4}), s.randn({5}), a);
    s.add(linear, s.randn({2, 4}), s.randn({3, 4}), Tensor{}, Activation::gelu);
    s.add(linear, s.randn({4}), s.randn({3, 4}), s.randn({3}));
    s.add(linear, s.randn({0, 8}), s.randn({3, 8}), s.randn({3}), Activation::relu);
    s.add(linear, s.randn({2, 0}), s.randn({3, 0}), s.randn({3}));
    s.add(linear, s.randn({2, 4}), s.randn({0, 4}), s.randn({0}));
    s.error("x [2, 3] has 3 features, weight [4, 5] takes 5", linear, s.randn({2, 3}), s.randn({4, 5}));
    s.error("bias has shape [5], weight [4, 5] needs [4]", linear, s.randn({2, 5}), s.randn({4, 5}), s.randn({5}));
    s.error("weight has shape [4]", linear, s.randn({2, 4}), s.randn({4}));
    s.error("x has shape []", linear, s.randn({}), s.randn({4, 1}));
    s.error("dtypes i64 and f64 do not mix", linear, s.indices({2, 3}, 4), s.randn({4, 3}));
  }
};

const Register<Linear> registered{linear, {"x", "weight", {"bias", None}, {"activation", "none"}}};

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  operands("linear", x, weight);
  if (!is_floating(x.dtype())) fail_not_floating("linear", x.dtype());
  if (x.rank() == 0) fail("linear: x has shape []; its last axis holds the features, so give at least one axis");
  if (weight.rank() != 2) fail("linear: weight has shape {}; give a matrix [out, in]", weight.shape());
  if (x.shape().back() != weight.shape()[1])
    fail("linear: x {} has {} features, weight {} takes {}; weight is [out, in]", x.shape(), x.shape().back(),
         weight.shape(), weight.shape()[1]);
  if (bias.defined()) {
    operands("linear", x, bias);
    if (bias.shape() != Shape{weight.shape()[0]})
      fail("linear: bias has shape {}, weight {} needs [{}]", bias.shape(), weight.shape(), weight.shape()[0]);
  }
  return apply(Linear{activation}, x, weight, bias);
}

}  // namespace gradus
