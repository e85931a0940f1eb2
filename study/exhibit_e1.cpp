#include "core/derivatives.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

namespace gradus::study {
namespace {

std::vector<Finding> run() {
  Tensor s = tensor({1, 2, 0.5}, DType::f64);
  s.requires_grad(true);
  const Tensor a = softmax(s), ones = ones_like(a);
  const Tensor truth = grad(a, s, ones);
  const Tensor elementwise = (a * (1.0 - a)).detach();
  const Tensor j = jacobian([](const Tensor& x) { return softmax(x); }, s);
  const Tensor slopes = toy::differences([](const Tensor& x) { return softmax(x).at({1}); }, s);
  return {
      matrix("scores", "scores S", s),
      matrix("weights", "weights a = softmax(S)", a),
      matrix("jacobian", "the derivative da/dS = diag(a) - a a^T", j)
          .headed({"S_1", "S_2", "S_3"}, {"a_1", "a_2", "a_3"}),
      matrix("row_sums", "the sum of each of its rows", sum(j, -1)).scientific(1),
      number("difference", "its second row against central differences", toy::largest_change(select(j, 0, 1), slopes))
          .scientific(),
      matrix("elementwise", "the article's a * (1 - a): its diagonal, and no more", elementwise),
      matrix("truth", "dL/dS for L = a_1 + a_2 + a_3 = 1: right", truth),
      matrix("theirs", "dL/dS by the article's formula", ones * elementwise)};
}

const RegisteredExhibit registered({
    .id = "E1",
    .title = "The derivative of softmax is a matrix, not a * (1 - a)",
    .claim = "da/dS = a ⊗ (1 - a), element by element.\n"
             "(First article, \"proof: the gradient in matrix form\". Its own section 2 says diag(a) - a a^T.)",
    .right = "For one row of scores da/dS = diag(a) - a a^T, a full matrix. So the gradient of the scores is\n"
             "    dS = a * (da - sum(da * a)):\n"
             "an elementwise product, from which a sum over the row is taken away.",
    .why = "Softmax divides by a sum over the whole row, so raising one score lowers every other weight: these are the "
           "entries -a_i a_j off the diagonal. The weights of a row always sum to 1, so every row and every column of "
           "the matrix sums to 0. A loss that is the sum of the weights is constant and has no gradient; the "
           "elementwise formula finds one. a * (1 - a) is right for a sigmoid, where each output depends on one input.",
    .commands = {"gradus jacobian 'A = softmax(S)' --wrt S --set 'S=[1,2,.5]'",
                 "gradus check 'A = softmax(S)' --wrt S --set 'S=[1,2,.5]' --set 'cotangent=[1,1,1]' --claim 'd_S = "
                 "d_A * A * (1 - A)'",
                 "gradus derive 'A = softmax(S)' --wrt S --set 'S=[1,2,.5]' --set 'cotangent=[1,1,1]' --values"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
