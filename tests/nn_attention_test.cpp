// Attention modules: positions, masks, caches, encoder-decoder and decoder-only models.
#include "nn/self_attention.hpp"
#include "tests/file_helpers.hpp"
#include "tests/nn_helpers.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;
using namespace gradus::nn;
using namespace gradus::test;

// ---- positions

TEST_CASE("A06: the sinusoidal table of an odd width ends with a sine") {
  const Tensor table = sinusoidal_positions(2, 5, DType::f64);
  CHECK(gap(table[1], tensor({0.841471, 0.540302, 0.025116, 0.999685, 0.000631}, DType::f64)) < 1e-6);
}

TEST_CASE("Positions longer than the maximum are an error that names it") {
  const LearnedPositions learned(4, 3);
  const SinusoidalPositions table(4, 3);
  CHECK(learned(zeros({4, 3})).shape() == Shape{4, 3});
  CHECK(contains(error_of([&] { learned(zeros({2, 5, 3})); }), "positions 0 to 4 but the maximum length is 4"));
  CHECK(contains(error_of([&] { table(zeros({2, 1, 3}), 4); }), "positions 4 to 4 but the maximum length is 4"));
  CHECK(gap(table(zeros({1, 2, 3}), 2)[0], slice(sinusoidal_positions(4, 3), 0, 2, 4)) == 0);
  const GPT gpt = tiny_gpt();
  CHECK(contains(error_of([&] { gpt(zeros({1, 11}).to(DType::i64)); }), "the maximum length is 10"));
}

// ---- attention

TEST_CASE("Self-attention is softmax(q k^T / sqrt(D)) v, and returns its weights") {
  SelfAttention m(4, {.head_width = 3});
  to(m, DType::f64);
  const Tensor x = randn({2, 5, 4}, DType::f64);
  const Attended y = m(x);
  const Tensor weights = softmax(matmul(m.query(x), m.key(x).T()) / std::sqrt(3.0));
  CHECK(gap(y.weights, weights) < 1e-14);
  CHECK(gap(y.output, matmul(weights, m.value(x))) < 1e-14);
  CHECK(m(x, {}, true).weights.at({0, 0, 1}) == 0);
}

TEST_CASE("M13: a padded input gives what the input without padding gives") {
  const Tensor x = randn({5, 50, 10}, DType::f64);
  std::vector<double> real(250, 1);
  for (std::size_t b = 0; b < 5; ++b) real[b * 50 + 49] = 0;
  const Mask mask = keys(tensor(real, {5, 50}, DType::b8));
  SelfAttention single(10);
  MultiHeadAttention multi(10, 2);
  EncoderLayer layer({.embed = 10, .heads = 5, .feedforward = 20, .dropout = 0});
  to(single, DType::f64);
  to(multi, DType::f64);
  to(layer, DType::f64);
  const Tensor shorter = slice(x, 1, 0, 49);
  const auto first_49 = [](const Tensor& y) { return slice(y, 1, 0, 49); };
  CHECK(gap(first_49(single(x, mask).output), single(shorter).output) < 1e-12);
  CHECK(gap(first_49(multi(x, mask)), multi(shorter)) < 1e-12);
  CHECK(gap(first_49(layer(x, mask)), layer(shorter)) < 1e-12);
}

TEST_CASE("A02: heads that do not divide the width are an error that names both numbers") {
  CHECK(contains(error_of([] { MultiHeadAttention(10, 4); }), "width 10 does not divide into 4 heads"));
  CHECK(contains(error_of([] { MultiHeadAttention(10, 0); }), "width 10 does not divide into 0 heads"));
  CHECK(contains(error_of([] { GPT({.vocabulary = 3, .heads = 3, .width = 8}); }), "width 8 does not divide into 3"));
  CHECK(contains(error_of([] { EncoderLayer({.embed = 10, .heads = 4}); }), "10 does not divide into 4"));
}

TEST_CASE("Weights are per head or averaged, rows sum to one, masked keys get none") {
  const MultiHeadAttention m(8, 2);
  const Tensor x = randn({2, 3, 8}), memory = randn({2, 4, 8});
  const Mask mask = keys(tensor({1, 1, 0, 0, 1, 1, 1, 1}, {2, 4}, DType::b8));
  const Attended per_head = m.with_weights(x, memory, memory, mask);
  const Attended averaged = m.with_weights(x, memory, memory, mask, false, true);
  CHECK(per_head.weights.shape() == Shape{2, 2, 3, 4});
  CHECK(gap(averaged.weights, mean(per_head.weights, 1)) == 0);
  CHECK(gap(sum(per_head.weights, -1), ones({2, 2, 3})) < 1e-6);
  CHECK(largest_of(slice(per_head.weights[0], -1, 2, 4)) == 0);
  CHECK(gap(per_head.output, m(x, memory, memory, mask)) < 1e-6);
}

