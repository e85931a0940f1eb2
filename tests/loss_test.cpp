// The losses at the points where other libraries went wrong, and at their edges.
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace gradus;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor leaf(Tensor x) { return x.requires_grad(true); }
Tensor f64(std::initializer_list<double> values, const Shape& shape) { return tensor(values, shape, DType::f64); }
std::vector<double> numbers(const Tensor& x) { return x.to_vector<double>(); }

void check_close(const Tensor& x, std::initializer_list<double> expected, double tolerance = 1e-6) {
  const std::vector<double> found = numbers(x);
  REQUIRE(found.size() == expected.size());
  std::size_t i = 0;
  for (const double e : expected) {
    if (std::isfinite(e)) CHECK(found[i] == doctest::Approx(e).epsilon(tolerance).scale(1));
    else CHECK(found[i] == e);
    ++i;
  }
}

bool all_zero(const Tensor& x) {
  for (const double v : numbers(x))
    if (v != 0) return false;
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

}  // namespace

TEST_CASE("a batch whose targets are all ignored has loss 0 and zero gradients, in every reduction") {
  in_both_modes([] {
    for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
      for (const double smoothing : {0.0, 0.1}) {
        const Tensor x = leaf(f64({1, -2, 0.5}, {1, 3}));
        const Tensor loss = cross_entropy(x, indices({-1}), {}, smoothing, -1, reduction);
        CHECK(loss.shape() == (reduction == Reduction::none ? Shape{1} : Shape{}));
        CHECK(all_zero(loss));
        CHECK(all_zero(grad(sum(loss), x)));
        const Tensor log_probs = leaf(f64({-1, -2, -0.5}, {1, 3}));
        const Tensor other = nll(log_probs, indices({-1}), {}, -1, reduction);
        CHECK(all_zero(other));
        CHECK(all_zero(grad(sum(other), log_probs)));
      }
  });
}

TEST_CASE("a batch of no rows has loss 0") {
  CHECK(cross_entropy(zeros({0, 3}), zeros({0}, DType::i64)).item() == 0);
  CHECK(nll(zeros({0, 3}), zeros({0}, DType::i64)).item() == 0);
}

TEST_CASE("targets whose classes all weigh 0 count for nothing") {
  in_both_modes([] {
    const Tensor x = leaf(f64({1, -2, 0.5, 0, 1, 2}, {2, 3})), w = f64({0, 1, 0}, {3});
    for (const double smoothing : {0.0, 0.2}) {
      const Tensor loss = cross_entropy(x, indices({0, 2}), w, smoothing);
      CHECK(loss.item() == 0);
      CHECK(all_zero(grad(loss, x)));
    }
  });
}

TEST_CASE("a bad target is an error that names target, position and class count") {
  const auto message = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) { return std::string(e.what()); }
    return std::string();
  };
  CHECK(
      message([] {
        cross_entropy(zeros({1, 5}), indices({-4}));
      }) ==
      "cross_entropy: target -4 at position [0] is out of range for 5 classes; use 0 to 4, or ignore_index = -100 for "
      "rows that do not count");
  const Tensor target = indices(std::vector<std::int64_t>{0, 1, 2, 0, 3, 1}, {2, 3});
  CHECK(message([&] {
          nll(zeros({2, 3, 3}), target);
        }).find("target 3 at position [1, 1] is out of range for 3 classes") != std::string::npos);
}

TEST_CASE("an ignored target may be any number, in every reduction") {
  in_both_modes([] {
    const Tensor x = f64({1, 2, 3, 3, 2, 1}, {2, 3});
    const double one = cross_entropy(f64({1, 2, 3}, {1, 3}), indices({2})).item();
    for (const Reduction reduction : {Reduction::mean, Reduction::sum})
      CHECK(cross_entropy(x, indices({2, 255}), {}, 0, 255, reduction).item() == doctest::Approx(one));
    check_close(cross_entropy(x, indices({2, 255}), {}, 0, 255, Reduction::none), {one, 0});
  });
}

