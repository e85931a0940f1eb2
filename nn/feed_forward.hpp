#pragma once
#include "core/value.hpp"
#include "nn/dropout.hpp"
#include "nn/linear.hpp"

namespace gradus::nn {

/// The nonlinearity between the two linear layers of a transformer's feed-forward part.
enum class Nonlinearity : std::uint8_t { relu, gelu, gelu_tanh, silu, swiglu };

struct FeedForwardOptions {
  Nonlinearity activation = Nonlinearity::relu;
  double dropout = 0;  ///< after the nonlinearity
  bool bias = true;
};

/// linear2(dropout(f(linear1(x)))), the same at every position: [..., width] -> [..., hidden] -> [..., width].
/// swiglu (Shazeer 2020) has a third matrix: linear2(dropout(silu(linear1(x)) * linear3(x))).
struct FeedForward {
  Linear linear1, linear2;
  std::optional<Linear> linear3;  ///< for swiglu alone: [hidden, width], the factor beside the gate
  Dropout dropout;
  Nonlinearity activation;

  FeedForward(std::int64_t width, std::int64_t hidden, const FeedForwardOptions& options = {});
  Tensor operator()(const Tensor& x) const;
  void parts(auto&& f) {
    f("linear1", linear1);
    f("linear2", linear2);
    f("linear3", linear3);
    f("dropout", dropout);
  }
};

}  // namespace gradus::nn

template <>
struct gradus::EnumNames<gradus::nn::Nonlinearity> {
  static constexpr std::string_view names[] = {"relu", "gelu", "gelu_tanh", "silu", "swiglu"};
};
