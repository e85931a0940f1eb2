#pragma once
#include "core/tensor.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gradus {

using Numbers = std::vector<double>;

/// How a gradient is compared with central differences.
struct DifferenceOptions {
  double tolerance = 1e-6;        ///< of max|a - n| / max(|a|, |n|, 1e-3)
  std::uint64_t key = 1;          ///< of the random directions
  std::int64_t every_entry = 64;  ///< tensors with more elements are checked along random directions
  int directions = 8;             ///< how many
};

/// Both sides of such a comparison: derivatives along each entry, or along each direction.
struct Comparison {
  Numbers rule, numeric;
  double difference = 0;
  bool ok = false;
  bool every_entry = false;
  bool kink = false;  ///< the slopes from both sides differ, and the rule lies between them
};

/// Compares `gradient`, d(sum_k weights_k f_k) / dx, with differences of f around x (f64). f gets contiguous copies of x,
/// moved; results with weight 0 take no part.
Comparison compare_with_differences(const std::function<Numbers(const Tensor& x)>& f, const Numbers& weights,
                                    const Tensor& x, const Numbers& gradient, const DifferenceOptions& options = {});

/// max|a - n| / max(|a|, |n|, 1e-3) with the largest magnitudes of either list; infinite when one is NaN where the
/// other is not.
double difference(std::span<const double> a, std::span<const double> n);

}  // namespace gradus
