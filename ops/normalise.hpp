#pragma once
#include "core/reduce.hpp"
#include "core/registry.hpp"

#include <cmath>

// The kernels of layer_norm (centred) and rms_norm (not), over the last axis:
//
//   xhat = (x - m) / sqrt(mean((x - m)^2) + eps),   m = mean(x), or 0 when not centred
//   y = w xhat + b
//
// Two passes: the squares are of differences, never E[x^2] - E[x]^2, which cancels when the mean is large. Kept for
// backward, in double: m and 1 / sqrt(...) of each row.
namespace gradus::normalise {

/// The checks of a public function.
inline void check(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (!is_floating(x.dtype())) fail_not_floating(op, x.dtype());
  if (x.rank() == 0) fail("{}: x has shape []; the last axis is normalised, so give at least one axis", op);
  if (!(eps >= 0)) fail("{}: eps is {}; give 0 or a small positive number", op, eps);
  const auto check_parameter = [&](const char* name, const Tensor& p) {
    if (!p.defined()) return;
    operands(op, x, p);
    if (p.shape() != Shape{x.shape().back()})
      fail("{}: x has shape {}, {} has shape {}, not [{}]; the last axis is normalised", op, x.shape(), name, p.shape(),
           x.shape().back());
  };
  check_parameter("weight", weight);
  check_parameter("bias", bias);
}

/// y <- x - mean, with the mean in two parts so that a f32 row near a large mean loses nothing.
template <class T>
void subtract(const T* x, double mean, T* y, std::int64_t n) {
  const T high = static_cast<T>(mean), low = static_cast<T>(mean - static_cast<double>(high));
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - high) - low;
}

struct Moments {
  double mean, scale;  ///< m and 1 / sqrt(mean square + eps)
};

/// y <- xhat of one row.
template <bool centred, class T>
Moments normalise_row(const T* x, T* y, std::int64_t n, double eps) {
  const double count = static_cast<double>(n);
  double mean = 0, rest = 0;
  if constexpr (centred) {
    mean = sum_of(x, n) / count;
    subtract(x, mean, y, n);
    rest = sum_of(y, n) / count;  // what the rounding of the mean left
  } else {
    std::copy(x, x + n, y);
  }
  const double square = std::max(dot_of(y, y, n) / count - rest * rest, 0.0);
  const double scale = 1 / std::sqrt(square != square ? square : square + eps);
  const T shift = static_cast<T>(rest), factor = static_cast<T>(scale);
  for (std::int64_t i = 0; i < n; ++i) y[i] = (y[i] - shift) * factor;
  return {mean + rest, scale};
}

/// y, and as residuals m and the scale of each row, f64 [rows, 2].
template <bool centred>
Forward forward(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return dispatch_floating(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Rows rows = rows_of(x, 1U << (x.rank() - 1));
    const Tensor packed_weight = weight.defined() ? packed(weight) : Tensor{};
    const Tensor packed_bias = bias.defined() ? packed(bias) : Tensor{};
    const T* const w = weight.defined() ? packed_weight.data<T>() : nullptr;
    const T* const b = bias.defined() ? packed_bias.data<T>() : nullptr;
    Tensor y(x.shape(), x.dtype()), moments({rows.outer, 2}, DType::f64);
    const std::int64_t n = rows.n;
    const T* const from = rows.x.data<T>();
    T* const to = y.fresh_data<T>();
    auto* const kept = reinterpret_cast<Moments*>(moments.fresh_data<double>());
    for_rows(rows.outer, n, 0.5, [&](std::int64_t row) {
      T* const out = to + row * n;
      kept[row] = normalise_row<centred>(from + row * n, out, n, eps);
      if (w)
        for (std::int64_t i = 0; i < n; ++i) out[i] *= w[i];
      if (b)
        for (std::int64_t i = 0; i < n; ++i) out[i] += b[i];
    });
    return Forward(y, moments);
  });
}

/// Gradients of parameters: sums over all rows, by blocks of a fixed number of rows that are folded in order.
struct ColumnSums {
  std::int64_t n, block, blocks;
  PoolVector<double> partial;  // [blocks, 2, n]: for the weight, for the bias

  ColumnSums(std::int64_t rows, std::int64_t columns)
      : n(columns), block(std::max<std::int64_t>(16, (rows + 63) / 64)), blocks((rows + block - 1) / block) {
    partial.assign(static_cast<std::size_t>(blocks * 2 * n), 0.0);
  }
  double* of_block(std::int64_t i, int which) { return partial.data() + (2 * i + which) * n; }

