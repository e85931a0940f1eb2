// layer_norm, rms_norm, linear and dropout at the points where other libraries went wrong.
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;

namespace {

Tensor leaf(Tensor x) { return x.requires_grad(true); }
std::vector<double> numbers(const Tensor& x) { return x.to_vector<double>(); }

void check_close(const Tensor& x, std::initializer_list<double> expected, double tolerance = 1e-6) {
  const std::vector<double> found = numbers(x);
  REQUIRE(found.size() == expected.size());
  std::size_t i = 0;
  for (const double e : expected) CHECK(found[i++] == doctest::Approx(e).epsilon(tolerance));
}

bool all_are(const Tensor& x, double value) {
  for (const double v : numbers(x))
    if (v != value) return false;
  return true;
}

// Calls check once with the kernels and once with the compositions that define them.
template <class F>
void in_both_modes(F&& check) {
  SUBCASE("kernel") { check(); }
  SUBCASE("reference") {
    const ReferenceMode guard;
    check();
  }
}

double variance(const std::vector<double>& x) {
  double mean = 0, square = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) square += (v - mean) * (v - mean) / static_cast<double>(x.size());
  return square;
}

}  // namespace

TEST_CASE("layer_norm of rows far from 0 is as right as of rows near it") {
  in_both_modes([] {
    for (const double offset : {0.0, 40000.0, 80000.0}) {
      const Tensor x = tensor({offset, offset + 1, offset + 2, offset + 3});
      check_close(layer_norm(x), {-1.341635, -0.447212, 0.447212, 1.341635});
    }
    const Tensor narrow = randn({32768}, DType::f64) * 0.01 + 100.0;
    // The f32 numbers themselves are rounded: compare with f64 of the same numbers.
    const Tensor rounded = cast(narrow, DType::f32);
    const std::vector<double> found = numbers(layer_norm(rounded)),
                              right = numbers(layer_norm(cast(rounded, DType::f64)));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - right[i]));
    // The largest values are near 4, so this is 20 units in the last place; the composition rounds the mean to f32.
    CHECK(worst < (reference_mode() ? 1e-3 : 1e-5));
    CHECK(variance(found) == doctest::Approx(1e-4 / (1e-4 + 1e-5)).epsilon(0.02));
  });
}

TEST_CASE("layer_norm of a constant row is exactly the bias") {
  const Tensor bias = randn({256}), weight = randn({256});
  CHECK(numbers(layer_norm(full({256}, 1234.0), weight, bias)) == numbers(bias));
  CHECK(all_are(layer_norm(full({256}, 0.1)), 0));
  // The composition rounds the mean of seven 0.1 by half a unit, which 1/sqrt(eps) = 316 then scales.
  const Tensor constant = layer_norm(full({3, 7}, 0.1, DType::f64));
  if (reference_mode()) CHECK(max(abs(constant)).item() < 1e-13);
  else CHECK(all_are(constant, 0));
}

TEST_CASE("epsilon stands inside the root, and the variance divides by n") {
  in_both_modes([] {
    const Tensor x = leaf(zeros({4}, DType::f64));
    const Tensor seed = tensor({1, 0, 0, 0}, DType::f64);
    check_close(grad(layer_norm(x), x, seed), {237.1708, -79.0569, -79.0569, -79.0569}, 1e-6);
    check_close(layer_norm(tensor({0, 1, 2, 3}, DType::f64)), {-1.341635, -0.447212, 0.447212, 1.341635});
    check_close(grad(rms_norm(x), x, seed) + 1, {317.227766, 1, 1, 1}, 1e-6);
  });
}

TEST_CASE("rms_norm neither overflows nor subtracts the mean") {
  // The composition squares in f32, so only the kernel reaches beyond 1e19.
  if (!reference_mode()) check_close(rms_norm(tensor({3e30, 4e30, 0, 0})), {1.2, 1.6, 0, 0});
  check_close(rms_norm(tensor({3e10, 4e10, 0, 0})), {1.2, 1.6, 0, 0});
  check_close(rms_norm(tensor({2, 2, 2}), {}, 0), {1, 1, 1});
}

TEST_CASE("NaN and infinity stay in their row") {
  const Tensor y = layer_norm(tensor({{1, 2, INFINITY}, {1, 2, 3}}));
  const Tensor z = rms_norm(tensor({{1, 2, NAN}, {1, 2, 3}}));
  for (int i = 0; i < 3; ++i) {
    CHECK(std::isnan(y.at({0, i})));
    CHECK(std::isfinite(y.at({1, i})));
    CHECK(std::isnan(z.at({0, i})));
    CHECK(std::isfinite(z.at({1, i})));
  }
}

