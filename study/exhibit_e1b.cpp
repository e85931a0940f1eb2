#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

/// dS from dA: by the true rule, or by the article's.
enum class Rule { truth, elementwise };
Tensor score_gradient(const toy::Pass& p, const Tensor& dz, Rule rule) {
  const Tensor da = matmul(dz, p.v.T());
  return rule == Rule::truth ? p.a * (da - sum(da * p.a, -1, keepdim)) : da * p.a * (1.0 - p.a);
}

/// dL/dW_Q = X^T dS K / sqrt(d).
Tensor query_gradient(const toy::Problem& w, const toy::Pass& p, const Tensor& dz, Rule rule) {
  return matmul(w.x.T(), matmul(score_gradient(p, dz, rule), p.k)) / std::sqrt(toy::Problem::d);
}

/// The loss |Z - target|^2 / 2 after each hundred steps of gradient descent on W_Q by a rule.
std::vector<double> descent(const toy::Problem& w, const Tensor& target, Rule rule) {
  Tensor wq = w.wq.detach();
  std::vector<double> losses;
  for (int step = 0; step <= 300; ++step) {
    const toy::Pass p = toy::attend(w.x, wq, w.wk, w.wv);
    const Tensor dz = p.z - target;
    if (step % 100 == 0) losses.push_back(0.5 * sum(dz * dz).item());
    wq = wq - 0.02 * query_gradient(w, p, dz, rule);
  }
  return losses;
}

std::vector<Finding> run() {
  const toy::Problem w = toy::problem();
  const toy::Pass p = toy::attend(w.x, w.wq, w.wk, w.wv);
  const Tensor engine = grad(p.z, w.wq, w.dz);
  const NoGrad guard;
  const auto loss = [&](const Tensor& wq) { return sum(toy::attend(w.x, wq, w.wk, w.wv).z * w.dz).item(); };
  const Tensor slopes = toy::differences(loss, w.wq);
  const Tensor truth = query_gradient(w, p, w.dz, Rule::truth);
  const Tensor theirs = query_gradient(w, p, w.dz, Rule::elementwise);
  const Tensor target = matmul(p.a.detach(), p.v.detach()) + w.dz * 0.5;
  return {number("error_truth", "relative error of the true rule, against central differences",
                 toy::relative(truth, slopes))
              .scientific(),
          number("error_engine", "relative error of what `grad` returns", toy::relative(engine, slopes)).scientific(),
          number("error", "relative error with a * (1 - a) in its place", toy::relative(theirs, slopes)),
          number("cosine", "cosine of the angle between it and the truth", toy::cosine(theirs, slopes)),
          table("descent", "the loss |Z - target|^2 / 2 under gradient descent on W_Q",
                {descent(w, target, Rule::truth), descent(w, target, Rule::elementwise)})
              .headed({"start", "100 steps", "200 steps", "300 steps"}, {"true rule", "a * (1 - a)"})};
}

const RegisteredExhibit registered({
    .id = "E1b",
    .title = "A wrong gradient that points nearly the right way still trains",
    .claim =
        "da/dS = a ⊗ (1 - a) inside the gradient of W_Q; here K and the scale, which the article's formula forgets "
        "(E2), are supplied:\n"
        "    dW_Q = X^T (dA * A * (1 - A)) K / sqrt(d)",
    .right = "    dW_Q = X^T dS K / sqrt(d)  with  dS = A * (dA - rowsum(dA * A))",
    .why = "What is missing is the row sum, and it is small beside the rest when dA has both signs. So the wrong "
           "gradient points nearly the same way as the true one, and gradient descent still goes down. A loss curve "
           "cannot tell the two apart; a comparison with central differences can, at once: the true rule agrees to "
           "ten digits, the other one to less than one.",
    .commands = {"gradus check 'X = randn(5,7); W_Q = randn(7,4) / 2; W_K = randn(7,4) / 2; W_V = randn(7,4) / 2; "
                 "Q = X @ W_Q; K = X @ W_K; V = X @ W_V; S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V' --wrt W_Q "
                 "--claim 'd_S = d_A * A * (1 - A)' --claim 'd_W_Q = X.T @ d_S @ K / sqrt(4)'",
                 "gradus derive 'X = randn(5,7); W_Q = randn(7,4) / 2; W_K = randn(7,4) / 2; W_V = randn(7,4) / 2; "
                 "Q = X @ W_Q; K = X @ W_K; V = X @ W_V; S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V' --wrt W_Q"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
