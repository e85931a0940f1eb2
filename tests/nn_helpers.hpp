#pragma once
#include "core/random.hpp"
#include "nn/gpt.hpp"
#include "nn/seq2seq.hpp"

#include <doctest/doctest.h>

#include <cmath>

// What the tests of modules share.
namespace gradus::test {

inline std::vector<std::string> names_of(const NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, t] : list) names.push_back(name);
  return names;
}

/// The largest difference; huge when there is a NaN in a.
inline double gap(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<double> u = a.to_vector<double>(), v = b.to_vector<double>();
  double largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    largest = std::max(largest, std::isnan(u[i]) ? 1e300 : std::abs(u[i] - v[i]));
  return largest;
}

inline double largest_of(const Tensor& x) { return max(abs(x)).item(); }

inline nn::LayerOptions tiny_layer() { return {.embed = 8, .heads = 2, .feedforward = 16, .dropout = 0}; }

inline nn::Seq2Seq tiny_seq2seq(nn::Seq2SeqOptions options = {}) {
  options.source_vocabulary = options.target_vocabulary = 9;
  options.layer = tiny_layer();
  options.encoder_layers = options.decoder_layers = 2;
  options.max_length = 16;
  options.padding = 0;
  return nn::Seq2Seq(options);
}

inline nn::GPT tiny_gpt(double dropout = 0) {
  return nn::GPT({.vocabulary = 11, .context = 10, .layers = 2, .heads = 2, .width = 8, .dropout = dropout});
}

}  // namespace gradus::test
