#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "nn/multi_head_attention.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t draws = 64, tokens = 10, embed = 64;
constexpr int depth = 6;
constexpr double p = 0.1;

struct Block {
  nn::MultiHeadAttention attention{embed, 4};
  nn::FeedForward feed_forward{embed, 4 * embed};
  nn::LayerNorm norm1{embed}, norm2{embed};
  void parts(auto&& f) {
    f("attention", attention);
    f("feed_forward", feed_forward);
    f("norm1", norm1);
    f("norm2", norm2);
  }
};

enum class Place { after_norm, on_branch };

Tensor through(const Block& b, const Tensor& x, Place place) {
  if (place == Place::after_norm) {  // as the second article writes it
    const Tensor y = dropout(b.norm1(b.attention(x) + x), p);
    return dropout(b.norm2(b.feed_forward(y) + y), p);
  }
  const Tensor y = b.norm1(x + dropout(b.attention(x), p));
  return b.norm2(y + dropout(b.feed_forward(y), p));
}

/// Of a stream [draws, tokens, embed] with different dropout in each draw: what part is exactly 0, its variance, and
/// the part of the variance that is the noise of dropout.
struct State {
  double zeros, variance, noise;
};
State state_of(const Tensor& x) {
  const Tensor zero = x == zeros_like(x);
  return {mean(cast(zero, DType::f64)).item(), mean(x * x).item(), mean(var(x, 0)).item()};
}

std::vector<Finding> run() {
  const NoGrad guard;
  toy::Draw draw(6);
  const Tensor start = draw.normal({1, tokens, embed}).expand({draws, tokens, embed});
  Tensor theirs = start, right = start;
  std::vector<std::vector<double>> rows;
  std::vector<std::string> names;
  for (int layer = 1; layer <= depth; ++layer) {
    Block block;
    nn::to(block, DType::f64);
    theirs = through(block, theirs, Place::after_norm), right = through(block, right, Place::on_branch);
    const State a = state_of(theirs), b = state_of(right);
    rows.push_back({a.zeros, b.zeros, a.variance, b.variance, a.noise, b.noise});
    names.push_back(fmt::format("after block {}", layer));
  }
  return {table("stream", "the stream through six blocks, width 64, dropout 0.1, 64 draws of the dropped entries", rows)
              .headed({"zeros, theirs", "zeros, right", "variance, theirs", "variance, right", "noise, theirs",
                       "noise, right"},
                      names),
          number("survival", "chance that a coordinate of the input passes all 12 places undropped, theirs",
                 std::pow(1 - p, 2 * depth))};
}

const RegisteredExhibit registered({
    .id = "F6",
    .title = "Dropout belongs on the branch, before sum and norm, not on the stream",
    .claim = "x = self.dropout(self.norm1(attention + query)), and likewise behind the feed-forward layer.\n"
             "(Second article, class TransformerBlock; again in DecoderBlock.)",
    .right = "x = norm1(query + dropout(attention)): the sublayer's output is dropped, then added and normalised.",
    .why = "The residual stream carries each token through all layers. Dropout behind the norm sets a tenth of it to 0 "
           "in every sublayer, the token's own information included, and no path leads around it: after twelve such "
           "places an input coordinate has survived with probability 0.28. On the branch, dropout silences a "
           "correction now and then while the stream stays whole, and the norm keeps its variance at 1. (With the "
           "article's default of dropout 0 nothing is lost; the slip waits for whoever turns it on.)",
    .commands = {"gradus eval 'x = randn(2,8); dropout(layer_norm(x + tanh(x)), 0.25)'",
                 "gradus eval 'x = randn(2,8); layer_norm(x + dropout(tanh(x), 0.25))'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
