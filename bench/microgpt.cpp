// A GPT of 4,192 parameters that learns to spell names, one name a step: where every microsecond of overhead counts.
// Token plus position embedding, RMS norm (no gain) after their sum and before attention and feed-forward, none at the
// end, no biases, relu, an output matrix of its own; Adam with a rate that falls along a line from 0.01.
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

struct Example {
  Tensor tokens, next;
};

// stop, letters -> letters, stop; at most `context` positions.
Example example(const std::string& name) {
  std::vector<double> all{stop};
  for (const char c : name) all.push_back(c - 'a');
  all.push_back(stop);
  const std::size_t n = std::min<std::size_t>(context, all.size() - 1);
  const Shape shape{static_cast<std::int64_t>(n)};
  const std::span<const double> span(all);
  return {tensor(span.first(n), shape, DType::i64), tensor(span.subspan(1, n), shape, DType::i64)};
}

Prepared microgpt(const Setup& setup) {
  seed(0);
  std::vector<std::string> names = setup.file.empty() ? made_up_names() : read_names(setup.file);
  Generator random(1);
  for (std::size_t i = names.size() - 1; i > 0; --i)
    std::swap(names[i], names[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) + 1))]);
  auto data = std::make_shared<std::vector<Example>>();
  for (const std::string& name : names) data->push_back(example(name));
  const MicroGPT model;
  const auto optimizer =
      std::make_shared<Adam>(nn::parameters(model), AdamOptions{.learning_rate = 0.01, .beta1 = 0.85, .beta2 = 0.99});
  const std::int64_t at_once = setup.small ? 1 : 100;  // names differ in length: times of single steps would, too
  auto t = std::make_shared<std::int64_t>(0);
  const Schedule rate = schedule::linear(0.01, 0, steps);
  const auto some_steps = [=] {
    for (std::int64_t i = 0; i < at_once; ++i, ++*t) {
      const Example& e = (*data)[static_cast<std::size_t>(*t) % data->size()];
      optimizer->zero_grad();
      optimizer->set_learning_rate(rate(*t % steps));
      backward(cross_entropy(model(e.tokens), e.next));
      optimizer->step();
    }
  };
  return {some_steps, static_cast<double>(steps) / static_cast<double>(at_once), nn::count(model)};
}

}  // namespace

std::vector<Workload> microgpts() {
  return {{"microgpt", "a GPT of width 16 learns names: time of 10,000 steps, one thread (--file: the names)", microgpt,
           1}};
}

}  // namespace gradus::bench