  template <class T>
  Tensor folded(int which) {
    Tensor y({n}, dtype_of<T>);
    for (std::int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (std::int64_t i = 0; i < blocks; ++i) total += of_block(i, which)[j];
      y.fresh_data<T>()[j] = static_cast<T>(total);
    }
    return y;
  }
};

/// The rule of one row, given xhat and gw = w g: dx = scale (gw - mean(gw) - xhat mean(gw xhat)); no mean(gw) when not
/// centred.
template <bool centred, class T>
void row_rule(const T* gw, const T* xhat, double scale, T* dx, std::int64_t n) {
  const double count = static_cast<double>(n);
  const T along = static_cast<T>(dot_of(gw, xhat, n) / count), factor = static_cast<T>(scale);
  const T mean = centred ? static_cast<T>(sum_of(gw, n) / count) : T{0};
  for (std::int64_t i = 0; i < n; ++i) dx[i] = factor * ((gw[i] - mean) - xhat[i] * along);
}

/// What the backward kernel reads and writes; null where an input is not given or a gradient not wanted.
template <bool centred, class T>
struct RuleKernel {
  const T *x, *g, *weight;
  const Moments* moments;
  T* dx;
  bool weight_wanted, bias_wanted;
  std::int64_t rows, n;

  /// The rows of one block; `scratch` holds 2 n elements.
  void block(ColumnSums& sums, std::int64_t b, T* scratch) const {
    for (std::int64_t row = b * sums.block; row < std::min(rows, (b + 1) * sums.block); ++row) {
      const T* const gr = g + row * n;
      T* const xhat = scratch;
      subtract(x + row * n, moments[row].mean, xhat, n);
      const T factor = static_cast<T>(moments[row].scale);
      for (std::int64_t i = 0; i < n; ++i) xhat[i] *= factor;
      if (weight_wanted) add_products(gr, xhat, sums.of_block(b, 0));
      if (bias_wanted) add(gr, sums.of_block(b, 1));
      if (!dx) continue;
      T* const gw = scratch + n;
      if (weight)
        for (std::int64_t i = 0; i < n; ++i) gw[i] = gr[i] * weight[i];
      row_rule<centred>(weight ? gw : gr, xhat, moments[row].scale, dx + row * n, n);
    }
  }
  // dw += g xhat
  void add_products(const T* gr, const T* xhat, double* dw) const {
    for (std::int64_t i = 0; i < n; ++i) dw[i] += static_cast<double>(gr[i] * xhat[i]);
  }
  // db += g
  void add(const T* gr, double* db) const {
    for (std::int64_t i = 0; i < n; ++i) db[i] += static_cast<double>(gr[i]);
  }
};

/// The rule as one kernel. Inputs are x, weight and, when centred, bias.
template <bool centred>
Grads rule(const Vjp& v) {
  constexpr int inputs = centred ? 3 : 2;
  const Tensor& x = v.x[0];
  return dispatch_floating("rule", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const unsigned last = 1U << (x.rank() - 1);
    const Rows rows = rows_of(x, last), cotangents = rows_of(v.g, last);
    const Tensor weight = v.x[1].defined() ? packed(v.x[1]) : Tensor{};
    PoolVector<Tensor> gradients(inputs);
    if (v.wants(0)) gradients[0] = Tensor(x.shape(), x.dtype());
    const RuleKernel<centred, T> kernel{.x = rows.x.data<T>(),
                                        .g = cotangents.x.data<T>(),
                                        .weight = weight.defined() ? weight.data<T>() : nullptr,
                                        .moments = reinterpret_cast<const Moments*>(v.residuals[0].data<double>()),
                                        .dx = v.wants(0) ? gradients[0].fresh_data<T>() : nullptr,
                                        .weight_wanted = v.wants(1),
                                        .bias_wanted = centred && v.wants(inputs - 1),
                                        .rows = rows.outer,
                                        .n = rows.n};
    ColumnSums sums(rows.outer, rows.n);
    const double cost = 1.5 * static_cast<double>(sums.block * rows.n) + 20;
    parallel_for(sums.blocks, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      PoolVector<T> scratch(static_cast<std::size_t>(2 * rows.n));
      for (std::int64_t b = begin; b < end; ++b) kernel.block(sums, b, scratch.data());
    });
    if (v.wants(1)) gradients[1] = sums.folded<T>(0);
    if (kernel.bias_wanted) gradients[2] = sums.folded<T>(1);
    return Grads(std::move(gradients));
  });
}

}  // namespace gradus::normalise
