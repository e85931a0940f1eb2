#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradus::study {
namespace {

constexpr std::int64_t keys = 6, width = 3;

/// A direction n with n [V, 1] = 0: moving the weights along it changes neither their sum nor the output. By Gaussian
/// elimination of [V, 1]^T, with the first column that has no pivot set to 1.
std::vector<double> unseen_direction(const Tensor& v) {
  const int unknowns = static_cast<int>(v.size(0)), equations = static_cast<int>(v.size(1)) + 1;
  const Tensor system = concat({v, ones({v.size(0), 1}, DType::f64)}, 1).T();
  std::vector<std::vector<double>> m;
  for (int r = 0; r < equations; ++r) m.push_back(system[r].to_vector<double>());
  const auto at = [&](int r, int c) -> double& { return m[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]; };
  for (int c = 0; c < equations; ++c) {  // random columns: the first ones have pivots
    int pivot = c;
    for (int r = c; r < equations; ++r)
      if (std::abs(at(r, c)) > std::abs(at(pivot, c))) pivot = r;
    std::swap(m[static_cast<std::size_t>(c)], m[static_cast<std::size_t>(pivot)]);
    for (int r = 0; r < equations; ++r) {
      if (r == c) continue;
      const double factor = at(r, c) / at(c, c);
      for (int k = c; k < unknowns; ++k) at(r, k) -= factor * at(c, k);
    }
  }
  std::vector<double> direction(static_cast<std::size_t>(unknowns), 0.0);
  direction[static_cast<std::size_t>(equations)] = 1;
  for (int c = 0; c < equations; ++c) direction[static_cast<std::size_t>(c)] = -at(c, equations) / at(c, c);
  return direction;
}

/// As far along it as all weights stay positive.
std::vector<double> moved(const std::vector<double>& a, const std::vector<double>& direction) {
  double far = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (direction[i] < 0) far = std::min(far, -a[i] / direction[i]);
  std::vector<double> b = a;
  for (std::size_t i = 0; i < a.size(); ++i) b[i] += 0.999 * far * direction[i];
  return b;
}

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(94);
  const Tensor v = draw.normal({keys, width}), a = softmax(draw.normal({1, keys}));
  const Tensor b = tensor(moved(a.to_vector<double>(), unseen_direction(v)), {1, keys}, DType::f64);
  const Tensor outputs = concat({matmul(a, v), matmul(b, v)});
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < keys; ++i) names.push_back(fmt::format("key {}", i));
  return {matrix("weights", "two rows of weights over the same six values of width 3", concat({a, b}))
              .headed(names, {"a", "a'"}),
          matrix("outputs", "their outputs", outputs).headed({}, {"a V", "a' V"}),
          number("difference", "largest difference of the outputs", toy::largest_change(outputs[0], outputs[1]))
              .scientific(1),
          number("distance", "distance of the weights: what must be moved to make one of the other",
                 0.5 * sum(abs(a - b)).item()),
          numbers("sums", "sums of the weights", sum(concat({a, b}), -1).to_vector<double>())};
}

const RegisteredExhibit registered({
    .id = "E20",
    .title = "Weights explain no decision when other weights give the same output",
    .claim = "\"Interpretability: visualised weights help to understand what the model's decision is based on.\"\n"
             "(First article, twice among the advantages.)",
    .right = "The weights say which values were averaged, no more. With more keys than value dimensions they are not "
             "determined by the output: different weights, the same result to the last digit.",
    .why =
        "The output a V is D numbers and the weights are S, with one condition, that they sum to 1. If S > D + 1 there "
        "are directions in which the weights can move and the output stays: everything downstream is the same. So "
        "the picture of the weights is one of infinitely many that lead to this decision (Jain and Wallace 2019; "
        "Brunner et al. 2020). Weights can hint at what a model uses; a test changes the input and looks at the "
        "output.",
    .commands = {"gradus eval '[[.5,.25,.25,0]] @ [[0,0],[2,0],[0,2],[1,1]]'",
                 "gradus eval '[[.5,0,0,.5]] @ [[0,0],[2,0],[0,2],[1,1]]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
