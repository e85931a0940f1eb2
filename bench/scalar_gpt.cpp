#include "bench/scalar_gpt.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::bench {
namespace {

constexpr int width = 16, heads = 4, head_width = width / heads, context = 16, vocabulary = 27, hidden = 64;
// Where the matrices begin on the tape.
constexpr std::int32_t wte = 0, wpe = wte + vocabulary * width, wq = wpe + context * width, wk = wq + width * width,
                       wv = wk + width * width, projection = wv + width * width, up = projection + width * width,
                       down = up + hidden * width, head = down + width * hidden, end = head + vocabulary * width;

}  // namespace

void ScalarTape::restart(std::size_t n) {
  value.resize(n);
  entries_.resize(n);
  gradient.assign(n, 0);
}

void ScalarTape::backward(Var loss) {
  gradient.assign(value.size(), 0);
  gradient[static_cast<std::size_t>(loss.at)] = 1;
  for (std::size_t i = value.size(); i-- > 0;) {
    const Entry& e = entries_[i];
    gradient[static_cast<std::size_t>(e.a)] += e.slope_a * gradient[i];
    gradient[static_cast<std::size_t>(e.b)] += e.slope_b * gradient[i];
  }
}

ScalarGPT::ScalarGPT() : count_(end), means_(count_, 0.0F), squares_(count_, 0.0F) {
  Generator random(0);
  for (std::size_t i = 0; i < count_; ++i) tape_.leaf(static_cast<float>(0.08 * random.normal()));
}

ScalarGPT::Row ScalarGPT::linear(const Row& x, std::int32_t weight, int out) {
  Row y;
  for (int i = 0; i < out; ++i) {
    Var sum = tape_.mul({weight++}, x[0]);
    for (std::size_t j = 1; j < x.size(); ++j) sum = tape_.add(sum, tape_.mul({weight++}, x[j]));
    y.push_back(sum);
  }
  return y;
}

ScalarGPT::Row ScalarGPT::normalised(const Row& x) {
  Var sum = tape_.mul(x[0], x[0]);
  for (std::size_t i = 1; i < x.size(); ++i) sum = tape_.add(sum, tape_.mul(x[i], x[i]));
  const float n = static_cast<float>(x.size()), r = 1 / std::sqrt(tape_.of(sum) / n + 1e-5F);
  const Var root = tape_.map(sum, r, -0.5F * r * r * r / n);
  Row y;
  for (const Var v : x) y.push_back(tape_.mul(v, root));
  return y;
}

ScalarGPT::Row ScalarGPT::plus(Row x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = tape_.add(x[i], y[i]);
  return x;
}

ScalarGPT::Row ScalarGPT::softmax(const Row& x) {
  float top = tape_.of(x[0]);
  for (const Var v : x) top = std::max(top, tape_.of(v));
  Row y;
  for (const Var v : x) {
    const float e = std::exp(tape_.of(v) - top);
    y.push_back(tape_.map(v, e, e));
  }
  Var sum = y[0];
  for (std::size_t i = 1; i < y.size(); ++i) sum = tape_.add(sum, y[i]);
  const float r = 1 / tape_.of(sum);
  const Var inverse = tape_.map(sum, r, -r * r);
  for (Var& v : y) v = tape_.mul(v, inverse);
  return y;
}

// One query over the keys so far, head by head.
ScalarGPT::Row ScalarGPT::attend(const Row& q) {
  const float scale = 1 / std::sqrt(static_cast<float>(head_width));
  Row y;
  for (std::size_t first = 0; first < width; first += head_width) {
    Row scores;
    for (const Row& k : keys_) {
      Var s = tape_.mul(q[first], k[first]);
      for (std::size_t i = first + 1; i < first + head_width; ++i) s = tape_.add(s, tape_.mul(q[i], k[i]));
      scores.push_back(tape_.map(s, scale * tape_.of(s), scale));
    }
    const Row weights = softmax(scores);
    for (std::size_t i = first; i < first + head_width; ++i) {
      Var sum = tape_.mul(weights[0], values_[0][i]);
      for (std::size_t j = 1; j < weights.size(); ++j) sum = tape_.add(sum, tape_.mul(weights[j], values_[j][i]));
      y.push_back(sum);
    }
  }
  return y;
}

ScalarGPT::Var ScalarGPT::loss_at(const std::vector<int>& tokens, int t) {
  Row x;
  for (int i = 0; i < width; ++i)
    x.push_back(tape_.add({wte + tokens[static_cast<std::size_t>(t)] * width + i}, {wpe + t * width + i}));
  x = normalised(x);
  const Row in = normalised(x);
  keys_.push_back(linear(in, wk, width));
  values_.push_back(linear(in, wv, width));
  x = plus(linear(attend(linear(in, wq, width)), projection, width), x);
  Row h = linear(normalised(x), up, hidden);
  for (Var& v : h) v = tape_.map(v, std::max(tape_.of(v), 0.0F), tape_.of(v) > 0 ? 1.0F : 0.0F);
  x = plus(linear(h, down, width), x);
  const Var p = softmax(linear(x, head, vocabulary))[static_cast<std::size_t>(tokens[static_cast<std::size_t>(t) + 1])];
  return tape_.map(p, -std::log(tape_.of(p)), -1 / tape_.of(p));
}

void ScalarGPT::adam(float rate) {
  constexpr float b1 = 0.85F, b2 = 0.99F;
  ++steps_;
  const float c1 = 1 - std::pow(b1, static_cast<float>(steps_)), c2 = 1 - std::pow(b2, static_cast<float>(steps_));
  for (std::size_t i = 0; i < count_; ++i) {
    const float g = tape_.gradient[i];
    means_[i] = b1 * means_[i] + (1 - b1) * g;
    squares_[i] = b2 * squares_[i] + (1 - b2) * g * g;
    tape_.value[i] -= rate * (means_[i] / c1) / (std::sqrt(squares_[i] / c2) + 1e-8F);
  }
}

float ScalarGPT::step(const std::vector<int>& tokens, float rate) {
  const int n = std::min<int>(context, static_cast<int>(tokens.size()) - 1);
  tape_.restart(count_);
  keys_.clear();
  values_.clear();
  Var sum = loss_at(tokens, 0);
  for (int t = 1; t < n; ++t) sum = tape_.add(sum, loss_at(tokens, t));
  const Var loss = tape_.map(sum, tape_.of(sum) / static_cast<float>(n), 1 / static_cast<float>(n));
  tape_.backward(loss);
  adam(rate);
  return tape_.of(loss);
}

}  // namespace gradus::bench
