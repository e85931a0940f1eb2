// Derivations of every op, on its own samples.
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "study/derivation.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;

namespace {

bool has_gradient(const OpEntry& op) { return op.differentiable; }

// Every floating tensor among the arguments becomes a parameter.
Value as_parameter(const Value& value, std::vector<Tensor>& parameters) {
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

}  // namespace

TEST_CASE("every step of a derivation agrees with differences, for every op and sample") {
  int derivations = 0;
  for (const OpEntry* const op : all_ops()) {
    if (!has_gradient(*op)) continue;
    Samples samples;
    op->samples(samples);
    int number = 0;
    for (const Sample& sample : samples.good()) {
      ++number;
      INFO(op->name(), " sample ", number);
      std::vector<Tensor> parameters;
      std::vector<Value> arguments;
      for (const Value& a : sample.arguments) arguments.push_back(as_parameter(a, parameters));
      if (parameters.empty()) continue;
      seed(1);
      const study::Record record;
      const Tensor y = op->call(arguments);
      if (!y.requires_grad() || y.dtype() != DType::f64) continue;
      if (y.numel() == 1 && !std::isfinite(y.item())) continue;  // infinity has no differences
      const study::Derivation d = study::derive(y, parameters, {.seed = 5});
      ++derivations;
      for (const auto& step : d.backward) {
        INFO(step.line.substr(0, 300), "   difference ", step.verdict.difference, " ", step.verdict.how);
        // At a point without a derivative the convention stands, not a difference.
        CHECK((step.verdict.ok || sample.kink));
      }
    }
  }
  CHECK(derivations > 200);
}
