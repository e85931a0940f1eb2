#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

/// One gradient by hand beside central differences.
double error_by_differences(const toy::Problem& w, const Tensor& by_hand, int which) {
  Tensor weights[] = {w.wq.detach(), w.wk.detach(), w.wv.detach()};
  const Tensor at = weights[which];
  const auto loss = [&](const Tensor& x) {
    weights[which] = x;
    return sum(toy::attend(w.x, weights[0], weights[1], weights[2]).z * w.dz).item();
  };
  return toy::relative(by_hand, toy::differences(loss, at));
}

std::vector<Finding> run() {
  const NoGrad guard;
  const toy::Problem w = toy::problem();
  const toy::Pass p = toy::attend(w.x, w.wq, w.wk, w.wv);
  const Tensor theirs = p.a * (1.0 - p.a);
  const Tensor da = matmul(w.dz, p.v.T());
  const Tensor ds = p.a * (da - sum(da * p.a, -1, keepdim));
  const double scale = 1 / std::sqrt(toy::Problem::d);
  const Tensor dwq = matmul(w.x.T(), matmul(ds, p.k)) * scale;
  const Tensor dwk = matmul(w.x.T(), matmul(ds.T(), p.q)) * scale;
  const Tensor dwv = matmul(w.x.T(), matmul(p.a.T(), w.dz));
  const auto shape_of = [](const Tensor& x) {
    return std::vector<double>{static_cast<double>(x.size(0)), static_cast<double>(x.size(1))};
  };
  return {
      numbers("shape_values", "shape of V^T, five tokens and a head of width 4", shape_of(p.v.T())).whole(),
      numbers("shape_derivative", "shape of the article's dA/dS", shape_of(theirs)).whole(),
      said("error", "their elementwise product", toy::error_of([&] { mul(p.v.T(), theirs); })),
      number("error_wq", "dW_Q as below: relative error against central differences", error_by_differences(w, dwq, 0))
          .scientific(),
      number("error_wk", "dW_K", error_by_differences(w, dwk, 1)).scientific(),
      number("error_wv", "dW_V", error_by_differences(w, dwv, 2)).scientific()};
}

const RegisteredExhibit registered({
    .id = "E2",
    .title = "The printed gradient of W_Q cannot be computed: its shapes do not fit",
    .claim = "dL/dW_Q = X^T (dL/dZ · (V^T ⊙ da/dS))\n"
             "(First article, \"proof: the gradient in matrix form\".)",
    .right = "Backwards, step by step, with Z = A V, A = softmax(S), S = Q K^T / sqrt(d), Q = X W_Q:\n"
             "    dA   = dZ V^T\n"
             "    dS   = A * (dA - rowsum(dA * A))\n"
             "    dW_Q = X^T dS K / sqrt(d)\n"
             "    dW_K = X^T dS^T Q / sqrt(d)\n"
             "    dW_V = X^T A^T dZ",
    .why = "A gradient has the shape of what it belongs to, and each step of the chain rule is one product that fits. "
           "The printed formula multiplies V^T, a head's width by the tokens, with a matrix of tokens by tokens, entry "
           "by entry. Even where both happen to have one shape it lacks K and the factor 1/sqrt(d), without which no "
           "gradient of Q K^T / sqrt(d) can be right. Shapes are the first check of every derivation, and they cost "
           "nothing.",
    .commands = {"gradus check 'X = randn(5,7); W_Q = randn(7,4) / 2; W_K = randn(7,4) / 2; W_V = randn(7,4) / 2; "
                 "Q = X @ W_Q; K = X @ W_K; V = X @ W_V; S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V' --wrt W_Q "
                 "--claim 'd_W_Q = X.T @ (d_Z * (V.T * (A * (1 - A))))'",
                 "gradus check 'X = randn(5,7); W_Q = randn(7,4) / 2; W_K = randn(7,4) / 2; W_V = randn(7,4) / 2; "
                 "Q = X @ W_Q; K = X @ W_K; V = X @ W_V; S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V' --wrt W_Q "
                 "--claim 'd_A = d_Z @ V.T' --claim 'd_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))' "
                 "--claim 'd_W_Q = X.T @ d_S @ K / sqrt(4)'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
