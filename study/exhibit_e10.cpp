#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

std::vector<double> extents(const Tensor& x) { return {x.shape().begin(), x.shape().end()}; }

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(10);
  const Tensor q = draw.normal({2, 5, 3}), k = draw.normal({2, 5, 3});  // [batch, length, width]
  const Tensor c = matmul(q.T(), k);
  const Tensor first = select(c, 0, 0);
  const Tensor centred = matmul((q - mean(q, -2, keepdim)).T(), k - mean(k, -2, keepdim));
  const Tensor shorter = draw.normal({2, 4, 3});
  // Cross-covariance attention mixes features; linear attention sums K^T V once for all queries.
  const Tensor mixed = matmul(k, softmax(c).T());
  const Tensor fq = elu(q) + 1.0, fk = elu(k) + 1.0, v = draw.normal({2, 5, 3});
  const Tensor through_length = matmul(matmul(fq, fk.T()), v), through_width = matmul(fq, matmul(fk.T(), v));
  return {
      numbers("shape", "Q and K are [2, 5, 3]; the shape of Q^T K", extents(c)).whole(),
      matrix("product", "Q^T K of the first sequence, features by features", first),
      number("asymmetry", "largest entry of C - C^T: a covariance of one thing with itself would have 0",
             toy::largest_change(first, first.T())),
      number("uncentred", "largest difference to the covariance, which subtracts the means first",
             toy::largest_change(first, select(centred, 0, 0))),
      said("error", "with 5 queries and 4 keys", toy::error_of([&] { matmul(q.T(), shorter); })),
      numbers("cross_covariance", "cross-covariance attention, K softmax(Q^T K)^T: shape of the output", extents(mixed))
          .whole(),
      number("associativity", "phi(Q) (phi(K)^T V) against (phi(Q) phi(K)^T) V: the same",
             toy::largest_change(through_width, through_length))
          .scientific()};
}

const RegisteredExhibit registered({
    .id = "E10",
    .title = "Q^T K is legal and used: it relates features, Q K^T relates positions",
    .claim = "Q^T K cannot be multiplied: \"it aligns seq_len_q with the batch\"; if it could, it would be a "
             "covariance matrix (the example shown is symmetric), \"meaningless\" and \"of no use\" for attention.\n"
             "(First article, \"why Q K^T and not Q^T K\".)",
    .right = "The transpose swaps the last two axes and leaves the batch alone. Q^T K is [batch, d, d], defined when "
             "there are as many queries as keys; it is neither centred nor symmetric, so no covariance of one thing; "
             "and it is used.",
    .why = "Q K^T sums over features and compares positions; Q^T K sums over positions and compares features. For "
           "scores between words the first is needed, that much is true. But cross-covariance attention (El-Nouby et "
           "al. 2021) takes a softmax of Q^T K, and linear attention is fast only because phi(K)^T V, of the same "
           "kind, is d by d and need be computed once for all queries.",
    .commands =
        {"gradus eval 'Q = randn(2,5,3); K = randn(2,5,3); Q.T @ K'",
         "gradus eval 'Q = randn(2,5,3); K = randn(2,5,3); K @ softmax(Q.T @ K).T'",
         "gradus eval 'Q = exp(randn(5,3)); K = exp(randn(5,3)); V = randn(5,3); Q @ (K.T @ V) - (Q @ K.T) @ V'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
