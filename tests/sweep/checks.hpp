#pragma once
#include "core/check.hpp"
#include "core/parallel.hpp"
#include "tests/sweep/compare.hpp"
#include "tests/sweep/layouts.hpp"

// The checks of the generated sweep. Each takes a call and its sample and says what is wrong, "" if nothing is.
namespace sweep {

// Two computations of the same f64 numbers in another order: rounding, with room for ill-conditioned samples.
inline constexpr double rounding = 1e-10;

inline std::string rule_against_differences(const Call& call, const Sample& sample) {
  if (sample.kink || !is_differentiable(call)) return "";
  const CheckResult r = gradcheck(call, call.tensors, {.tolerance = sample.tolerance});
  return r.ok ? "" : r.text;
}

inline std::string second_order(const Call& call, const Sample& sample) {
  if (sample.kink || sample.first_order_only || !is_differentiable(call)) return "";
  const CheckResult r = gradgradcheck(call, call.tensors, {.tolerance = sample.tolerance});
  return r.ok ? "" : r.text;
}

inline std::string fused_against_composite(const Call& call, const Sample&) {
  return close(evaluate(call, call.tensors), evaluate(call, call.tensors, {.create_graph = true}), rounding);
}

inline std::string forward_against_reference(const Call& call, const Sample&) {
  if (!call.op->has_reference) return "";
  const Evaluation fused = evaluate(call, call.tensors);
  const ReferenceMode guard;
  return close(fused, evaluate(call, call.tensors), rounding);
}

inline std::string every_subset_of_inputs(const Call& call, const Sample&) {
  const int n = count_floating(call);
  if (n < 2 || n > 6 || !is_differentiable(call)) return "";
  for (const bool graph : {false, true}) {
    const Evaluation all = evaluate(call, call.tensors, {.create_graph = graph});
    for (unsigned subset = 1; subset + 1 < (1U << n); ++subset) {
      Evaluation some = evaluate(call, call.tensors, {.subset = subset, .create_graph = graph});
      unsigned bit = 1;
      for (std::size_t i = 0; i < some.gradients.size(); ++i) {
        if (!is_floating(call.tensors[i].dtype())) continue;
        if (subset & bit) {
          const std::string problem = close("the gradient", some.gradients[i], all.gradients[i], rounding);
          if (!problem.empty()) return fmt::format("subset {:b}: tensor {}: {}", subset, i, problem);
        }
        bit <<= 1;
      }
    }
  }
  return "";
}

// With and without a graph, since the two rules read the inputs differently.
inline std::string same_for(const Call& call, std::span<const Tensor> expected, std::span<const Tensor> given) {
  for (const bool graph : {false, true}) {
    const std::string problem = close(evaluate(call, given, {.create_graph = graph}),
                                      evaluate(call, expected, {.create_graph = graph}), rounding);
    if (!problem.empty()) return problem;
  }
  return "";
}

inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "";
}

inline std::string every_layout(const Call& call, const Sample&) {
  std::vector<Tensor> x = call.tensors;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Tensor original = x[i];
    const auto tried = [&](const char* layout, const Tensor& other) {
      x[i] = other;
      const std::string problem = same_for(call, call.tensors, x);
      x[i] = original;
      return problem.empty() ? "" : fmt::format("tensor {} as {}: {}", i, layout, problem);
    };
    for (const std::string& problem :
         {tried("a transposed copy", transposed_copy(original)), tried("an offset slice", sliced_copy(original, 1)),
          tried("a slice of step 2", sliced_copy(original, 2))})
      if (!problem.empty()) return problem;
    for (int axis = 0; axis < original.rank(); ++axis) {
      if (original.shape()[axis] < 2) continue;
      const auto [copy, view] = expanded(original, axis);
      std::vector<Tensor> a = x, b = x;
      a[i] = copy, b[i] = view;
      const std::string refused = error_of([&] { call(a); });
      if (!refused.empty()) continue;
      const std::string problem = same_for(call, a, b);
      if (!problem.empty()) return fmt::format("tensor {} expanded along axis {}: {}", i, axis, problem);
    }
  }
  return "";
}

