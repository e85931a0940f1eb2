#pragma once
#include "study/difference.hpp"

#include <string>
#include <string_view>

namespace gradus::study {

/// How a hand-made result compares with the right one.
struct Comparison {
  enum class Grade : std::uint8_t { exact, close, wrong, shape };
  Grade grade = Grade::wrong;
  Difference difference = {};  ///< empty when the shapes differ
  Shape mine = {}, right = {};

  bool exact() const { return grade == Grade::exact; }
  /// Also true for an exact one.
  bool close() const { return grade == Grade::exact || grade == Grade::close; }
};

/// Compares two values: exact when they differ by at most 1e-12 max(1e-300, max|right|), close when by at most
/// 1e-6 max(1, max|right|).
Comparison comparison_of(const Tensor& mine, const Tensor& right);

/// One line: `dS  exact  [5, 5]  largest difference 0`.
std::string to_line(std::string_view name, const Comparison& comparison);

/// For derivations by hand: compares `mine` with the gradient of `x` (or with `x` itself, when it is a plain value) and
/// prints one line. A result of an op keeps its gradient after `x.retain_grad()`; errors say so, and when `backward` has
/// not run.
///
///     scores.retain_grad();
///     backward(loss);
///     study::compare("dS", my_dS, scores);
Comparison compare(std::string_view name, const Tensor& mine, const Tensor& x);

}  // namespace gradus::study
