// A GPT of 4,192 parameters that learns to spell names, one name a step: where every microsecond of overhead counts.
// Token plus position embedding, RMS norm (no gain) after their sum and before attention and feed-forward, none at the
// end, no biases, relu, an output matrix of its own; Adam with a rate that falls along a line from 0.01.
#include "bench/by_hand.hpp"
#include "bench/scalar_gpt.hpp"
#include "bench/workloads.hpp"
#include "core/arrays.hpp"
#include "nn/embedding.hpp"
#include "nn/heads.hpp"
#include "nn/linear.hpp"
#include "nn/positions.hpp"
#include "optim/adam.hpp"
#include "optim/schedule.hpp"

#include <algorithm>
#include <fstream>
#include <memory>

namespace gradus::bench {
namespace {

constexpr std::int64_t width = 16, heads = 4, context = 16, vocabulary = 27, stop = 26, steps = 10'000;
constexpr double deviation = 0.08;

nn::Linear drawn(std::int64_t in, std::int64_t out) {
  nn::Linear layer(in, out, false);
  const NoGrad guard;
  layer.weight = (randn({out, in}) * deviation).requires_grad(true);
  return layer;
}

struct MicroGPT {
  nn::Embedding wte{vocabulary, width, {}, deviation};
  nn::LearnedPositions wpe{context, width, deviation};
  nn::Linear qkv = drawn(width, 3 * width), projection = drawn(width, width);
  nn::Linear up = drawn(width, 4 * width), down = drawn(4 * width, width);
  nn::Linear head = drawn(width, vocabulary);

  Tensor operator()(const Tensor& tokens) const {
    Tensor x = rms_norm(wpe(wte(tokens)));
    const nn::Projected p = nn::project_packed(rms_norm(x), qkv.weight, {}, heads);
    x = x + projection(nn::merge_heads(attention(p.q, p.k, p.v, {}, {}, true)));
    x = x + down(up(rms_norm(x), Activation::relu));
    return head(x);
  }
  void parts(auto&& f) {
    f("wte", wte);
    f("wpe", wpe);
    f("qkv", qkv);
    f("projection", projection);
    f("up", up);
    f("down", down);
    f("head", head);
  }
};

// Names of 2 to 11 letters, about as long as real ones.
std::vector<std::string> made_up_names() {
  Generator random(0);
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    std::string name;
    const std::int64_t letters = (random.integer(2, 12) + random.integer(2, 12)) / 2;
    while (static_cast<std::int64_t>(name.size()) < letters) {
      name += "bcdfghjklmnprstvz"[random.integer(0, 17)];
      name += "aeiouy"[random.integer(0, 6)];
    }
    names.push_back(name.substr(0, static_cast<std::size_t>(letters)));
  }
  return names;
}

std::vector<std::string> read_names(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("microgpt: cannot read {}; give a file of names, one a line", path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (!std::all_of(line.begin(), line.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
      fail("microgpt: '{}' in {} is not a name of the letters a to z", line, path);
    names.push_back(line);
  }
  if (names.empty()) fail("microgpt: {} holds no names", path);
  return names;
}

// One name each, in random order: stop, letters, stop; at most `context` positions to predict.
std::vector<std::vector<int>> sequences(const Setup& setup) {
  std::vector<std::string> names = setup.file.empty() ? made_up_names() : read_names(setup.file);
  Generator random(1);
  for (std::size_t i = names.size() - 1; i > 0; --i)
    std::swap(names[i], names[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) + 1))]);
  std::vector<std::vector<int>> list;
  for (const std::string& name : names) {
    std::vector<int> tokens{stop};
    for (const char c : name) tokens.push_back(c - 'a');
    tokens.push_back(stop);
    tokens.resize(std::min<std::size_t>(context + 1, tokens.size()));
    list.push_back(std::move(tokens));
  }
  return list;
}

struct Example {
  Tensor tokens, next;
};

Example example(const std::vector<int>& all) {
  const std::vector<double> numbers(all.begin(), all.end());
  const std::span<const double> span(numbers);
  const Shape shape{static_cast<std::int64_t>(span.size()) - 1};
  return {tensor(span.first(span.size() - 1), shape, DType::i64), tensor(span.subspan(1), shape, DType::i64)};
}

// `train(t, rate)` a hundred times: names differ in length, so that times of single steps would differ, too.
template <class Train>
Prepared name_by_name(const Setup& setup, std::int64_t parameters, Train train) {
  const std::int64_t at_once = setup.small ? 1 : 100;
  const auto some_steps = [=, t = std::int64_t{0}, rate = schedule::linear(0.01, 0, steps)]() mutable {
    for (std::int64_t i = 0; i < at_once; ++i, ++t) train(static_cast<std::size_t>(t), rate(t % steps));
  };
  return {some_steps, static_cast<double>(steps) / static_cast<double>(at_once), parameters};
}

Prepared microgpt(const Setup& setup) {
  seed(0);
  std::vector<Example> data;
  for (const auto& tokens : sequences(setup)) data.push_back(example(tokens));
  const MicroGPT model;
  const auto optimizer =
      std::make_shared<Adam>(nn::parameters(model), AdamOptions{.learning_rate = 0.01, .beta1 = 0.85, .beta2 = 0.99});
  return name_by_name(setup, nn::count(model), [=, data = std::move(data)](std::size_t t, double rate) {
    const Example& e = data[t % data.size()];
    optimizer->zero_grad();
    optimizer->set_learning_rate(rate);
    backward(cross_entropy(model(e.tokens), e.next));
    optimizer->step();
  });
}

// The same without the library, for comparison.
template <class Model>
Prepared without_library(const Setup& setup) {
  const auto model = std::make_shared<Model>();
  const auto loss = std::make_shared<double>(0);
  const auto train = [model, loss, data = sequences(setup)](std::size_t t, double rate) {
    *loss = model->step(data[t % data.size()], static_cast<float>(rate));
  };
  Prepared prepared = name_by_name(setup, model->parameters(), train);
  prepared.loss = [loss] { return *loss; };
  return prepared;
}

}  // namespace

std::vector<Workload> microgpts() {
  return {
      {"microgpt", "a GPT of width 16 learns names: time of 10,000 steps, one thread (--file: the names)", microgpt, 1},
      {"microgpt_scalar", "the same without the library: a tape of single numbers, compiled with -Ofast",
       without_library<ScalarGPT>, 1},
      {"microgpt_by_hand", "the same without the library: loops with a backward pass derived by hand, -Ofast",
       without_library<MicroGPTByHand>, 1}};
}

}  // namespace gradus::bench
