#include "bench/by_hand.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::bench {
namespace {

constexpr float eps = 1e-5F;

// y = W x
template <std::size_t rows, std::size_t columns>
void multiply(const std::array<std::array<float, columns>, rows>& w, const std::array<float, columns>& x,
              std::array<float, rows>& y) {
  for (std::size_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += w[i][j] * x[j];
    y[i] = sum;
  }
}

// y = W x backward: dW += dy x^T, dx += W^T dy
template <std::size_t rows, std::size_t columns>
void multiply_backward(const std::array<std::array<float, columns>, rows>& w, const std::array<float, columns>& x,
                       const std::array<float, rows>& dy, std::array<std::array<float, columns>, rows>& dw,
                       std::array<float, columns>& dx) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      dw[i][j] += dy[i] * x[j];
      dx[j] += w[i][j] * dy[i];
    }
}

template <std::size_t n>
float inverse_root(const std::array<float, n>& x) {
  float sum = 0;
  for (const float v : x) sum += v * v;
  return 1 / std::sqrt(sum / n + eps);
}

// y = r x, r = 1 / sqrt(mean(x^2) + eps)
template <std::size_t n>
void normalise(const std::array<float, n>& x, std::array<float, n>& y) {
  const float r = inverse_root(x);
  for (std::size_t i = 0; i < n; ++i) y[i] = r * x[i];
}

// dx += r (dy - y mean(dy y))
template <std::size_t n>
void normalise_backward(const std::array<float, n>& x, const std::array<float, n>& y, const std::array<float, n>& dy,
                        std::array<float, n>& dx) {
  const float r = inverse_root(x);
  float mean = 0;
  for (std::size_t i = 0; i < n; ++i) mean += dy[i] * y[i] / n;
  for (std::size_t i = 0; i < n; ++i) dx[i] += r * (dy[i] - y[i] * mean);
}

void softmax(float* x, int n) {
  const float top = *std::max_element(x, x + n);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - top);
  for (int i = 0; i < n; ++i) x[i] /= sum;
}

constexpr int head_width = MicroGPTByHand::width / MicroGPTByHand::heads;
const float scale_of_scores = 1 / std::sqrt(static_cast<float>(head_width));

}  // namespace

MicroGPTByHand::MicroGPTByHand() {
  Generator random(0);
  float* const w = &weights_.wte[0][0];
  for (std::int64_t i = 0; i < parameters(); ++i) w[i] = static_cast<float>(0.08 * random.normal());
}

float MicroGPTByHand::forward(const std::vector<int>& tokens, int t) {
  Position& a = at_[static_cast<std::size_t>(t)];
  const Row &token = weights_.wte[static_cast<std::size_t>(tokens[static_cast<std::size_t>(t)])],
            &place = weights_.wpe[static_cast<std::size_t>(t)];
  for (std::size_t i = 0; i < width; ++i) a.sum[i] = token[i] + place[i];
  normalise(a.sum, a.x);
  normalise(a.x, a.attention_in);
  multiply(weights_.q, a.attention_in, a.q);
  multiply(weights_.k, a.attention_in, a.k);
  multiply(weights_.v, a.attention_in, a.v);
  a.attended = {};
  for (std::size_t head = 0; head < heads; ++head) {
    float* const s = a.weights[head].data();
    for (int j = 0; j <= t; ++j) {
      s[j] = 0;
      for (std::size_t i = head * head_width; i < (head + 1) * head_width; ++i)
        s[j] += scale_of_scores * a.q[i] * at_[static_cast<std::size_t>(j)].k[i];
    }
    softmax(s, t + 1);
    for (int j = 0; j <= t; ++j)
      for (std::size_t i = head * head_width; i < (head + 1) * head_width; ++i)
        a.attended[i] += s[j] * at_[static_cast<std::size_t>(j)].v[i];
  }
  multiply(weights_.projection, a.attended, a.y);
  for (std::size_t i = 0; i < width; ++i) a.y[i] += a.x[i];
  normalise(a.y, a.feed_in);
  multiply(weights_.up, a.feed_in, a.h);
  for (float& h : a.h) h = std::max(h, 0.0F);
  multiply(weights_.down, a.h, a.z);
  for (std::size_t i = 0; i < width; ++i) a.z[i] += a.y[i];
  multiply(weights_.head, a.z, a.p);
  softmax(a.p.data(), vocabulary);
  return -std::log(a.p[static_cast<std::size_t>(tokens[static_cast<std::size_t>(t) + 1])]);
}

