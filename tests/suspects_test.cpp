// Slips in the rules on the way to a gradient, found by running the derivation's own lines again with one fault.
#include "study/suspects.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "file_helpers.hpp"
#include "study/difference.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using gradus::test::contains;
using study::Derivation;
using study::Guess;
using study::Record;
using study::Slip;

namespace {

/// The slip in what was claimed under that name.
Guess slip_of(const Derivation& d, const char* name, const Tensor& claimed) {
  for (std::size_t i = 0; i < d.backward.size(); ++i)
    if (d.backward[i].name == name)
      return study::find_slip(claimed, d.backward[i].value.detach(), study::slip_context(d, static_cast<int>(i)));
  FAIL("no line " << name);
  return {};
}

struct Attention {
  static constexpr std::int64_t length = 5, width = 7, head = 4;
  Generator generator{7};
  Tensor X = leaf({length, width}), W_Q = leaf({width, head}), W_K = leaf({width, head}), W_V = leaf({width, head});
  Derivation derivation;
  Tensor leaf(const Shape& shape) { return randn(shape, DType::f64, generator).requires_grad(true); }
  Tensor operator[](const char* name) const { return derivation.value_of(name).detach(); }

  Attention() {
    Record record;
    record.name("X", X), record.name("W_Q", W_Q), record.name("W_K", W_K), record.name("W_V", W_V);
    const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
    const Tensor S = matmul(Q, K.T()) / std::sqrt(static_cast<double>(head)), A = softmax(S), Z = matmul(A, V);
    record.name("Q", Q), record.name("K", K), record.name("V", V), record.name("S", S), record.name("A", A);
    record.name("Z", Z);
    derivation = study::derive(Z, {W_Q, W_K, W_V, X}, {.verify = false});
  }
};

const Attention& attention() {
  static const Attention once;
  return once;
}

}  // namespace

TEST_CASE("the elementwise softmax rule is a row sum, at its own line and carried on into dW_Q") {
  const Attention& v4 = attention();
  const Tensor A = v4["A"], dA = v4["d_A"], K = v4["K"], X = v4.X.detach();
  const Tensor elementwise = dA * A * (1.0 - A);
  Guess f = slip_of(v4.derivation, "d_S", elementwise);
  CHECK(f.slip == Slip::row_sum);
  CHECK(contains(f.sentence, "diagonal"));
  CHECK(slip_of(v4.derivation, "d_S", A * (1.0 - A)).slip == Slip::row_sum);
  CHECK(slip_of(v4.derivation, "d_S", A * dA).slip == Slip::row_sum);
  f = slip_of(v4.derivation, "d_W_Q", matmul(X.T(), matmul(elementwise, K)) / 2.0);
  CHECK(f.slip == Slip::row_sum);
  CHECK(contains(f.sentence, "d_S = A * (d_A - sum("));
  CHECK(slip_of(v4.derivation, "d_W_K", matmul(X.T(), matmul((A * dA).T(), v4["Q"])) / 2.0).slip == Slip::row_sum);
  f = slip_of(v4.derivation, "d_W_Q", matmul(X.T(), matmul(elementwise, K)));
  CHECK(f.slip == Slip::row_sum);
  CHECK(contains(f.sentence, "and besides a factor sqrt(4)"));
}

TEST_CASE("a missing scale is a scale with the name of the square root") {
  const Attention& v4 = attention();
  const Guess f = slip_of(v4.derivation, "d_W_Q", matmul(v4.X.detach().T(), matmul(v4["d_S"], v4["K"])));
  CHECK(f.slip == Slip::scale);
  CHECK(f.ratio == doctest::Approx(2).epsilon(1e-12));
  CHECK(contains(f.sentence, "sqrt(4) = 2 times the right value: a factor 1/sqrt(4) is missing"));
}

TEST_CASE("a missing transposition is found where it happened, also two lines before the claim") {
  const Attention& v4 = attention();
  const Tensor dS = v4["d_S"], Q = v4["Q"], X = v4.X.detach();
  Guess f = slip_of(v4.derivation, "d_K", matmul(dS, Q) / 2.0);
  CHECK(f.slip == Slip::transpose);
  f = slip_of(v4.derivation, "d_W_K", matmul(X.T(), matmul(dS, Q)) / 2.0);
  CHECK(f.slip == Slip::transpose);
  CHECK(slip_of(v4.derivation, "d_V", matmul(v4["A"], v4["d_Z"])).slip == Slip::transpose);
  CHECK(slip_of(v4.derivation, "d_A", matmul(v4["d_Z"], v4["V"].T()).T()).slip == Slip::transpose);
  CHECK(slip_of(v4.derivation, "d_W_Q", matmul(v4["Q"].T(), X)).slip == Slip::shape);
}

