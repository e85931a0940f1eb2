#pragma once
#include <cmath>
#include <functional>

#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "study/derivation.hpp"

// Derivations of every op, on its own samples.
namespace gradus::test {

/// The value with every f64 tensor in it made a parameter.
inline Value as_parameter(const Value& value, std::vector<Tensor>& parameters) {
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

/// Calls `f(op, number, sample, derivation)` for every sample of a differentiable op that has a finite f64 result; gives
/// their count.
inline int for_each_sample_derivation(
    const study::DeriveOptions& options,
    const std::function<void(const OpEntry&, int, const Sample&, const study::Derivation&)>& f) {
  int derivations = 0;
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
      f(*op, number, sample, study::derive(y, parameters, options));
      ++derivations;
    }
  }
  return derivations;
}

}  // namespace gradus::test
