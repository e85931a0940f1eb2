#pragma once
#include "nn/dropout.hpp"
#include "nn/linear.hpp"

namespace gradus::nn {

struct MLPOptions {
  Activation activation = Activation::relu;  ///< after every layer but the last
  double dropout = 0;                        ///< after each activation
  bool bias = true;
};

/// Linear layers with an activation between them: `MLP({2, 16, 1})` maps [..., 2] to [..., 1] through 16 hidden units.
struct MLP {
  std::vector<Linear> layers;
  Activation activation;
  Dropout dropout;

  /// Error for fewer than two widths.
  explicit MLP(const std::vector<std::int64_t>& widths, const MLPOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  void parts(auto&& f) {
    f("layers", layers);
    f("dropout", dropout);
  }
};

}  // namespace gradus::nn