void MicroGPTByHand::backward(const std::vector<int>& tokens, int t, float scale) {
  const auto now = static_cast<std::size_t>(t);
  Position& a = at_[now];
  for (float& p : a.p) p *= scale;  // d logits = (p - 1 at the target) / n
  a.p[static_cast<std::size_t>(tokens[now + 1])] -= scale;
  Row dz{}, dy{}, dx{}, d_in{}, d_attended{}, dq{};
  std::array<float, hidden> dh{};
  multiply_backward(weights_.head, a.z, a.p, gradients_.head, dz);
  multiply_backward(weights_.down, a.h, dz, gradients_.down, dh);
  for (std::size_t i = 0; i < hidden; ++i) dh[i] = a.h[i] > 0 ? dh[i] : 0;
  multiply_backward(weights_.up, a.feed_in, dh, gradients_.up, d_in);
  dy = dz;
  normalise_backward(a.y, a.feed_in, d_in, dy);
  multiply_backward(weights_.projection, a.attended, dy, gradients_.projection, d_attended);
  for (std::size_t head = 0; head < heads; ++head) {
    std::array<float, context> da{};
    float dot = 0;
    for (std::size_t j = 0; j <= now; ++j) {
      for (std::size_t i = head * head_width; i < (head + 1) * head_width; ++i) {
        da[j] += d_attended[i] * at_[j].v[i];
        dv_[j][i] += a.weights[head][j] * d_attended[i];
      }
      dot += da[j] * a.weights[head][j];
    }
    for (std::size_t j = 0; j <= now; ++j) {
      const float ds = scale_of_scores * a.weights[head][j] * (da[j] - dot);
      for (std::size_t i = head * head_width; i < (head + 1) * head_width; ++i) {
        dq[i] += ds * at_[j].k[i];
        dk_[j][i] += ds * a.q[i];
      }
    }
  }
  d_in = {};  // later positions have given all of dk and dv at this one
  multiply_backward(weights_.q, a.attention_in, dq, gradients_.q, d_in);
  multiply_backward(weights_.k, a.attention_in, dk_[now], gradients_.k, d_in);
  multiply_backward(weights_.v, a.attention_in, dv_[now], gradients_.v, d_in);
  dx = dy;
  normalise_backward(a.x, a.attention_in, d_in, dx);
  Row d_sum{};
  normalise_backward(a.sum, a.x, dx, d_sum);
  for (std::size_t i = 0; i < width; ++i) {
    gradients_.wte[static_cast<std::size_t>(tokens[now])][i] += d_sum[i];
    gradients_.wpe[now][i] += d_sum[i];
  }
}

void MicroGPTByHand::adam(float rate) {
  constexpr float b1 = 0.85F, b2 = 0.99F;
  ++steps_;
  const float c1 = 1 - std::pow(b1, static_cast<float>(steps_)), c2 = 1 - std::pow(b2, static_cast<float>(steps_));
  float *const w = &weights_.wte[0][0], *const g = &gradients_.wte[0][0], *const m = &means_.wte[0][0],
               *const v = &squares_.wte[0][0];
  for (std::int64_t i = 0; i < parameters(); ++i) {
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    w[i] -= rate * (m[i] / c1) / (std::sqrt(v[i] / c2) + 1e-8F);
  }
}

float MicroGPTByHand::step(const std::vector<int>& tokens, float rate) {
  const int n = std::min<int>(context, static_cast<int>(tokens.size()) - 1);
  gradients_ = {};
  dk_ = dv_ = {};
  float loss = 0;
  for (int t = 0; t < n; ++t) loss += forward(tokens, t) / static_cast<float>(n);
  for (int t = n - 1; t >= 0; --t) backward(tokens, t, 1 / static_cast<float>(n));
  adam(rate);
  return loss;
}

}  // namespace gradus::bench