TEST_CASE("Garbage in a masked memory position does not reach the output") {
  const MultiHeadAttention m(8, 2);
  const Tensor x = randn({1, 3, 8});
  Tensor memory = randn({1, 4, 8});
  const Mask mask = keys(tensor({1, 1, 1, 0}, {1, 4}, DType::b8));
  const Tensor clean = m(x, memory, memory, mask);
  {
    const NoGrad guard;
    Tensor last = select(memory, 1, 3);
    fill(last, std::nan(""));
  }
  const Attended seen = m.with_weights(x, memory, memory, mask);
  // The kernel leaves the hidden position out; the composition multiplies its zeros, in another order once it holds NaN: one unit of f32.
  const double allowed = reference_mode() ? 1.2e-7 : 0;
  CHECK(gap(m(x, memory, memory, mask), clean) <= allowed);
  CHECK(gap(seen.output, clean) <= allowed);
  CHECK(largest_of(slice(seen.weights, -1, 3)) == 0);
  CHECK(gap(m.attend(x, m.remember(memory, memory), mask), clean) <= allowed);
}

TEST_CASE("Modules take input without a batch axis") {
  MultiHeadAttention m(8, 2);
  to(m, DType::f64);
  const Tensor x = randn({3, 8}, DType::f64);
  CHECK(gap(m(x, {}, true), m(reshape(x, {1, 3, 8}), {}, true)[0]) < 1e-14);
}

TEST_CASE("A causal layer does not look ahead") {
  const EncoderLayer layer(tiny_layer());
  const Tensor x = randn({1, 4, 8});
  const Tensor other = concat({slice(x, 1, 0, 3), randn({1, 1, 8})}, 1);
  CHECK(gap(slice(layer(x, causal()), 1, 0, 3), slice(layer(other, causal()), 1, 0, 3)) == 0);
}

TEST_CASE("swiglu has a third matrix, linear3, beside the gate") {
  const FeedForward m(4, 6, {.activation = Nonlinearity::swiglu});
  CHECK(names_of(named_parameters(m)) == std::vector<std::string>{"linear1.weight", "linear1.bias", "linear2.weight",
                                                                  "linear2.bias", "linear3.weight", "linear3.bias"});
  const Tensor x = randn({2, 4});
  CHECK(gap(m(x), m.linear2(silu(m.linear1(x)) * (*m.linear3)(x))) < 1e-6);
  const FeedForward smooth(4, 6, {.activation = Nonlinearity::silu});
  CHECK(gap(smooth(x), smooth.linear2(silu(smooth.linear1(x)))) < 1e-6);
}

// ---- caches

TEST_CASE("A09: cached decoding of a GPT reproduces the full pass, whatever the pieces") {
  for (const bool with_gradients : {false, true}) {
    std::optional<NoGrad> guard;
    if (!with_gradients) guard.emplace();
    GPT wide = tiny_gpt(), single = clone(wide);
    to(wide, DType::f64);
    const Tensor tokens = randint(0, 11, {3, 10});
    const std::vector<std::vector<std::int64_t>> pieces{{6, 1, 1, 1, 1}, {1, 1, 3, 5}, {10}};
    for (const auto& lengths : pieces) {
      GPTCache cache = wide.start(), small = single.start();
      const Tensor full = wide(tokens), f32 = single(tokens);
      std::int64_t at = 0;
      for (const std::int64_t n : lengths) {
        CHECK(cache.length() == at);
        const Tensor piece = slice(tokens, 1, at, at + n);
        CHECK(gap(wide.step(piece, cache), slice(full, 1, at, at + n)) < 1e-12);
        CHECK(gap(single.step(piece, small), slice(f32, 1, at, at + n)) < 1e-5);
        at += n;
      }
      CHECK(contains(error_of([&] { wide.step(slice(tokens, 1, 0, 1), cache); }), "the maximum length is 10"));
    }
  }
}

TEST_CASE("A cached pass has the gradients of the full pass") {
  GPT m = tiny_gpt();
  to(m, DType::f64);
  const Tensor tokens = randint(0, 11, {2, 5});
  const std::vector<Tensor> wrt = parameters(m);
  const Tensor weights = randn({2, 5, 11}, DType::f64);
  const std::vector<Tensor> full = grad(sum(m(tokens) * weights), wrt);
  GPTCache cache = m.start();
  std::vector<Tensor> logits;
  for (std::int64_t t = 0; t < 5; ++t) logits.push_back(m.step(slice(tokens, 1, t, t + 1), cache));
  const std::vector<Tensor> stepped = grad(sum(concat(logits, 1) * weights), wrt);
  for (std::size_t i = 0; i < wrt.size(); ++i) CHECK(gap(full[i], stepped[i]) < 1e-12);
}

TEST_CASE("A copy of a cache goes its own way") {
  const NoGrad guard;
  const GPT m = tiny_gpt();
  GPTCache one = m.start();
  m.step(indices(std::vector<std::int64_t>{1, 2}, {1, 2}), one);
  GPTCache other = one;
  const auto next = [&](GPTCache& cache, std::int64_t token) {
    return m.step(indices(std::vector<std::int64_t>{token}, {1, 1}), cache);
  };
  next(one, 3);
  next(other, 4);
  const Tensor expected = m(indices(std::vector<std::int64_t>{1, 2, 3, 5}, {1, 4}));
  CHECK(gap(next(one, 5), slice(expected, 1, 3)) < 1e-5);
  CHECK(contains(error_of([&] { m.step(zeros({2, 1}).to(DType::i64), one); }), "a cache serves one batch"));
}

