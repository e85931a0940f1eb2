#pragma once
#include "nn/module.hpp"

namespace gradus::nn {

/// A table of vectors: i64 indices [...] -> [..., width]. Error for an index out of range.
struct Embedding {
  Tensor weight;                              ///< [count, width]
  std::optional<std::int64_t> padding_index;  ///< this row starts as 0 and gets no gradient

  /// Drawn from N(0, deviation^2); the default is PyTorch's N(0, 1). A negative padding index counts from the end.
  Embedding(std::int64_t count, std::int64_t width, std::optional<std::int64_t> padding = {}, double deviation = 1);
  Tensor operator()(const Tensor& index) const;
  void parts(auto&& f) { f("weight", weight); }
};

}  // namespace gradus::nn
