#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t draws = 300, keys = 16;

/// Over random queries against 16 random keys: the mean length of the softmax Jacobian and the mean largest weight.
struct Saturation {
  double jacobian, largest;
};
Saturation saturation(const Tensor& scores) {
  const Tensor a = softmax(scores);  // [draws, 1, keys]
  const Tensor j = a.T() * (eye(keys, DType::f64) - a);
  return {mean(sqrt(sum(j * j, {-2, -1}))).item(), mean(max(a, -1)).item()};
}

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(4);
  std::vector<std::vector<double>> rows;
  std::vector<std::string> names;
  for (const std::int64_t d : {4, 16, 64, 256, 1024}) {
    const Tensor q = draw.normal({draws, 1, d}), k = draw.normal({draws, keys, d});
    const Tensor products = matmul(q, k.T());
    const double root = std::sqrt(static_cast<double>(d));
    const Saturation plain = saturation(products), scaled = saturation(products / root);
    rows.push_back({mean(products * products).item(), plain.jacobian, plain.largest, scaled.jacobian, scaled.largest});
    names.push_back(fmt::format("d_k = {}", d));
  }
  return {
      table("saturation", "300 random queries, each against 16 random keys; J is the derivative of the softmax", rows)
          .headed({"var(q.k)", "|J| plain", "max a plain", "|J| scaled", "max a scaled"}, names)};
}

const RegisteredExhibit registered({
    .id = "E4",
    .title = "The factor is 1/sqrt(d_k), and it keeps the softmax from saturating",
    .claim = "\"d_k is the scaling factor\", which \"stabilises the gradient\".\n"
             "(First article, section 1; the formula beside it divides by sqrt(d_k).)",
    .right = "d_k is the width of a key. The scaling factor is 1/sqrt(d_k).",
    .why = "A product q.k of independent standard normal vectors is a sum of d_k terms of variance 1, so its variance "
           "is d_k and its size grows like sqrt(d_k). Without the factor a wide head has scores far apart, the softmax "
           "puts nearly everything on one key, and its derivative diag(a) - a a^T goes to 0: nothing is learnt through "
           "it. Divided by sqrt(d_k) the scores have variance 1 at every width. Dividing by d_k instead would make "
           "them all nearly equal.",
    .commands = {"gradus eval 'softmax(randn(1,1024) @ randn(16,1024).T)' --seed 1",
                 "gradus eval 'softmax(randn(1,1024) @ randn(16,1024).T / sqrt(1024))' --seed 1",
                 "gradus check 'Q = randn(3,4); K = randn(5,4); S = Q @ K.T / sqrt(4)' --wrt Q "
                 "--claim 'd_Q = d_S @ K / 4'",
                 "gradus jacobian 'softmax(S)' --wrt S --set 'S=[40,-12,25]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
