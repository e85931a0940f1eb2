#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"
#include "study/work_count.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t length = 24, width = 8, reach = 2;

/// Multiply-adds of both products, everything else that is computed, and ops.
std::vector<double> work_of(const std::function<void()>& f) {
  toy::WorkCount count;
  const Observe watch(count);
  f();
  return {static_cast<double>(count.multiply_adds), static_cast<double>(count.elements),
          static_cast<double>(count.ops)};
}

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(24);
  const Tensor q = draw.normal({length, width}), k = draw.normal({length, width}), v = draw.normal({length, width});
  const Tensor inside = window(reach, reach).dense({length, length}), outside = inside == zeros_like(inside);
  const double root = std::sqrt(static_cast<double>(width));
  const auto weights = [&] { return softmax(matmul(q, k.T()) / root); };
  const auto zeroed = [&] { return masked_fill(weights(), outside, 0); };
  const auto masked = [&] { return softmax(masked_fill(matmul(q, k.T()) / root, outside, -INFINITY)); };
  const Tensor sums_zeroed = sum(zeroed(), -1), sums_masked = sum(masked(), -1);
  const double pairs = sum(cast(inside, DType::f64)).item();
  return {
      numbers("sums_zeroed", "row sums of the weights, zeroed after the softmax: smallest and largest",
              {min(sums_zeroed).item(), max(sums_zeroed).item()}),
      numbers("sums_masked", "with the scores masked before it", {min(sums_masked).item(), max(sums_masked).item()}),
      number("kernel", "these weights against attention_weights(Q, K, mask=window(2, 2))",
             toy::largest_change(masked(), attention_weights(q, k, window(reach, reach))))
          .scientific(),
      table("work", "work for 24 queries, 24 keys, width 8",
            {work_of([&] { matmul(weights(), v); }), work_of([&] { matmul(zeroed(), v); }),
             work_of([&] { matmul(masked(), v); })})
          .headed({"multiply-adds", "other elements", "ops"}, {"no window", "zeroed after", "masked before"})
          .whole(),
      number("needed", "multiply-adds that the pairs inside the window need", 2 * pairs * width).whole()};
}

const RegisteredExhibit registered({
    .id = "E12",
    .title = "A window masks scores, before the softmax, and a mask saves no work",
    .claim = "Sparse attention, each token in a local window: alpha_ij = 0 if |i - j| > k. It is offered as the cure "
             "for the cost of O(n^2).\n"
             "(First article, \"drawbacks and improvements\".)",
    .right = "S_ij = -inf if |i - j| > k, and then the softmax. The work shrinks only in a kernel that never computes "
             "the scores outside the window.",
    .why =
        "The softmax has already shared out a total of 1 among all keys. Setting weights to 0 afterwards throws most "
        "of it away: the rows no longer sum to 1, and how much is left differs from row to row. Masked before, the "
        "softmax shares the total among the keys inside. Either way every one of the n^2 products has been "
        "computed, and then forgotten: a mask changes the result, not the cost.",
    .commands =
        {"gradus eval 'S = randn(6,6); sum(softmax(S) * (tril(ones(6,6), 1) - tril(ones(6,6), -2)), axis=-1)'",
         "gradus eval 'Q = randn(6,4); K = randn(6,4); sum(attention_weights(Q, K, mask=window(1,1)), axis=-1)'",
         "gradus eval 'Q = randn(6,4); K = randn(6,4); attention_weights(Q, K, mask=window(1,1))'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
