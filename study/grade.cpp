#include "study/grade.hpp"

#include "core/error.hpp"
#include "core/mode.hpp"
#include "ops/ops.hpp"
#include "study/rerun.hpp"
#include "study/suspects.hpp"

#include <algorithm>
#include <set>

namespace gradus::study {
namespace {

Tensor as_f64(const Tensor& x) { return x.dtype() == DType::f64 ? x : cast(x, DType::f64); }

class Grader {
 public:
  Grader(const WorkedExercise& worked, const NamedTensors& answer) : worked_(worked), answer_(answer) {}

  Grade run() {
    const Derivation& d = worked_.derivation;
    Grade grade;
    for (std::size_t i = 0; i < d.backward.size(); ++i) {
      const BackwardStep& step = d.backward[i];
      const std::vector<std::string> names = names_read(step.term);
      const bool moved = reads(names, altered_);
      const Tensor expected = moved ? rerun(step.term, altered_) : step.value;
      if (moved) from_[step.name] = sources(names);
      const bool is_asked = std::count(worked_.asked.begin(), worked_.asked.end(), static_cast<int>(i)) > 0;
      if (is_asked) grade.gradients.push_back(one(static_cast<int>(i), expected, moved));
      else if (moved) altered_[step.name] = expected;
    }
    for (const auto& [name, x] : answer_)
      if (!is_known(name)) grade.unknown.push_back(name);
    return grade;
  }

 private:
  /// Grades one line; what comes after it is expected to follow from what was answered here.
  GradedGradient one(int line, const Tensor& expected, bool moved) {
    const BackwardStep& step = worked_.derivation.backward[static_cast<std::size_t>(line)];
    GradedGradient g{.name = step.name};
    const Tensor* const given = find_answer(step.name);
    if (!given) {
      g.missing = true;
      if (moved) altered_[step.name] = expected;
      return g;
    }
    const Tensor mine = as_f64(*given);
    g.comparison = comparison_of(mine, step.value);
    if (g.comparison.close()) return g;
    for (const auto& [name, hint] : worked_.exercise->hints)
      if (name == step.name) g.hint = hint;
    if (moved && comparison_of(mine, expected).close()) g.follows = joined(from_[step.name]);
    g.guess = guess(mine, line, expected, moved);
    if (mine.shape() == step.value.shape()) {
      altered_[step.name] = mine;
      if (g.follows.empty()) from_[step.name] = {step.name};
    }
    return g;
  }

  /// A wrong gradient before it does not hide a slip of its own.
  Guess guess(const Tensor& mine, int line, const Tensor& expected, bool moved) const {
    const BackwardStep& step = worked_.derivation.backward[static_cast<std::size_t>(line)];
    if (moved) {
      const Guess own = find_slip(mine, expected.detach(), slip_context(worked_.derivation, line, altered_));
      if (own.slip != Slip::other) return own;
    }
    return find_slip(mine, step.value.detach(), slip_context(worked_.derivation, line));
  }

  const Tensor* find_answer(const std::string& name) const {
    for (const auto& [n, x] : answer_)
      if (n == name) return &x;
    return nullptr;
  }

  /// Asked for, or handed out: files often carry the whole exercise along.
  bool is_known(const std::string& name) const {
    for (const int line : worked_.asked)
      if (worked_.name_of(line) == name) return true;
    for (const auto& [n, x] : handout(worked_))
      if (n == name) return true;
    return false;
  }

  /// The gradients that were answered wrongly and that names depend on.
  std::set<std::string> sources(const std::vector<std::string>& names) const {
    std::set<std::string> all;
    for (const std::string& name : names)
      if (const auto found = from_.find(name); found != from_.end() && altered_.count(name))
        all.insert(found->second.begin(), found->second.end());
    return all;
  }

  static std::string joined(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
    return text;
  }

  const WorkedExercise& worked_;
  const NamedTensors& answer_;
  Bindings altered_;                                   // wrong answers, and what follows from them
  std::map<std::string, std::set<std::string>> from_;  // which wrong answers each of those comes from
};

}  // namespace

bool Grade::complete() const {
  return std::all_of(gradients.begin(), gradients.end(), [](const GradedGradient& g) { return g.right(); });
}

Grade grade(const WorkedExercise& worked, const NamedTensors& answer) {
  const NoGrad no_grad;
  return Grader(worked, answer).run();
}

}  // namespace gradus::study
