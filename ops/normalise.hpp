#pragma once
#include "core/reduce.hpp"
#include "core/registry.hpp"

#include <cmath>
#include <cstring>

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

/// x - mean, with the mean in two parts so that a f32 row near a large mean loses nothing.
template <class T>
struct Centre {
  T high, low;
  explicit Centre(double mean) : high(static_cast<T>(mean)), low(static_cast<T>(mean - static_cast<double>(high))) {}
  T operator()(T x) const { return (x - high) - low; }
};

struct Moments {
  double mean, scale;  ///< m and 1 / sqrt(mean square + eps)
};

/// Sixteen neighbours, as GCC's and Clang's vectors: a sum in lanes beside other work is not vectorised otherwise.
template <class T>
using Lanes [[gnu::vector_size(16 * sizeof(T))]] = T;

/// y <- w xhat + b of one row; w and b may be null.
template <bool centred, class T>
Moments normalise_row(const T* x, const T* w, const T* b, T* y, std::int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const double mean = centred ? sum_of(x, n) / count : 0;
  const Centre<T> centre(mean);
  for (std::int64_t i = 0; i < n; ++i) y[i] = centre(x[i]);
  const SumAndDot sums = sum_and_dot(y, y, n);
  const double rest = centred ? sums.sum / count : 0;  // what the rounding of the mean left
  const double square = std::max(sums.dot / count - rest * rest, 0.0);
  const double scale = 1 / std::sqrt(square != square ? square : square + eps);
  const T shift = static_cast<T>(rest), factor = static_cast<T>(scale);
  if (w && b)
    for (std::int64_t i = 0; i < n; ++i) y[i] = (y[i] - shift) * factor * w[i] + b[i];
  else if (w)
    for (std::int64_t i = 0; i < n; ++i) y[i] = (y[i] - shift) * factor * w[i];
  else
    for (std::int64_t i = 0; i < n; ++i) y[i] = (y[i] - shift) * factor;
  if (b && !w)
    for (std::int64_t i = 0; i < n; ++i) y[i] += b[i];
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
    for_rows(rows.outer, n, 0.5,
             [&](std::int64_t row) { kept[row] = normalise_row<centred>(from + row * n, w, b, to + row * n, n, eps); });
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

/// What the backward kernel reads and writes; null where an input is not given or a gradient not wanted.
template <bool centred, class T>
struct RuleKernel {
  const T *x, *g, *weight;
  const Moments* moments;
  T* dx;
  bool parameters_wanted;
  std::int64_t rows, n;

  /// The rows of one block; `scratch` holds 2 n elements, for the parameters' gradients of a few rows: these are added
  /// up in T, blocks of them in double.
  void block(ColumnSums& sums, std::int64_t b, T* scratch) const {
    constexpr std::int64_t few = 16;
    const std::int64_t end = std::min(rows, (b + 1) * sums.block);
    for (std::int64_t first = b * sums.block; first < end; first += few) {
      std::fill_n(scratch, 2 * n, T{0});
      for (std::int64_t row = first; row < std::min(end, first + few); ++row) one_row(row, scratch, scratch + n);
      if (!parameters_wanted) continue;
      for (int which = 0; which < 2; ++which) add(scratch + which * n, sums.of_block(b, which));
    }
  }
  void add(const T* few_rows, double* total) const {
    for (std::int64_t i = 0; i < n; ++i) total[i] += static_cast<double>(few_rows[i]);
  }

  // dx = scale (gw - mean(gw) - xhat mean(gw xhat)) with gw = w g; no mean(gw) when not centred.
  void one_row(std::int64_t row, T* dw, T* db) const {
    const T *const xr = x + row * n, *const gr = g + row * n;
    const Centre<T> centre(moments[row].mean);
    const T factor = static_cast<T>(moments[row].scale);
    prefetch_row(xr + n, n);
    prefetch_row(gr + n, n);
    const SumAndDot sums =
        weight ? first_pass<true>(xr, gr, centre, factor, dw, db) : first_pass<false>(xr, gr, centre, factor, dw, db);
    if (!dx) return;
    const T mean = centred ? static_cast<T>(sums.sum / static_cast<double>(n)) : T{0};
    const T along = static_cast<T>(sums.dot / static_cast<double>(n)) * factor;
    T* const out = dx + row * n;
    if (weight)
      for (std::int64_t i = 0; i < n; ++i) out[i] = factor * ((gr[i] * weight[i] - mean) - centre(xr[i]) * along);
    else
      for (std::int64_t i = 0; i < n; ++i) out[i] = factor * ((gr[i] - mean) - centre(xr[i]) * along);
  }

  // The sums of gw and of gw xhat, in sixteen lanes that go into double every 256 elements; dw += g xhat, db += g.
  template <bool weighted>
  SumAndDot first_pass(const T* xr, const T* gr, const Centre<T>& centre, T factor, T* dw, T* db) const {
    SumAndDot total;
    std::int64_t i = 0;
    while (i + 16 <= n) {
      Lanes<T> sum = {}, dot = {};
      for (const std::int64_t end = std::min(i + 256, n - 15); i < end; i += 16) {
        Lanes<T> xv, gv, wv, a;
        std::memcpy(&xv, xr + i, sizeof xv);
        std::memcpy(&gv, gr + i, sizeof gv);
        xv = ((xv - centre.high) - centre.low) * factor;
        std::memcpy(&a, dw + i, sizeof a);
        a += gv * xv;
        std::memcpy(dw + i, &a, sizeof a);
        std::memcpy(&a, db + i, sizeof a);
        a += gv;
        std::memcpy(db + i, &a, sizeof a);
        if constexpr (weighted) {
          std::memcpy(&wv, weight + i, sizeof wv);
          gv *= wv;
        }
        sum += gv;
        dot += gv * xv;
      }
      for (int l = 0; l < 16; ++l) total.sum += static_cast<double>(sum[l]), total.dot += static_cast<double>(dot[l]);
    }
    for (; i < n; ++i) {
      const T xhat = centre(xr[i]) * factor, gw = weighted ? gr[i] * weight[i] : gr[i];
      dw[i] += gr[i] * xhat;
      db[i] += gr[i];
      total.sum += static_cast<double>(gw);
      total.dot += static_cast<double>(gw) * static_cast<double>(xhat);
    }
    return total;
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
                                        .parameters_wanted = v.wants(1) || (centred && v.wants(inputs - 1)),
                                        .rows = rows.outer,
                                        .n = rows.n};
    ColumnSums sums(rows.outer, rows.n);
    const double cost = 1.5 * static_cast<double>(sums.block * rows.n) + 20;
    parallel_for(sums.blocks, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
      PoolVector<T> scratch(static_cast<std::size_t>(2 * rows.n));
      for (std::int64_t b = begin; b < end; ++b) kernel.block(sums, b, scratch.data());
    });
    if (v.wants(1)) gradients[1] = sums.folded<T>(0);
    if (centred && v.wants(inputs - 1)) gradients[2] = sums.folded<T>(1);
    return Grads(std::move(gradients));
  });
}

}  // namespace gradus::normalise
