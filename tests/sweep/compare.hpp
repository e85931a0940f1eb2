#pragma once
#include "tests/sweep/call.hpp"

#include <bit>

// Comparisons that say what differs, "" when nothing does. NaN equals NaN.
namespace sweep {

inline std::string bytes_of_elements(const Tensor& x) {
  const Tensor dense = packed(x);
  return dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return std::string(reinterpret_cast<const char*>(dense.data<T>()), static_cast<std::size_t>(x.numel()) * sizeof(T));
  });
}

inline std::string same_form(const char* what, const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return fmt::format("{} is {}defined", what, a.defined() ? "" : "un");
  if (!a.defined() || (a.shape() == b.shape() && a.dtype() == b.dtype())) return "";
  return fmt::format("{} is {} {}, expected {} {}", what, a.dtype(), a.shape(), b.dtype(), b.shape());
}

/// Bit for bit.
inline std::string same_bits(const char* what, const Tensor& a, const Tensor& b) {
  const std::string form = same_form(what, a, b);
  if (!form.empty() || !a.defined() || bytes_of_elements(a) == bytes_of_elements(b)) return form;
  const std::vector<double> u = a.to_vector<double>(), v = b.to_vector<double>();
  std::size_t first = 0;
  while (first + 1 < u.size() && std::bit_cast<std::uint64_t>(u[first]) == std::bit_cast<std::uint64_t>(v[first]))
    ++first;
  return fmt::format("{} {} differs in its bits, first at element {}: {:.17g} and {:.17g}", what, a.shape(), first,
                     u[first], v[first]);
}

/// Within `tolerance` of max(1, largest finite magnitude). An infinite f32 equals an f64 beyond its range.
inline std::string close(const char* what, const Tensor& a, const Tensor& b, double tolerance) {
  if (a.defined() != b.defined()) return fmt::format("{} is {}defined", what, a.defined() ? "" : "un");
  if (!a.defined()) return "";
  if (a.shape() != b.shape()) return fmt::format("{} has shape {}, expected {}", what, a.shape(), b.shape());
  std::vector<double> u = a.to_vector<double>(), v = b.to_vector<double>();
  double scale = 1;
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (a.dtype() == DType::f32 && std::isinf(u[i])) v[i] = static_cast<double>(static_cast<float>(v[i]));
    if (std::isfinite(v[i])) scale = std::max(scale, std::abs(v[i]));
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (u[i] == v[i] || (std::isnan(u[i]) && std::isnan(v[i])) || std::abs(u[i] - v[i]) <= tolerance * scale) continue;
    return fmt::format("{} is {:.12g} at element {} of {}, expected {:.12g} (tolerance {:.0e} of {:.3g})", what, u[i],
                       i, a.shape(), v[i], tolerance, scale);
  }
  return "";
}

/// `compare` applied to results and gradients.
template <class F>
std::string compare_evaluations(const Evaluation& a, const Evaluation& b, F compare) {
  std::string problem = compare("the result", a.y, b.y);
  for (std::size_t i = 0; i < a.gradients.size() && problem.empty(); ++i)
    problem = compare(fmt::format("the gradient of tensor {}", i).c_str(), a.gradients[i], b.gradients[i]);
  return problem;
}
inline std::string close(const Evaluation& a, const Evaluation& b, double tolerance) {
  return compare_evaluations(
      a, b, [&](const char* what, const Tensor& s, const Tensor& t) { return close(what, s, t, tolerance); });
}
inline std::string same_bits(const Evaluation& a, const Evaluation& b) {
  return compare_evaluations(a, b,
                             [](const char* what, const Tensor& s, const Tensor& t) { return same_bits(what, s, t); });
}

}  // namespace sweep
