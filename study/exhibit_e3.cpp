#include "core/derivatives.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

/// The largest |dA[i,j] / dS[k,l]| with i != k: how much one row of scores moves the weights of another.
double largest_across_rows(const Tensor& j) {
  const std::int64_t n = j.size(0);
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < n; ++k)
      if (i != k) most = std::max(most, toy::largest(select(select(j, 2, k), 0, i)));
  return most;
}

std::vector<Finding> run() {
  const toy::Problem w = toy::problem();
  const toy::Pass p = toy::attend(w.x, w.wq, w.wk, w.wv);
  const Tensor truth = grad(p.z, w.wq, w.dz);
  const NoGrad guard;
  const Tensor da = matmul(w.dz, p.v.T());
  const Tensor ds = p.a * (da - sum(da * p.a, -1, keepdim));
  const Tensor theirs = matmul(w.x.T(), matmul(ds, p.k));
  const Tensor right = theirs / std::sqrt(toy::Problem::d);
  const Tensor j = jacobian([](const Tensor& s) { return softmax(s); }, p.s);  // [5, 5, 5, 5]
  const Tensor a0 = select(p.a, 0, 0);
  const Tensor block = a0.reshape({5, 1}) * (eye(5, DType::f64) - a0.reshape({1, 5}));
  std::vector<double> shape;
  for (const std::int64_t n : j.shape()) shape.push_back(static_cast<double>(n));
  return {
      number("error", "relative error of dW_Q without the factor 1/sqrt(d)", toy::relative(theirs, truth)),
      number("ratio", "its length over that of the right one: sqrt(d), d = 4", toy::length(theirs) / toy::length(right))
          .exact(),
      number("cosine", "the cosine between them", toy::cosine(theirs, right)).exact(),
      numbers("shape", "shape of dA/dS for five queries and five keys", shape).whole(),
      matrix("block", "its block dA[0,j] / dS[0,l], the first row's softmax", select(select(j, 2, 0), 0, 0)),
      number("block_difference", "that block against diag(a) - a a^T of the first row",
             toy::largest_change(select(select(j, 2, 0), 0, 0), block))
          .scientific(),
      number("across_rows", "the largest entry that joins two different rows", largest_across_rows(j))};
}

const RegisteredExhibit registered({
    .id = "E3",
    .title = "diag(a) - a a^T belongs to S = Q K^T / sqrt(d), one row at a time",
    .claim = "d alpha / d(Q K^T) = diag(alpha) - alpha alpha^T.\n"
             "(First article, section 2.2.)",
    .right =
        "For one query, da/dS = diag(a) - a a^T with S = Q K^T / sqrt(d). With respect to Q K^T the factor 1/sqrt(d) "
        "is still to come. For all queries, dA[i,j] / dS[k,l] has four indices: a block diag(a) - a a^T for each "
        "row, and 0 between different rows.",
    .why = "The scores are divided before the softmax, so the chain rule multiplies once more by 1/sqrt(d). Forgetting "
           "it gives a gradient that points exactly the right way and is sqrt(d) times too long: an optimizer such as "
           "Adam, which does not care for the length, hides it completely. And a is a row, not a matrix: for a whole "
           "matrix A the expression A A^T is defined, but it mixes the rows of different queries.",
    .commands = {"gradus check 'P = Q @ K.T; S = P / sqrt(4); A = softmax(S)' --wrt Q --set 'Q=[[1,0,2,1],[0,1,1,-1]]' "
                 "--set 'K=[[1,1,0,0],[0,2,1,0],[1,0,0,-1]]' --claim 'd_P = A * (d_A - sum(d_A * A, axis=-1, "
                 "keepdim=True))'",
                 "gradus jacobian 'softmax(S)' --wrt S --set 'S=[[1,2,.5],[0,1,-1]]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
