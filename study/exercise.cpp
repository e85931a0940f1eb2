#include "study/exercise.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <set>

namespace gradus::study {
namespace {

std::vector<Exercise>& registry() {
  static std::vector<Exercise> all;
  return all;
}

/// The lines that give the gradient of a named value: not those of unnamed steps between, nor single paths, nor the given
/// cotangent.
std::vector<int> asked_lines(const Exercise& exercise, const Derivation& d) {
  const std::vector<std::string> assigned = assigned_names(exercise.program);
  std::set<std::string> names(assigned.begin(), assigned.end());
  names.insert(exercise.wrt.begin(), exercise.wrt.end());
  std::vector<int> lines;
  for (std::size_t i = 0; i < d.backward.size(); ++i) {
    const BackwardStep& step = d.backward[i];
    const bool whole = step.kind == BackwardStep::Kind::rule || step.kind == BackwardStep::Kind::total;
    if (whole && names.count(d.quantities.at(static_cast<std::size_t>(step.quantity)).name))
      lines.push_back(static_cast<int>(i));
  }
  return lines;
}

}  // namespace

RegisteredExercise::RegisteredExercise(Exercise exercise) { registry().push_back(std::move(exercise)); }

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> sorted = [] {
    std::vector<Exercise> all = registry();
    std::sort(all.begin(), all.end(), [](const Exercise& a, const Exercise& b) { return a.place < b.place; });
    return all;
  }();
  return sorted;
}

const Exercise& find_exercise(const std::string& name) {
  std::string names;
  for (const Exercise& e : exercises()) {
    if (e.name == name) return e;
    names += (names.empty() ? "" : ", ") + e.name;
  }
  fail("exercise: there is no exercise \"{}\"; there are {}", name, names);
}

WorkedExercise work_out(const Exercise& exercise, std::uint64_t seed) {
  WorkedExercise worked{.exercise = &exercise, .seed = seed, .inputs = {}, .derivation = {}, .asked = {}};
  Generator generator(seed);
  worked.inputs = exercise.inputs(generator);
  Scope scope;
  for (const auto& [name, x] : worked.inputs) scope.set(name, x);
  worked.derivation = derive(exercise.program, scope, exercise.wrt, {.seed = seed, .verify = false});
  worked.asked = asked_lines(exercise, worked.derivation);
  return worked;
}

NamedTensors handout(const WorkedExercise& worked) {
  NamedTensors arrays = worked.inputs;
  const Derivation& d = worked.derivation;
  std::set<std::string> done;
  for (const auto& [name, x] : arrays) done.insert(name);
  for (const std::string& name : assigned_names(worked.exercise->program))
    if (done.insert(name).second) arrays.emplace_back(name, d.value_of(name));
  if (const Tensor& result = d.quantities.at(static_cast<std::size_t>(d.result)).value; result.numel() != 1)
    arrays.emplace_back("cotangent", d.cotangent);
  for (auto& [name, x] : arrays) x = packed(x);
  return arrays;
}

std::string numpy_skeleton(const WorkedExercise& worked, const std::string& in, const std::string& out) {
  const Derivation& d = worked.derivation;
  std::string names, quoted, answers;
  for (const auto& [name, x] : handout(worked)) {
    names += (names.empty() ? "" : ", ") + name;
    quoted += (quoted.empty() ? "" : " ") + name;
  }
  std::string text = fmt::format(
      "import numpy as np\n\nwith np.load(\"{}\") as ex:\n    {} = (ex[name] for name in \"{}\".split())\n\n", in,
      names, quoted);
  const std::string result = d.quantities.at(static_cast<std::size_t>(d.result)).name;
  text += d.value_of(result).numel() == 1 ? fmt::format("d_{} = 1.0\n", result)
                                          : fmt::format("d_{} = cotangent  # given\n", result);
  for (const int line : worked.asked) {
    const std::string& name = worked.name_of(line);
    text += fmt::format("{} = ...  # {}\n", name, d.backward.at(static_cast<std::size_t>(line)).value.shape());
    answers += fmt::format(", {0}={0}", name);
  }
  return text + fmt::format("\nnp.savez(\"{}\"{})\n", out, answers);
}

}  // namespace gradus::study
