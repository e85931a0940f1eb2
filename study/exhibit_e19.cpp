#include "nn/self_attention.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t batch = 2, tokens = 5, embed = 16;
constexpr int models = 50;

std::vector<Finding> run() {
  const NoGrad guard;
  const Tensor x = randn({batch, tokens, embed});
  const double even = 1.0 / tokens;
  Tensor first, last;
  double entropy = 0, largest = 0, deviation = 0, agreement = 0;
  for (int i = 0; i < models; ++i) {
    const Tensor weights = nn::SelfAttention(embed)(x).weights;
    entropy += toy::row_entropy(weights) / models;
    largest += mean(max(weights, -1)).item() / models;
    deviation += mean(std(log(weights), -1, 0)).item() / models;
    if (i == 0) first = select(weights, 0, 0);
    else agreement += toy::cosine(weights - even, last - even) / (models - 1);
    last = weights;
  }
  return {number("entropy", "entropy of a row, mean over 50 fresh models", entropy),
          number("even", "of even weights, ln 5", std::log(static_cast<double>(tokens))),
          number("deviation", "standard deviation of the scores in a row, mean", deviation),
          number("largest", "largest weight of a row, mean; even weights are 0.2", largest),
          number("agreement", "cosine between the maps, less 0.2, of two fresh models: mean over pairs", agreement),
          matrix("map", "the weights of the first model: rows look, columns are looked at", first)};
}

const RegisteredExhibit registered({
    .id = "E19",
    .title = "The heat map of an untrained model shows its random numbers",
    .claim = "The first article draws the weights of a fresh SelfAttention on random input under the title \"Attention "
             "Weights\", \"the attention of each position in the input\".",
    .right = "Before training the weights are nearly even, and what differs is noise of the initialisation: another "
             "seed gives another picture. Only a trained model's map says anything about the input.",
    .why = "Fresh projections make scores with a standard deviation of about 0.3, so the softmax stays close to 1/5 "
           "everywhere; the entropy of a row nearly reaches ln 5. matplotlib stretches the colours over the small "
           "range that there is, so the picture looks decided. Two fresh models agree on nothing: the cosine between "
           "what their maps add to even weights is about 0.",
    .commands = {"gradus eval 'x = randn(5,16); attention_weights(x @ randn(16,16) / sqrt(48), x @ randn(16,16) / "
                 "sqrt(48))' --seed 1",
                 "gradus eval 'x = randn(5,16); attention_weights(x @ randn(16,16) / sqrt(48), x @ randn(16,16) / "
                 "sqrt(48))' --seed 2"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
