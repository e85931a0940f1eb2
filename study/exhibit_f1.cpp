#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t draws = 200, keys = 64;

/// Standard deviation of the logits and entropy of the weights, for queries and keys of independent N(0, 1).
struct Spread {
  double deviation, entropy;
};
Spread spread(const Tensor& products, double divisor) {
  const Tensor logits = products / std::sqrt(divisor);
  return {std::sqrt(mean(logits * logits).item()), toy::row_entropy(softmax(logits))};
}

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(1);
  std::vector<std::vector<double>> rows;
  std::vector<std::string> names;
  const std::pair<int, int> sizes[] = {{256, 8}, {512, 8}, {64, 4}};
  for (const auto& [embed, heads] : sizes) {
    const std::int64_t width = embed / heads;
    const Tensor products = matmul(draw.normal({draws, 1, width}), draw.normal({draws, keys, width}).T());
    const Spread theirs = spread(products, embed), right = spread(products, static_cast<double>(width));
    rows.push_back({theirs.deviation, right.deviation, theirs.entropy, right.entropy});
    names.push_back(fmt::format("width {}, {} heads", embed, heads));
  }
  return {table("spread", "logits and weights of 200 random queries over 64 random keys", rows)
              .headed({"deviation, theirs", "deviation, right", "entropy, theirs", "entropy, right"}, names)
              .decimals(2),
          number("even", "entropy of even weights, ln 64", std::log(static_cast<double>(keys))).decimals(2)};
}

const RegisteredExhibit registered({
    .id = "F1",
    .title = "Scores are divided by the root of the head's width, not the embedding's",
    .claim =
        "attention = softmax(energy / (self.embed_size ** (1 / 2)), dim=3), where each head is embed_size // heads "
        "wide.\n"
        "(Second article, class SelfAttention.)",
    .right = "energy / sqrt(head_dim): what matters is how many products are summed in one score.",
    .why = "A score q.k is a sum over the head's own D coordinates, so its variance is D and 1/sqrt(D) brings it to 1. "
           "Dividing by sqrt(E) = sqrt(H * D) makes the logits sqrt(H) times too small: with 8 heads their deviation "
           "is .35 instead of 1, and the weights start close to even. Training can undo it, since W_Q and W_K can "
           "grow by the same factor, so nothing fails visibly: the layer is only slower to make up its mind.",
    .commands = {"gradus eval 'softmax(randn(1,32) @ randn(8,32).T / sqrt(256))' --seed 1",
                 "gradus eval 'softmax(randn(1,32) @ randn(8,32).T / sqrt(32))' --seed 1",
                 "gradus check 'Q = randn(3,4); K = randn(5,4); S = Q @ K.T / sqrt(4); A = softmax(S)' --wrt Q "
                 "--claim 'd_Q = d_S @ K / sqrt(16)'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
