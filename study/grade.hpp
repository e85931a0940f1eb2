#pragma once
#include "study/compare.hpp"
#include "study/exercise.hpp"
#include "study/slip.hpp"

#include <string>
#include <vector>

namespace gradus::study {

/// One gradient of an answer.
struct GradedGradient {
  std::string name;
  bool missing = false;
  Comparison comparison = {};
  Guess guess = {};          ///< of a wrong one
  std::string follows = {};  ///< a wrong one that is right given the wrong gradients before it: their names
  std::string hint = {};

  bool right() const { return !missing && comparison.close(); }
};

/// An answer, in the order of the backward pass.
struct Grade {
  std::vector<GradedGradient> gradients;
  std::vector<std::string> unknown;  ///< arrays that nobody asked for
  bool complete() const;             ///< everything is there and right
};

/// Grades each gradient against the right value: exact, close, wrong with the guess at the slip, or missing. A wrong one
/// that follows by the right rule from the answer's own earlier gradients is told apart, so that one slip is not counted
/// for all that comes after it.
Grade grade(const WorkedExercise& worked, const NamedTensors& answer);

}  // namespace gradus::study
