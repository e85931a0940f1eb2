// Terms as LaTeX: what a reader of the textbook expects to see.
#include <doctest/doctest.h>

#include "ops/ops.hpp"
#include "study/derivation.hpp"

using namespace gradus;
using namespace gradus::study;

namespace {

Tensor named(Record& record, const char* name, const Shape& shape) {
  const Tensor x = full(shape, 0.5, DType::f64).requires_grad(true);
  record.name(name, x);
  return x;
}

std::string forward_latex(const Derivation& d, std::size_t step) { return to_latex(*d.forward[step].term); }

// Of the gradient with that name.
std::string backward_latex(const Derivation& d, const std::string& name) {
  for (const BackwardStep& step : d.backward)
    if (step.name == name) return to_latex(*step.term);
  return "no step " + name;
}

}  // namespace

TEST_CASE("names become letters with indices, gradients get a bar, shares say through what") {
  CHECK(latex_name("W_Q") == "W_{Q}");
  CHECK(latex_name("t12") == "t_{12}");
  CHECK(latex_name("alpha_1") == "\\alpha_{1}");
  CHECK(latex_name("loss") == "\\text{loss}");
  CHECK(latex_name("d_W_Q") == "\\bar{W}_{Q}");
  CHECK(latex_name("d_X_via_Q") == "\\bar{X}^{(Q)}");
}

TEST_CASE("a matrix is transposed beside its index, and a second index or power goes outside brackets") {
  Record record;
  const Tensor w = named(record, "W_Q", {2, 2}), x = named(record, "X", {2, 2});
  const Tensor y = sum(matmul(x, w)) + sum(select(w, 0, 1)) + sum(pow(w.T(), 2.0));
  const Derivation d = derive(y, {w, x}, {.verify = false});
  CHECK(backward_latex(d, "d_X").find(" W_{Q}^{T}") != std::string::npos);
  std::string all;
  for (std::size_t i = 0; i < d.forward.size(); ++i) all += forward_latex(d, i) + "\n";
  CHECK(all.find("(W_{Q})_{1}\n") != std::string::npos);
  CHECK(all.find("W_{Q}^{T}\n") != std::string::npos);
}

TEST_CASE("a fraction needs no brackets in a product, a negative factor does") {
  Record record;
  const Tensor x = named(record, "x", {3});
  const Derivation half = derive(sum(x / 2.0), {x}, {.verify = false});
  CHECK(forward_latex(half, 0) == "\\frac{x}{2}");
  CHECK(backward_latex(half, "d_x").find("\\cdot \\frac{1}{2}") != std::string::npos);
  const Derivation minus = derive(sum(x * -0.5), {x}, {.verify = false});
  CHECK(forward_latex(minus, 0) == "x \\cdot (-0.5)");
}