TEST_CASE("weights, smoothing and ignored rows together equal the rows that count") {
  in_both_modes([] {
    const Tensor x = f64({1, -1, 0.5, 2, 0, -2, 9, 9, 9}, {3, 3}), w = ones({3}, DType::f64);
    const Tensor two = f64({1, -1, 0.5, 2, 0, -2}, {2, 3});
    for (const Reduction reduction : {Reduction::mean, Reduction::sum})
      CHECK(cross_entropy(x, indices({0, 1, -100}), w, 0.1, -100, reduction).item() ==
            doctest::Approx(cross_entropy(two, indices({0, 1}), w, 0.1, -100, reduction).item()).epsilon(1e-12));
  });
}

TEST_CASE("a weighted mean divides by the weights of the rows that count") {
  in_both_modes([] {
    const Tensor x = f64({2, 0, 2, 0}, {2, 2}), w = f64({1, 3}, {2});
    CHECK(cross_entropy(x, indices({0, 1}), w).item() == doctest::Approx(1.626928).epsilon(1e-6));
    CHECK(nll(log_softmax(x), indices({0, 1}), w).item() == doctest::Approx(1.626928).epsilon(1e-6));
  });
}

TEST_CASE("whatever an ignored row holds stays out of loss and gradient") {
  in_both_modes([] {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor x = leaf(f64({1, 2, nan, infinity}, {2, 2}));
    const Tensor loss = cross_entropy(x, indices({1, -100}));
    CHECK(loss.item() == doctest::Approx(std::log1p(std::exp(-1.0))));
    const double p = 1 / (1 + std::exp(1.0));
    check_close(grad(loss, x), {p, -p, 0, 0}, 1e-12);
    check_close(grad(loss, x, {}, {.create_graph = true}), {p, -p, 0, 0}, 1e-12);
  });
}

TEST_CASE("cross-entropy of large logits neither overflows nor loses the loss of a certain answer") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf(tensor({1e4, 1e4 - 1, -1e4}, {1, 3}, dtype));
    const Tensor loss = cross_entropy(x, indices({0}));
    CHECK(loss.item() == doctest::Approx(std::log1p(std::exp(-1.0))).epsilon(1e-6));
    const double p = 1 / (1 + std::exp(1.0));
    check_close(grad(loss, x), {-p, p, 0}, 1e-6);
  }
  // A class that cannot be (-inf) costs nothing unless it is the target.
  CHECK(cross_entropy(f64({0, -infinity}, {1, 2}), indices({0})).item() == 0);
  CHECK(cross_entropy(f64({0, -infinity}, {1, 2}), indices({1})).item() == infinity);
}

TEST_CASE("the classes are the last axis, whatever stands before it") {
  const Tensor x = randn({2, 3, 7}, DType::f64), target = randint(0, 7, {2, 3});
  CHECK(cross_entropy(x, target).item() ==
        doctest::Approx(cross_entropy(reshape(x, {6, 7}), reshape(target, {6})).item()).epsilon(1e-14));
  CHECK(cross_entropy(x, target, {}, 0, -100, Reduction::none).shape() == Shape{2, 3});
  CHECK(cross_entropy(select(select(x, 0, 1), 0, 2), select(select(target, 0, 1), 0, 2)).shape() == Shape{});
}

TEST_CASE("losses do not broadcast: the error names both shapes") {
  const Tensor prediction = tensor({1, 2}, {2, 1}), target = tensor({1, 2});
  for (const auto loss : {mse, l1, bce_with_logits}) {
    CHECK_THROWS_WITH_AS(loss(prediction, target, Reduction::mean), doctest::Contains("shape [2, 1], the target [2]"),
                         Error);
  }
  CHECK_THROWS_WITH_AS(huber(prediction, target), doctest::Contains("shape [2, 1], the target [2]"), Error);
  CHECK_THROWS_WITH_AS(kl_div(prediction, target), doctest::Contains("shape [2, 1], the target [2]"), Error);
  CHECK(mse(reshape(prediction, {2}), target).item() == 0);
}

