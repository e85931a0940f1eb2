#pragma once
#include "nn/module.hpp"

#include <tuple>

namespace gradus::nn {

/// Layers one after another: `Sequential model(Linear(2, 16), relu, Linear(16, 1))`. A layer is a module or any
/// function from tensor to tensor; each takes one of the names "0", "1", ..., so the names are those of
/// torch.nn.Sequential. A stack of equal layers is a std::vector of them, built in a loop.
template <class... Layers>
struct Sequential {
  std::tuple<Layers...> layers;

  explicit Sequential(Layers... list) : layers(std::move(list)...) {}
  Tensor operator()(const Tensor& x) const {
    Tensor y = x;
    std::apply([&](const auto&... layer) { ((y = layer(y)), ...); }, layers);
    return y;
  }
  void parts(auto&& f) {
    std::size_t index = 0;
    std::apply([&](auto&... layer) { (name_part(f, index++, layer), ...); }, layers);
  }

 private:
  template <class F, class Layer>
  static void name_part(F& f, std::size_t index, Layer& layer) {
    if constexpr (HasParts<Layer>) f(index, layer);
  }
};

}  // namespace gradus::nn
