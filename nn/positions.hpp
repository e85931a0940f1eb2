#pragma once
#include "nn/module.hpp"

namespace gradus::nn {

/// The table [length, width] of Vaswani et al. 2017: p[t, 2i] = sin(t / 10000^(2i/width)), p[t, 2i+1] = cos of the
/// same. An odd width ends with a sine.
Tensor sinusoidal_positions(std::int64_t length, std::int64_t width, DType dtype = DType::f32);

/// Adds the sinusoidal table to x [..., T, width]. The table is computed, not saved.
struct SinusoidalPositions {
  SinusoidalPositions(std::int64_t max_length, std::int64_t width);
  /// x + p[offset ... offset + T]. Error, naming the maximum, when that is too long.
  Tensor operator()(const Tensor& x, std::int64_t offset = 0) const;
  void parts(auto&&) {}

 private:
  Tensor single_, double_;  // one for each dtype of x
};

/// Adds one learned vector for each position to x [..., T, width] (Gehring et al. 2017; Radford et al. 2018).
struct LearnedPositions {
  Tensor weight;  ///< [max_length, width], from N(0, deviation^2); the default is that of GPT

  LearnedPositions(std::int64_t max_length, std::int64_t width, double deviation = 0.02);
  /// x + weight[offset ... offset + T]. Error, naming the maximum, when that is too long.
  Tensor operator()(const Tensor& x, std::int64_t offset = 0) const;
  void parts(auto&& f) { f("weight", weight); }
};

}  // namespace gradus::nn