TEST_CASE("forgotten paths are found at the sum and below it") {
  const Attention& v4 = attention();
  const Tensor viaQ = v4["d_X_via_Q"], viaK = v4["d_X_via_K"], viaV = v4["d_X_via_V"];
  Guess f = slip_of(v4.derivation, "d_X", viaQ + viaV);
  CHECK(f.slip == Slip::path);
  CHECK(contains(f.sentence, "d_X_via_K is forgotten"));
  CHECK(slip_of(v4.derivation, "d_X", viaV).slip == Slip::path);
  CHECK(slip_of(v4.derivation, "d_X", viaQ - viaK + viaV).slip == Slip::sign);
  Generator generator(1);
  Tensor x = randn({3, 3}, DType::f64, generator).requires_grad(true);
  Record record;
  const Tensor u = x * 3.0;
  record.name("x", x), record.name("u", u);
  const Tensor y = sum(sin(u) * u);
  const Derivation d = study::derive(y, {x}, {.verify = false});
  const Tensor U = u.detach();
  CHECK(slip_of(d, "d_x", 3.0 * sin(U)).slip == Slip::path);
  CHECK(slip_of(d, "d_x", 3.0 * U * cos(U)).slip == Slip::path);
}

TEST_CASE("a bias gradient that was not summed, or of which one row was taken, is broadcast") {
  Generator generator(2);
  Tensor x = randn({5, 3}, DType::f64, generator), w = randn({3, 4}, DType::f64, generator).requires_grad(true);
  Tensor b = randn({4}, DType::f64, generator).requires_grad(true);
  Record record;
  record.name("X", x), record.name("W", w), record.name("b", b);
  const Tensor y = tanh(matmul(x, w) + b);
  record.name("Y", y);
  const Derivation d = study::derive(y, {w, b}, {.verify = false});
  const Tensor local = d.cotangent * (1.0 - y.detach() * y.detach());
  CHECK(slip_of(d, "d_b", local).slip == Slip::broadcast);
  CHECK(slip_of(d, "d_b", select(local, 0, 0)).slip == Slip::broadcast);
  const Guess f = slip_of(d, "d_b", mean(local, 0));
  CHECK(f.slip == Slip::scale);
  CHECK(contains(f.sentence, "1/5"));
}

TEST_CASE("layer norm without the mean of the row, and log-softmax without its sum, are row sums") {
  Generator generator(4);
  Tensor x = randn({3, 5}, DType::f64, generator).requires_grad(true);
  {
    Record record;
    record.name("x", x);
    const Tensor centred = x - mean(x, -1, keepdim);
    const Derivation d = study::derive(centred, {x}, {.verify = false});
    CHECK(slip_of(d, "d_x", d.cotangent).slip == Slip::row_sum);
  }
  {
    Record record;
    record.name("x", x);
    const Tensor y = layer_norm(x);
    const Derivation d = study::derive(y, {x}, {.verify = false});
    const Tensor mean_free = d.value_of("d_x") - mean(d.value_of("d_x"), -1, keepdim);
    CHECK(study::difference_of(mean_free, d.value_of("d_x")).largest < 1e-12);
    const Tensor s = rsqrt(var(x.detach(), -1, 0, keepdim) + 1e-5), h = y.detach(), g = d.cotangent;
    CHECK(slip_of(d, "d_x", s * (g - h * mean(g * h, -1, keepdim))).slip == Slip::row_sum);
    CHECK(slip_of(d, "d_x", s * g).slip == Slip::row_sum);
  }
  Record record;
  record.name("x", x);
  const Tensor y = log_softmax(x);
  record.name("L", y);
  const Derivation d = study::derive(y, {x}, {.verify = false});
  CHECK(slip_of(d, "d_x", d.cotangent).slip == Slip::row_sum);
  CHECK(slip_of(d, "d_x", d.cotangent * (1.0 - exp(y.detach()))).slip == Slip::row_sum);
}
