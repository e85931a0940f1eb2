#include "core/grad.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "study/derivation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace gradus;
using study::BackwardStep;
using study::Derivation;

namespace {

Tensor parameter(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return randn(shape, DType::f64, generator).requires_grad(true);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const NoGrad guard;
  return a.numel() == 0 ? 0 : gradus::max(gradus::abs(a - b)).item();
}

const BackwardStep& step(const Derivation& d, const std::string& name) {
  const auto it = std::find_if(d.backward.begin(), d.backward.end(), [&](const auto& s) { return s.name == name; });
  REQUIRE_MESSAGE(it != d.backward.end(), name);
  return *it;
}

// Z = softmax(X W_Q (X W_K)^T / sqrt(d)) X W_V
Derivation attention_derivation() {
  const Tensor x = parameter({5, 7}, 1), wq = parameter({7, 4}, 2), wk = parameter({7, 4}, 3),
               wv = parameter({7, 4}, 4);
  study::Record record;
  for (const auto& [name, t] :
       std::vector<std::pair<std::string, Tensor>>{{"X", x}, {"W_Q", wq}, {"W_K", wk}, {"W_V", wv}})
    record.name(name, t);
  const Tensor q = matmul(x, wq), k = matmul(x, wk), v = matmul(x, wv);
  const Tensor s = matmul(q, k.T()) / 2, a = softmax(s), z = matmul(a, v);
  for (const auto& [name, t] :
       std::vector<std::pair<std::string, Tensor>>{{"Q", q}, {"K", k}, {"V", v}, {"S", s}, {"A", a}, {"Z", z}})
    record.name(name, t);
  return study::derive(z, {x, wq, wk, wv}, {.seed = 3});
}

}  // namespace

TEST_CASE("the steps of attention are those of the textbook, in names, and all agree with differences") {
  const Derivation d = attention_derivation();
  CHECK(step(d, "d_A").line == "d_A = d_Z @ V.T");
  CHECK(step(d, "d_S").line == "d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))");
  CHECK(step(d, "d_V").line == "d_V = A.T @ d_Z");
  CHECK(step(d, "d_W_Q").line == "d_W_Q = X.T @ d_Q");
  CHECK(step(d, "d_X_via_Q").line == "d_X_via_Q = d_Q @ W_Q.T");
  CHECK(step(d, "d_X").kind == BackwardStep::Kind::total);
  CHECK(step(d, "d_X").parts.size() == 3);
  CHECK(d.crosses() == 0);
  for (const BackwardStep& s : d.backward) {
    INFO(s.line, "  ", s.verdict.difference, "  ", s.verdict.how);
    CHECK(s.verdict.ok);
    CHECK(s.verdict.difference < 1e-6);
  }
}

TEST_CASE("the gradients of a derivation are those of the engine") {
  const Tensor x = parameter({3, 4}, 1), w = parameter({4, 2}, 2);
  const auto f = [&] { return sum(tanh(matmul(x, w)) * sigmoid(matmul(x, w))); };
  const auto expected = grad(f(), {x, w});
  study::Record record;
  const Derivation d = study::derive(f(), {x, w});
  CHECK(largest_difference(d.value_of("d_x1"), expected[0]) < 1e-14);
  CHECK(largest_difference(d.value_of("d_x2"), expected[1]) < 1e-14);
}

TEST_CASE("deriving what was not recorded says so") {
  const Tensor x = parameter({2}, 1);
  CHECK_THROWS_WITH_AS(study::derive(sum(x), {x}), doctest::Contains("no study::Record lives"), Error);
}