TEST_CASE("A09: decoding an encoder-decoder step by step reproduces the full pass, with padded sources") {
  const NoGrad guard;
  for (const Positions positions : {Positions::none, Positions::sinusoidal, Positions::learned}) {
    Seq2Seq m = tiny_seq2seq({.positions = positions});
    to(m, DType::f64);
    const Tensor source = indices(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 0, 0}, {2, 4});
    const Tensor target = randint(1, 9, {2, 6});
    const Tensor full = m(source, target);
    Seq2SeqCache cache = m.start(m.encode(source));
    for (std::int64_t t = 0; t < 6; ++t)
      CHECK(gap(m.step(slice(target, 1, t, t + 1), cache), slice(full, 1, t, t + 1)) < 1e-12);
    CHECK(cache.decoder.length() == 6);
  }
}

// ---- encoder-decoder

TEST_CASE("Padding in a source and in a target changes nothing") {
  Seq2Seq m = tiny_seq2seq();
  to(m, DType::f64);
  const Tensor source = randint(1, 9, {2, 4}), target = randint(1, 9, {2, 3});
  const Tensor zero = indices(std::vector<std::int64_t>{0, 0, 0, 0}, {2, 2});
  const Tensor plain = m(source, target);
  CHECK(gap(m(concat({source, zero}, 1), target), plain) < 1e-12);
  CHECK(gap(slice(m(source, concat({target, zero}, 1)), 1, 0, 3), plain) < 1e-12);
  // In front of the target it moves the positions; without any the result is the same again.
  Seq2Seq still = tiny_seq2seq({.positions = Positions::none});
  to(still, DType::f64);
  CHECK(gap(slice(still(source, concat({zero, target}, 1)), 1, 2), still(source, target)) < 1e-12);
}

TEST_CASE("The last layer's attention over the source comes with the logits on request") {
  const Seq2Seq m = tiny_seq2seq();
  const Tensor source = indices(std::vector<std::int64_t>{1, 2, 3, 0, 5, 6, 7, 8}, {2, 4});
  const Tensor target = randint(1, 9, {2, 3});
  const Attended y = m.with_weights(source, target);
  CHECK(gap(y.output, m(source, target)) < 1e-6);
  CHECK(y.weights.shape() == Shape{2, 2, 3, 4});
  CHECK(gap(sum(y.weights, -1), ones({2, 2, 3})) < 1e-6);
  CHECK(largest_of(slice(y.weights[0], -1, 3)) == 0);
}

TEST_CASE("O08: tied weights are listed once and their gradient is the sum of both uses") {
  Seq2Seq tied = tiny_seq2seq({.share_embeddings = true, .tie_output = true});
  to(tied, DType::f64);
  Seq2Seq loose = clone(tied);
  loose.source_embedding.weight = copy_of(tied.source_embedding.weight).requires_grad(true);
  loose.target_embedding.weight = copy_of(tied.source_embedding.weight).requires_grad(true);
  loose.output.weight = copy_of(tied.source_embedding.weight).requires_grad(true);
  CHECK(parameters(loose).size() == parameters(tied).size() + 2);
  const Tensor source = randint(1, 9, {2, 4}), target = randint(1, 9, {2, 3});
  backward(sum(tied(source, target)));
  backward(sum(loose(source, target)));
  const Tensor apart =
      loose.source_embedding.weight.grad() + loose.target_embedding.weight.grad() + loose.output.weight.grad();
  CHECK(gap(tied.source_embedding.weight.grad(), apart) < 1e-12);
  CHECK(contains(error_of([] { Seq2Seq({.source_vocabulary = 3, .target_vocabulary = 4, .share_embeddings = true}); }),
                 "vocabularies of 3 and 4 tokens cannot share"));
}

TEST_CASE("Learned positions are one table or two") {
  const Seq2Seq shared = tiny_seq2seq({.positions = Positions::learned, .share_positions = true});
  const Seq2Seq own = tiny_seq2seq({.positions = Positions::learned});
  CHECK(same_tensor(shared.source_positions->weight, shared.target_positions->weight));
  CHECK(parameters(own).size() == parameters(shared).size() + 1);
  CHECK(parameters(tiny_seq2seq()).size() == parameters(shared).size() - 1);
}

TEST_CASE("A GPT without tied head has one of its own, and biases are optional") {
  const GPT m({.vocabulary = 11, .context = 4, .layers = 1, .heads = 2, .width = 8, .bias = false, .tied = false});
  CHECK(names_of(named_parameters(m)) ==
        std::vector<std::string>{"wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.attn.c_attn.weight",
                                 "h.0.attn.c_proj.weight", "h.0.ln_2.weight", "h.0.mlp.c_fc.weight",
                                 "h.0.mlp.c_proj.weight", "ln_f.weight", "lm_head.weight"});
  CHECK(m(indices({1, 2, 3})).shape() == Shape{3, 11});
}
