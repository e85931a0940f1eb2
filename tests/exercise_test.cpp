// Backward by hand: every exercise can be solved, and every planted slip is found.
#include "study/exercise.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "file_helpers.hpp"
#include "ops/ops.hpp"
#include "study/faults.hpp"
#include "study/grade.hpp"

using namespace gradus;
using gradus::test::contains;
using gradus::test::error_of;
using study::Comparison;
using study::Slip;

namespace {

/// Derive's own gradients, as an answer.
NamedTensors solution(const study::WorkedExercise& worked) {
  NamedTensors answer;
  for (const int line : worked.asked)
    answer.emplace_back(worked.name_of(line),
                        worked.derivation.backward[static_cast<std::size_t>(line)].value.detach());
  return answer;
}

Tensor& entry(NamedTensors& answer, std::string_view name) {
  for (auto& [n, x] : answer)
    if (n == name) return x;
  FAIL("no " << name);
  return answer.front().second;
}

const study::GradedGradient& entry(const study::Grade& grade, std::string_view name) {
  for (const auto& g : grade.gradients)
    if (g.name == name) return g;
  FAIL("no " << name);
  return grade.gradients.front();
}

study::WorkedExercise attention() { return study::work_out(study::find_exercise("attention"), 0); }

}  // namespace

TEST_CASE("there are the seven exercises, and an unknown name lists them") {
  std::vector<std::string> names;
  for (const auto& e : study::exercises()) names.push_back(e.name);
  CHECK(names == std::vector<std::string>{"softmax", "cross_entropy", "layer_norm", "attention", "multi_head",
                                          "linear_attention", "additive"});
  CHECK(contains(error_of([] { study::find_exercise("gat"); }), "softmax, cross_entropy, layer_norm"));
}

TEST_CASE(
    "every exercise: its gradients pass central differences, and derive's own answer is graded complete and exact") {
  for (const auto& e : study::exercises()) {
    CAPTURE(e.name);
    const study::WorkedExercise worked = study::work_out(e, 3);
    study::Scope scope;
    for (const auto& [name, x] : worked.inputs) scope.set(name, x);
    const study::Derivation verified = study::derive(e.program, scope, e.wrt, {.seed = 3});
    CHECK(verified.crosses() == 0);
    CHECK(worked.asked.size() >= 2);
    const study::Grade grade = study::grade(worked, solution(worked));
    CHECK(grade.complete());
    CHECK(grade.unknown.empty());
    for (const auto& g : grade.gradients) CHECK(g.comparison.exact());
    CHECK_FALSE(study::grade(worked, {}).complete());
  }
}

TEST_CASE("every named intermediate and every parameter is asked for, once, and every hint belongs to one of them") {
  for (const auto& e : study::exercises()) {
    CAPTURE(e.name);
    const study::WorkedExercise worked = study::work_out(e, 0);
    std::vector<std::string> asked, expected;
    for (const int line : worked.asked) asked.push_back(worked.name_of(line));
    for (const std::string& name : study::assigned_names(e.program)) expected.push_back("d_" + name);
    expected.pop_back();  // the result: its cotangent is given
    for (const std::string& name : e.wrt) expected.push_back("d_" + name);
    std::vector<std::string> sorted = asked;
    std::sort(sorted.begin(), sorted.end());
    std::sort(expected.begin(), expected.end());
    CHECK(sorted == expected);
    for (const auto& hint : e.hints)
      CHECK_MESSAGE(std::count(asked.begin(), asked.end(), hint.first) == 1, "a hint for ", hint.first);
  }
}

TEST_CASE("the numbers are a function of the seed") {
  const study::WorkedExercise a = attention(), b = attention();
  const study::WorkedExercise other = study::work_out(study::find_exercise("attention"), 1);
  const auto first = study::handout(a), second = study::handout(b), third = study::handout(other);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].first == second[i].first);
    CHECK(study::difference_of(first[i].second, second[i].second).largest == 0);
    CHECK(study::difference_of(first[i].second, third[i].second).largest > 0);
  }
  CHECK(find(first, "cotangent").shape() == Shape{5, 4});
  CHECK(find(first, "A").shape() == Shape{5, 5});
}

