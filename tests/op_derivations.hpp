#pragma once
#include "core/registry.hpp"
#include "study/derivation.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace gradus_test {

// Every floating tensor among the arguments becomes a parameter.
inline gradus::Value as_parameter(const gradus::Value& value, std::vector<gradus::Tensor>& parameters) {
  using namespace gradus;
  if (const Tensor* const x = value.get_if<Tensor>(); x && x->defined() && x->dtype() == DType::f64) {
    parameters.push_back(copy_of(*x).requires_grad(true));
    return Value(parameters.back());
  }
  const auto* const list = value.get_if<Value::List>();
  if (!list) return value;
  Value::List made;
  for (const Value& item : *list) made.push_back(as_parameter(item, parameters));
  return Value(std::move(made));
}

// Derives every sample of every op that has a gradient, and calls f(name, sample, derivation).
inline void for_each_derivation(
    const gradus::study::DeriveOptions& options,
    const std::function<void(const std::string&, const gradus::Sample&, const gradus::study::Derivation&)>& f) {
  using namespace gradus;
  for (const OpEntry* const op : all_ops()) {
    if (!op->differentiable) continue;
    Samples samples;
    op->samples(samples);
    int number = 0;
    for (const Sample& sample : samples.good()) {
      ++number;
      std::vector<Tensor> parameters;
      std::vector<Value> arguments;
      for (const Value& a : sample.arguments) arguments.push_back(as_parameter(a, parameters));
      if (parameters.empty()) continue;
      seed(1);
      const study::Record record;
      const Tensor y = op->call(arguments);
      if (!y.requires_grad() || y.dtype() != DType::f64) continue;
      if (y.numel() == 1 && !std::isfinite(y.item())) continue;  // infinity has no differences
      f(op->name() + " sample " + std::to_string(number), sample, study::derive(y, parameters, options));
    }
  }
}

}  // namespace gradus_test
