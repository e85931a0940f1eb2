// Whole training steps: forward, backward and the optimizer's step on one batch of random tokens.
#include "bench/workloads.hpp"
#include "nn/gpt.hpp"
#include "nn/seq2seq.hpp"
#include "optim/adam.hpp"
#include "optim/adamw.hpp"

#include <memory>

namespace gradus::bench {
namespace {

// torch.nn.MultiheadAttention's own example size: self-attention without weights, no optimizer; x requires grad.
Prepared multi_head_attention(const Setup& setup) {
  seed(0);
  const std::int64_t width = setup.small ? 16 : 512;
  const nn::MultiHeadAttention layer(width, 8);
  Tensor x = randn({2, 10, width}).requires_grad(true);
  const auto step = [layer, x]() mutable {
    nn::zero_grad(layer);
    x.zero_grad();
    backward(sum(layer(x)));
  };
  return {step, 1, nn::count(layer)};
}

struct Pairs {
  std::int64_t width, heads, layers, feedforward, vocabulary, batch, length;
};

// Post-norm relu, one table of learned positions for both sides, causal target, no padding, Adam.
Prepared sequence_to_sequence(Pairs size, const Setup& setup) {
  if (setup.small) size = {16, size.heads, 1, 32, 16, 2, 6};
  seed(0);
  const nn::LayerOptions layer{.embed = size.width, .heads = size.heads, .feedforward = size.feedforward, .dropout = 0};
  const nn::Seq2Seq model({.source_vocabulary = size.vocabulary,
                           .target_vocabulary = size.vocabulary,
                           .layer = layer,
                           .encoder_layers = size.layers,
                           .decoder_layers = size.layers,
                           .positions = nn::Positions::learned,
                           .max_length = size.length,
                           .share_positions = true,
                           .scale_embedding = false});
  const auto optimizer = std::make_shared<Adam>(nn::parameters(model), AdamOptions{.learning_rate = 1e-3});
  const Shape tokens{size.batch, size.length};
  const Tensor source = randint(0, size.vocabulary, tokens), target = randint(0, size.vocabulary, tokens),
               next = randint(0, size.vocabulary, tokens);
  const auto step = [=] {
    optimizer->zero_grad();
    backward(cross_entropy(model(source, target), next));
    optimizer->step();
  };
  return {step, 1, nn::count(model)};
}

// Pre-norm, learned positions, biases, head tied to the embedding, tanh gelu, no dropout, AdamW.
Prepared gpt(nn::GPTOptions options, std::int64_t batch, const Setup& setup) {
  if (setup.small)
    options = {.vocabulary = 32, .context = 8, .layers = 1, .heads = options.heads, .width = 4 * options.heads};
  seed(0);
  const nn::GPT model(options);
  const auto optimizer = std::make_shared<AdamW>(nn::parameters(model), AdamWOptions{.learning_rate = 3e-4});
  const Shape tokens{batch, options.context};
  const Tensor text = randint(0, options.vocabulary, tokens), next = randint(0, options.vocabulary, tokens);
  const auto step = [=] {
    optimizer->zero_grad();
    backward(cross_entropy(model(text), next));
    optimizer->step();
  };
  return {step, 1, nn::count(model)};
}

}  // namespace

std::vector<Workload> models() {
  return {
      {"mha_seed", "MultiheadAttention(512, 8) on [2, 10, 512], sum, no optimizer", multi_head_attention},
      {"seq2seq_copy", "encoder-decoder, width 64, 4 heads, 2+2 layers, batch 32, length 12, Adam",
       [](const Setup& s) {
         return sequence_to_sequence({64, 4, 2, 256, 32, 32, 12}, s);
       }},
      {"seq2seq_seed", "encoder-decoder, width 256, 8 heads, 6+6 layers, batch 16, length 24, Adam",
       [](const Setup& s) {
         return sequence_to_sequence({256, 8, 6, 1024, 1000, 16, 24}, s);
       }},
      {"gpt_nano", "GPT, 4 layers, 4 heads, width 128, context 64, batch 12, vocabulary 65, AdamW",
       [](const Setup& s) {
         return gpt({.vocabulary = 65, .context = 64, .layers = 4, .heads = 4, .width = 128}, 12, s);
       }},
      {"gpt_char", "GPT, 6 layers, 6 heads, width 384, context 256, batch 4, vocabulary 65, AdamW",
       [](const Setup& s) {
         return gpt({.vocabulary = 65, .context = 256, .layers = 6, .heads = 6, .width = 384}, 4, s);
       }},
      {"gpt2_124M", "GPT-2, 12 layers, 12 heads, width 768, context 64, batch 4, vocabulary 50257, AdamW",
       [](const Setup& s) {
         return gpt({.vocabulary = 50257, .context = 64, .layers = 12, .heads = 12, .width = 768}, 4, s);
       }},
  };
}

}  // namespace gradus::bench