TEST_CASE("a slip is named where it was made, and what follows from it is not blamed") {
  const study::WorkedExercise worked = attention();
  const study::Derivation& d = worked.derivation;
  NamedTensors answer = solution(worked);
  const Tensor wrong = d.value_of("A").detach() * d.value_of("d_A").detach();
  entry(answer, "d_S") = wrong;
  entry(answer, "d_Q") = matmul(wrong, d.value_of("K").detach()) / 2.0;
  entry(answer, "d_W_Q") = matmul(d.value_of("X").detach().T(), entry(answer, "d_Q"));
  const study::Grade grade = study::grade(worked, answer);
  CHECK_FALSE(grade.complete());
  CHECK(entry(grade, "d_S").guess.slip == Slip::row_sum);
  CHECK(entry(grade, "d_S").follows.empty());
  CHECK(contains(entry(grade, "d_S").hint, "diag(a)"));
  CHECK(entry(grade, "d_Q").follows == "d_S");
  CHECK(entry(grade, "d_W_Q").follows == "d_S");
  CHECK(entry(grade, "d_K").right());
  entry(answer, "d_K") = matmul(wrong, d.value_of("Q").detach()) / 2.0;  // on top of the wrong d_S, not transposed
  CHECK(entry(study::grade(worked, answer), "d_K").follows.empty());
  CHECK(entry(study::grade(worked, answer), "d_K").guess.slip == Slip::transpose);
  entry(answer, "d_W_Q") = entry(answer, "d_W_Q") * -1.0;
  CHECK(entry(study::grade(worked, answer), "d_W_Q").guess.slip == Slip::sign);
  CHECK(entry(study::grade(worked, answer), "d_W_Q").follows.empty());
}

TEST_CASE("a forgotten path through a sum is a path, one through a mean of the row a row sum") {
  const study::WorkedExercise entropy = study::work_out(study::find_exercise("cross_entropy"), 0);
  NamedTensors answer = solution(entropy);
  const study::Derivation& d = entropy.derivation;
  entry(answer, "d_E") = d.value_of("d_P").detach() / d.value_of("N").detach();  // without what comes through N
  CHECK(entry(study::grade(entropy, answer), "d_E").guess.slip == Slip::path);
  const study::WorkedExercise norm = study::work_out(study::find_exercise("layer_norm"), 0);
  answer = solution(norm);
  entry(answer, "d_x") = norm.derivation.value_of("d_c").detach();
  CHECK(entry(study::grade(norm, answer), "d_x").guess.slip == Slip::row_sum);
}

TEST_CASE("missing, wrongly shaped, unknown and single-precision arrays are told apart") {
  const study::WorkedExercise worked = attention();
  NamedTensors answer = solution(worked);
  answer.erase(answer.begin());
  const std::string gone = worked.name_of(worked.asked[0]);
  entry(answer, "d_K") = zeros({4, 5}, DType::f64);
  entry(answer, "d_W_V") = cast(entry(answer, "d_W_V"), DType::f32);
  answer.emplace_back("dS", zeros({5, 5}));
  answer.emplace_back("X", worked.inputs[0].second);
  const study::Grade grade = study::grade(worked, answer);
  CHECK(entry(grade, gone).missing);
  CHECK_FALSE(entry(grade, gone).right());
  CHECK(entry(grade, "d_K").comparison.grade == Comparison::Grade::shape);
  CHECK(entry(grade, "d_K").guess.slip == Slip::shape);
  CHECK(entry(grade, "d_W_V").comparison.grade == Comparison::Grade::close);
  CHECK(grade.unknown == std::vector<std::string>{"dS"});
}

TEST_CASE("every slip that can be planted in any line of any exercise is noticed, and most are named by their kind") {
  int planted = 0, named = 0;
  for (const auto& e : study::exercises()) {
    const study::WorkedExercise worked = study::work_out(e, 5);
    for (const int line : worked.asked) {
      const study::BackwardStep& step = worked.derivation.backward[static_cast<std::size_t>(line)];
      for (const Slip slip : {Slip::sign, Slip::scale, Slip::transpose, Slip::row_sum, Slip::broadcast, Slip::path})
        for (const study::Fault& fault : study::faults_of(worked.derivation, step, slip, {})) {
          Tensor value;
          const NoGrad no_grad;
          try {
            value = fault.value();
          } catch (const Error&) { continue; }
          if (value.shape() == step.value.shape() && study::comparison_of(value, step.value).close()) continue;
          NamedTensors answer = solution(worked);
          entry(answer, step.name) = value;
          const study::GradedGradient g = entry(study::grade(worked, answer), step.name);
          CAPTURE(e.name);
          CAPTURE(fault.why);
          CHECK_FALSE(g.right());
          CHECK(g.guess.slip != Slip::other);
          ++planted, named += g.guess.slip == slip;
        }
    }
  }
  CHECK(planted > 50);
  CHECK(named > planted * 3 / 4);
  MESSAGE(named << " of " << planted);
}
