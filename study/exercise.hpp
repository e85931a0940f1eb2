#pragma once
#include "core/arrays.hpp"
#include "core/random.hpp"
#include "study/derivation.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gradus::study {

/// Backward by hand: a program with named intermediates, and the gradient of each to be worked out.
struct Exercise {
  int place;  ///< in the list
  std::string name, title;
  std::string task;     ///< what it is about, in sentences
  std::string program;  ///< in the expression language; each assigned name is an intermediate
  std::vector<std::string> wrt;
  NamedTensors (*inputs)(Generator& generator);
  std::vector<std::pair<std::string, std::string>> hints;  ///< of gradients: `d_S`, a sentence
};

/// Registers an exercise: a static of this type in its file.
struct RegisteredExercise {
  explicit RegisteredExercise(Exercise exercise);
};

/// All exercises in the order of their places.
const std::vector<Exercise>& exercises();
/// The exercise of that name. Error listing the names.
const Exercise& find_exercise(const std::string& name);

/// An exercise with its numbers: a pure function of the seed.
struct WorkedExercise {
  const Exercise* exercise = nullptr;
  std::uint64_t seed = 0;
  NamedTensors inputs;
  Derivation derivation;
  std::vector<int> asked;  ///< indices into derivation.backward: the gradients to return, in their order
  /// `d_S`.
  const std::string& name_of(int line) const { return derivation.backward.at(static_cast<std::size_t>(line)).name; }
};
WorkedExercise work_out(const Exercise& exercise, std::uint64_t seed);

/// What is handed out: inputs, forward values by name, and the cotangent of the result.
NamedTensors handout(const WorkedExercise& worked);

/// A NumPy program with the answers left open, that reads `in` and writes `out`.
std::string numpy_skeleton(const WorkedExercise& worked, const std::string& in, const std::string& out);

}  // namespace gradus::study