TEST_CASE("binary cross-entropy is right at the ends and has the right gradient at 0") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = leaf(tensor({100, 100, -100, 0, 0, -infinity, -infinity, infinity}, dtype));
    const Tensor t = leaf(tensor({1, 0, 0, 0, 1, 0.9, 0, 1}, dtype));
    const Tensor loss = bce_with_logits(x, t, Reduction::none);
    check_close(loss, {0, 100, 0, 0.693147, 0.693147, infinity, 0, 0});
    check_close(grad(loss, x, ones_like(loss)), {0, 1, 0, 0.5, -0.5, -0.9, 0, 0});
    check_close(grad(loss, x, ones_like(loss), {.create_graph = true}), {0, 1, 0, 0.5, -0.5, -0.9, 0, 0});
    check_close(grad(loss, t, ones_like(loss)), {-100, -100, 100, 0, 0, infinity, infinity, -infinity});
  }
  CHECK(std::isnan(bce_with_logits(tensor({std::nan("")}), tensor({0.5})).item()));
  // The loss of a nearly certain answer keeps its digits.
  CHECK(bce_with_logits(tensor({30}), tensor({1})).item() == doctest::Approx(9.3576e-14).epsilon(1e-4).scale(0));
}

TEST_CASE("at their kinks l1 has slope 0 and huber meets its line smoothly") {
  const Tensor x = leaf(f64({1, 2, -3}, {3})), t = f64({1, 1, 1}, {3});
  check_close(grad(l1(x, t, Reduction::sum), x), {0, 1, -1});
  check_close(huber(x, t, 1, Reduction::none), {0, 0.5, 3.5});
  check_close(grad(huber(x, t, 1, Reduction::sum), x), {0, 1, -1});
  check_close(grad(huber(x, t, 10, Reduction::sum), x), {0, 1, -4});
}

TEST_CASE("a probability of 0 costs nothing in kl_div") {
  const Tensor x = leaf(f64({-infinity, std::log(0.5)}, {2})), p = f64({0, 1}, {2}), u = f64({-infinity, 0}, {2});
  CHECK(kl_div(x, p, false, Reduction::sum).item() == doctest::Approx(std::log(2.0)));
  CHECK(kl_div(x, u, true, Reduction::sum).item() == doctest::Approx(std::log(2.0)));
  check_close(grad(kl_div(x, p, false, Reduction::sum), x), {0, -1});
  check_close(grad(kl_div(x, u, true, Reduction::sum), x), {0, -1});
  const Tensor log_target = leaf(u);
  check_close(grad(kl_div(x, log_target, true, Reduction::sum), log_target), {0, 1 + std::log(2.0)});
  // The mean is over elements, not over rows.
  CHECK(kl_div(f64({0, 0}, {1, 2}), f64({1, 1}, {1, 2}) * std::exp(1.0)).item() == doctest::Approx(std::exp(1.0)));
}

TEST_CASE("the mean of no elements is NaN, their sum 0") {
  CHECK(std::isnan(mse(zeros({0, 3}), zeros({0, 3})).item()));
  CHECK(mse(zeros({0, 3}), zeros({0, 3}), Reduction::sum).item() == 0);
}

TEST_CASE("losses of a million elements have the same bits on any number of threads") {
  const Tensor x = leaf(randn({1000, 1000})), t = randn({1000, 1000}), target = randint(0, 1000, {1000});
  const int before = threads();
  std::vector<double> first;
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    std::vector<double> found = {mse(x, t).item(), cross_entropy(x, target, {}, 0.1).item()};
    const std::vector<double> dx = numbers(grad(cross_entropy(x, target, {}, 0.1), x));
    found.insert(found.end(), dx.begin(), dx.begin() + 5000);
    if (first.empty()) first = found;
    CHECK(found == first);
  }
  set_threads(before);
}
