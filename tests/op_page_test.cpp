#include "core/mode.hpp"
#include "core/registry.hpp"
#include "study/language.hpp"
#include "study/matrix_text.hpp"
#include "study/op_page.hpp"
#include "study/worked_sample.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gradus;
using study::WorkedSample;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double largest_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

}  // namespace

TEST_CASE("every op has a small worked sample whose Jacobians agree with differences") {
  for (const OpEntry* op : all_ops()) {
    INFO(op->name());
    const auto sample = study::worked_sample(*op);
    REQUIRE(sample);
    CHECK(sample->output.numel() <= 6);
    CHECK(sample->jacobians.empty() != op->differentiable);
    for (const WorkedSample::Jacobian& j : sample->jacobians) {
      CHECK(j.ok);
      CHECK(largest_difference(j.by_rule, j.by_differences) < 1e-6);
    }
  }
}

TEST_CASE(
    "the call of a worked sample gives its output in the expression language, and so do the steps that define it") {
  for (const OpEntry* op : all_ops()) {
    if (op->name() == "dropout") continue;  // draws anew
    INFO(op->name());
    const auto sample = study::worked_sample(*op);
    study::Scope scope;
    for (const auto& [name, x] : sample->inputs) scope.set(name, x);
    CHECK(largest_difference(study::as_result(study::evaluate(sample->call, scope), "y", DType::f64), sample->output) ==
          0);
    if (sample->composition.empty()) continue;
    std::string program;
    for (const std::string& line : sample->composition) program += line + "\n";
    CHECK(largest_difference(study::as_result(study::evaluate(program, scope), "y", DType::f64), sample->output) <
          1e-12);
  }
}

TEST_CASE("the Jacobian of softmax is diag(y) - y y^T, row by row") {
  const auto sample = study::worked_sample(*find_op("softmax"));
  REQUIRE(sample->output.shape() == Shape{2, 3});
  const std::vector<double> y = sample->output.to_vector<double>();
  const Tensor& j = sample->jacobians[0].by_rule;
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t k = 0; k < 6; ++k) {
      const double yi = y[static_cast<std::size_t>(i)], yk = y[static_cast<std::size_t>(k)];
      const double expected = i / 3 != k / 3 ? 0 : (i == k ? yi : 0) - yi * yk;
      CHECK(j.at({i, k}) == doctest::Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE(
    "a worked sample disturbs neither the thread's generator nor its mode, and looks the same in reference mode") {
  seed(3);
  const double wanted = randn({1}, DType::f64).item();
  seed(3);
  const std::string page = study::ops_markdown({find_op("dropout"), find_op("softmax"), find_op("layer_norm")});
  CHECK(randn({1}, DType::f64).item() == wanted);
  const ReferenceMode reference;
  const NoGrad guard;
  CHECK(study::ops_markdown({find_op("dropout"), find_op("softmax"), find_op("layer_norm")}) == page);
}

TEST_CASE("the page of an op says formula, rule, reasons, composition and both Jacobians side by side") {
  const std::string page = study::op_text(*find_op("layer_norm"), 120);
  for (const char* part : {"layer_norm(x, weight=None, bias=None, eps=1e-5)\n", "\nFormula\n  y = w ⊙ x\u0302 + b",
                           "\nRule, a line for each input\n", "\nDerivation\n", "its inputs: x\u0302 comes again",
                           "  t1 = mean(x, axis=-1", "∂y/∂weight: a row for each entry of y",
                           "by the rule                  by differences\n", "✓ largest difference"})
    CHECK_MESSAGE(contains(page, part), part);
  CHECK(contains(study::op_text(*find_op("argmax"), 80), "none: it has no derivative"));
  CHECK(contains(study::op_text(*find_op("gather"), 80), "none for index"));
  CHECK(contains(study::op_text(*find_op("softmax"), 40), "by the rule\n"));  // too narrow: below each other
}

TEST_CASE("the Markdown page has mathematics for formulas and no number that differs between machines") {
  const std::string page = study::ops_markdown(all_ops());
  CHECK(contains(page, "\n## softmax\n\n`softmax(x, axis=-1)`\n\n$$y_i = e^{x_i} / \\sum_j e^{x_j}$$\n"));
  CHECK(contains(page, "Along one row $\\partial y_i / \\partial x_j = y_i (\\delta_{i j} - y_j)$, the matrix"));
  CHECK(contains(page, "∂y/∂x ✓"));
  CHECK(!contains(page, "✗"));
  CHECK(!contains(page, "-0.0000"));
  CHECK(!contains(page, "e-1"));
}

TEST_CASE("numbers are rounded so that the last digit of a computation does not show") {
  CHECK(study::four_decimals(0.03125) == "0.0313");
  CHECK(study::four_decimals(std::nextafter(0.03125, 0)) == "0.0313");
  CHECK(study::four_decimals(-0.03125 + 1e-12) == "-0.0313");
  CHECK(study::four_decimals(-0.00001) == "0.0000");
  CHECK(study::four_decimals(-0.0) == "0.0000");
  CHECK(study::four_decimals(2) == "2.0000");
  CHECK(study::four_decimals(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(study::four_decimals(std::nan("")) == "nan");
  CHECK(study::four_decimals(1.5e12) == "1.5e+12");
}

TEST_CASE("small matrices are set in columns") {
  const auto lines = [](std::initializer_list<double> values, const Shape& shape) {
    return study::matrix_lines(tensor(values, shape, DType::f64));
  };
  CHECK(lines({1, -2, 10, 0}, {2, 2}) == std::vector<std::string>{" 1  -2", "10   0"});
  CHECK(lines({0.5, 0, -1, 2}, {2, 2}) == std::vector<std::string>{" 0.5000        0", "-1.0000   2.0000"});
  CHECK(lines({1, 2, 3, 4}, {2, 1, 2}) == std::vector<std::string>{"1  2", "", "3  4"});
  CHECK(lines({7}, {}) == std::vector<std::string>{"7"});
  CHECK(lines({}, {0, 3}) == std::vector<std::string>{"(no entries)"});
  CHECK(study::side_by_side({{"a", "bb"}, {"c"}}, 2, 80) == std::vector<std::string>{"a   c", "bb"});
  CHECK(study::side_by_side({{"a", "bb"}, {"c"}}, 2, 4) == std::vector<std::string>{"a", "bb", "", "c"});
}