TEST_CASE("gradients of the parameters have the same bits on any number of threads") {
  const Tensor x = leaf(randn({3000, 70})), w = leaf(randn({70})), b = leaf(randn({70})), c = randn({3000, 70});
  const int before = threads();
  std::vector<std::vector<double>> first;
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    std::vector<std::vector<double>> found;
    for (const Tensor& d : grad(layer_norm(x, w, b), {x, w, b}, c)) found.push_back(numbers(d));
    for (const Tensor& d : grad(rms_norm(x, w), {x, w}, c)) found.push_back(numbers(d));
    if (first.empty()) first = found;
    CHECK(found == first);
  }
  set_threads(before);
}

TEST_CASE("linear of no rows and of no features keeps shapes, and its gradients are zeros") {
  in_both_modes([] {
    const Tensor x = leaf(zeros({0, 8})), w = leaf(randn({3, 8})), b = leaf(randn({3}));
    const Tensor y = linear(x, w, b, Activation::relu);
    CHECK(y.shape() == Shape{0, 3});
    const std::vector<Tensor> d = grad(y, {x, w, b}, zeros({0, 3}));
    CHECK(d[0].shape() == Shape{0, 8});
    CHECK(d[1].shape() == Shape{3, 8});
    CHECK(all_are(d[1], 0));
    CHECK(all_are(d[2], 0));
    const Tensor empty = zeros({2, 0}), none = zeros({3, 0});
    CHECK(numbers(select(linear(empty, none, b), 0, 1)) == numbers(b));
  });
}

TEST_CASE("linear is the same through its activation as before it") {
  const Tensor x = randn({2, 5, 4}, DType::f64), w = randn({6, 4}, DType::f64), b = randn({6}, DType::f64);
  const Tensor z = matmul(x, transpose(w)) + b;
  const auto same = [](const Tensor& a, const Tensor& c) { return sum(abs(a - c)).item() < 1e-13; };
  CHECK(same(linear(x, w, b), z));
  CHECK(same(linear(x, w, b, Activation::relu), relu(z)));
  CHECK(same(linear(x, w, b, Activation::gelu), gelu(z)));
  CHECK(same(linear(x, w, b, Activation::gelu_tanh), gelu_tanh(z)));
  CHECK(same(linear(x, w, b, Activation::silu), silu(z)));
  CHECK(std::isnan(linear(full({1, 1}, NAN), ones({1, 1}), {}, Activation::relu).item()));
}

TEST_CASE("dropout scales what it keeps by 1 / (1 - p)") {
  seed(1);
  const Tensor y = dropout(ones({100000}), 0.1);
  std::int64_t kept = 0;
  for (const double v : numbers(y)) {
    CHECK((v == 0 || v == doctest::Approx(1.111111)));
    kept += v != 0;
  }
  CHECK(kept > 89500);  // five standard deviations are 474
  CHECK(kept < 90500);
}

TEST_CASE("dropout of everything is zeros with zero gradients, of nothing is x itself") {
  const Tensor x = leaf(tensor({1, INFINITY, NAN, -2}));
  const Tensor y = dropout(x, 1);
  CHECK(all_are(y, 0));
  CHECK(all_are(grad(y, x, ones({4})), 0));
  CHECK(dropout(x, 0).data<float>() == x.data<float>());
  CHECK_THROWS_WITH_AS(dropout(x, -0.1), doctest::Contains("p is -0.1"), Error);
  CHECK_THROWS_WITH_AS(dropout(x, NAN), doctest::Contains("p is nan"), Error);
}

TEST_CASE("the mask of backward is that of forward, and one seed gives one mask on any number of threads") {
  const int before = threads();
  std::vector<double> first;
  for (const int count : {1, 2, 8}) {
    set_threads(count);
    seed(1);
    const Tensor x = leaf(ones({300, 301}));
    const Tensor y = dropout(x, 0.3);
    CHECK(numbers(grad(y, x, ones({300, 301}))) == numbers(y));
    if (first.empty()) first = numbers(y);
    CHECK(numbers(y) == first);
    const Tensor again = dropout(x, 0.3);
    CHECK(numbers(again) != first);  // another call, another mask
  }
  set_threads(before);
  seed(1);
  const Philox random{default_generator().key()};
  seed(1);
  const std::vector<double> y = numbers(dropout(ones({1000}), 0.3));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK((y[i] == 0) == (random.uniform(i) < 0.3));
}

TEST_CASE("dropout reads its input in row-major order, whatever the layout") {
  const Tensor x = randn({5, 7});
  seed(3);
  const std::vector<double> plain = numbers(dropout(contiguous(transpose(x)), 0.5));
  seed(3);
  CHECK(numbers(dropout(transpose(x), 0.5)) == plain);
}
