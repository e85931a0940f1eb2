#pragma once
#include "core/grad.hpp"
#include "core/mode.hpp"
#include "core/registry.hpp"

#include <cmath>

// One op with the arguments of one sample, as a function of its tensors.
namespace sweep {

using namespace gradus;

/// Calls f with every defined tensor among the arguments, in order, also inside lists.
template <class V, class F>
void for_tensors(V& arguments, F&& f) {
  for (auto& v : arguments) {
    if (auto* t = v.template get_if<Tensor>(); t && t->defined()) f(*t);
    if (auto* list = v.template get_if<Value::List>()) for_tensors(*list, f);
  }
}

struct Call {
  const OpEntry* op = nullptr;
  std::vector<Value> arguments;
  std::vector<Tensor> tensors;  ///< the defined tensors among the arguments

  Call(const OpEntry& entry, std::vector<Value> values) : op(&entry), arguments(std::move(values)) {
    for_tensors(arguments, [&](const Tensor& t) { tensors.push_back(t); });
  }
  /// The op with other tensors in place of its own. Reseeded, so that random ops draw the same numbers each time.
  Tensor operator()(std::span<const Tensor> other) const {
    std::vector<Value> values = arguments;
    std::size_t next = 0;
    for_tensors(values, [&](Tensor& t) { t = other[next++]; });
    gradus::seed(7);
    return op->call(std::move(values));
  }
};

/// Standard normal (rounded to f32, so that both dtypes see the same numbers), 0 where y is not finite.
inline Tensor cotangent_for(const Tensor& y) {
  const Philox random{99};
  std::vector<double> c = y.to_vector<double>();
  for (std::size_t k = 0; k < c.size(); ++k)
    c[k] = std::isfinite(c[k]) ? static_cast<double>(static_cast<float>(random.normal(k))) : 0.0;
  return tensor(c, y.shape(), y.dtype());
}

/// Result and gradients; undefined for tensors that were not asked for. No gradients when the result has no graph.
struct Evaluation {
  Tensor y;
  std::vector<Tensor> gradients;
};

struct EvaluateOptions {
  unsigned subset = ~0U;      ///< bit i: the i-th floating tensor requires grad
  bool create_graph = false;  ///< by the composite rules
  Tensor cotangent = {};      ///< random unless given
};

inline Evaluation evaluate(const Call& call, std::span<const Tensor> tensors, const EvaluateOptions& options = {}) {
  std::vector<Tensor> x(tensors.begin(), tensors.end()), wrt;
  std::vector<std::size_t> positions;
  unsigned bit = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!is_floating(x[i].dtype())) continue;
    if (call.op->differentiable && (options.subset & bit)) {
      x[i] = x[i].detach().requires_grad(true);
      wrt.push_back(x[i]);
      positions.push_back(i);
    }
    bit <<= 1;
  }
  Evaluation result{call(x), std::vector<Tensor>(x.size())};
  if (!result.y.requires_grad()) return result;
  const Tensor c = options.cotangent.defined() ? options.cotangent : cotangent_for(result.y);
  const std::vector<Tensor> gradients = grad(result.y, wrt, c, {.create_graph = options.create_graph});
  for (std::size_t i = 0; i < positions.size(); ++i) result.gradients[positions[i]] = gradients[i];
  return result;
}

/// How many tensors are floating.
inline int count_floating(const Call& call) {
  int n = 0;
  for (const Tensor& t : call.tensors) n += is_floating(t.dtype());
  return n;
}

/// True when the sample has something to differentiate: a rule, a floating input and a floating result.
inline bool is_differentiable(const Call& call) {
  if (!call.op->differentiable || count_floating(call) == 0) return false;
  return is_floating(call(call.tensors).dtype());
}

}  // namespace sweep