inline std::string strided_cotangents(const Call& call, const Sample&) {
  if (!is_differentiable(call)) return "";
  const Tensor y = call(call.tensors);
  Layout constant{y.shape(), y.shape(), 0};
  for (int i = 0; i < y.rank(); ++i) constant.strides[i] = 0;
  const Tensor one = full({1}, 0.75, y.dtype());
  const Tensor random = cotangent_for(y);
  for (const bool graph : {false, true}) {
    const auto with = [&](const Tensor& c) {
      return evaluate(call, call.tensors, {.create_graph = graph, .cotangent = c});
    };
    const std::string problem =
        close(with(Tensor(one.storage(), constant, y.dtype())), with(full(y.shape(), 0.75, y.dtype())), rounding);
    if (!problem.empty()) return "a cotangent of stride 0: " + problem;
    const std::string other = close(with(transposed_copy(random)), with(random), rounding);
    if (!other.empty()) return "a transposed cotangent: " + other;
  }
  return "";
}

// 1e-4 of the largest magnitude: single ops lose about 1e-6, sums and exponents of large inputs up to a hundred times
// more. Both see the inputs after rounding to f32.
inline std::string f32_against_f64(const Call& call, const Sample&) {
  const std::vector<Tensor> single = converted(call.tensors, DType::f32), exact = converted(single, DType::f64);
  return close(evaluate(call, single), evaluate(call, exact), 1e-4);
}

inline std::string inputs_unmodified(const Call& call, const Sample&) {
  std::vector<std::string> before;
  for (const Tensor& t : call.tensors) before.push_back(bytes_of_elements(t));
  const Tensor c = is_differentiable(call) ? cotangent_for(call(call.tensors)) : Tensor{};
  const std::string cotangent = c.defined() ? bytes_of_elements(c) : "";
  for (const bool graph : {false, true}) {
    evaluate(call, call.tensors, {.create_graph = graph, .cotangent = c});
    for (std::size_t i = 0; i < before.size(); ++i)
      if (bytes_of_elements(call.tensors[i]) != before[i]) return fmt::format("tensor {} was changed", i);
    if (c.defined() && bytes_of_elements(c) != cotangent) return "the cotangent was changed";
  }
  return "";
}

// Small samples never reach a second thread: they are grown until they do. A sample that does not fit its attributes
// any more is left out.
inline std::string same_on_any_number_of_threads(const Call& call, const Sample&) {
  const int before = threads();
  std::vector<Tensor> x = grown(call, 200000);
  if (!error_of([&] { call(x); }).empty()) x = call.tensors;
  const bool differentiable = is_differentiable(call);
  const Tensor c = differentiable ? cotangent_for(call(x)) : Tensor{};
  const auto on = [&](int count, bool graph) {
    set_threads(count);
    const Evaluation e = evaluate(call, x, {.create_graph = graph, .cotangent = c});
    set_threads(before);
    return e;
  };
  std::string problem = same_bits(on(4, false), on(1, false));
  if (problem.empty() && differentiable) problem = same_bits(on(4, true), on(1, true));
  return problem;
}

// Vectorised and blocked kernels have code that a sample of ten elements never enters.
inline std::string same_rule_at_larger_sizes(const Call& call, const Sample& sample) {
  if (sample.kink || !is_differentiable(call)) return "";
  const std::vector<Tensor> large = grown(call, 1500);
  if (!error_of([&] { call(large); }).empty()) return "";
  std::vector<Tensor> views;
  for (const Tensor& t : large) views.push_back(sliced_copy(t, 1));
  const std::string problem = same_for(call, large, views);
  if (!problem.empty()) return "as slices: " + problem;
  const CheckResult r = gradcheck(call, large, {.tolerance = std::max(sample.tolerance, 1e-5), .directions = 2});
  return r.ok ? "" : r.text;
}

// Each axis of extent n of all tensors at once cut to 0: a result or an Error, never a crash. Where there is a result
// there are gradients of the inputs' shapes.
inline std::string zero_sizes(const Call& call, const Sample&) {
  std::set<std::int64_t> extents;
  for (const Tensor& t : call.tensors) extents.insert(t.shape().begin(), t.shape().end());
  for (const std::int64_t n : extents) {
    std::vector<Tensor> x;
    for (const Tensor& t : call.tensors) {
      Shape shape = t.shape();
      for (int i = 0; i < shape.rank(); ++i) shape[i] = shape[i] == n ? 0 : shape[i];
      x.push_back(shape == t.shape() ? t : Tensor(shape, t.dtype()));
    }
    if (!error_of([&] { call(x); }).empty()) continue;
    for (const bool graph : {false, true}) {
      const Evaluation e = evaluate(call, x, {.create_graph = graph});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::string problem = e.gradients[i].defined() ? same_form("the gradient", e.gradients[i], x[i]) : "";
        if (!problem.empty()) return problem;
      }
    }
  }
  return "";
}

}  // namespace sweep
