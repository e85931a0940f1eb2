#include "core/check.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;

namespace {

constexpr double inf = INFINITY;

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

Tensor leaf(std::initializer_list<double> x) { return tensor(x, DType::f64).requires_grad(true); }

// The gradient of sum(f(x)).
std::vector<double> slope(const Tensor& y, const Tensor& x) { return values(grad(y, x, ones_like(y))); }

std::vector<bool> where_nan(const Tensor& x) {
  std::vector<bool> is_nan;
  for (const double v : values(x)) is_nan.push_back(std::isnan(v));
  return is_nan;
}

}  // namespace

// ---- nothing to reduce

TEST_CASE("reductions of nothing: sum 0, prod 1, mean and var NaN, logsumexp -inf, max an error") {
  const Tensor x = zeros({2, 0}, DType::f64);
  CHECK(values(sum(x, 1)) == std::vector<double>{0, 0});
  CHECK(values(prod(x, 1)) == std::vector<double>{1, 1});
  CHECK(where_nan(mean(x, 1)) == std::vector<bool>{true, true});
  CHECK(where_nan(var(x, 1)) == std::vector<bool>{true, true});
  CHECK(values(logsumexp(x, 1)) == std::vector<double>{-inf, -inf});
  CHECK(values(norm(x, 2, 1)) == std::vector<double>{0, 0});
  CHECK(sum(x, 0).shape() == Shape{0});
  CHECK(max(x, 0).shape() == Shape{0});
  CHECK_THROWS_WITH_AS(max(x, 1), doctest::Contains("max: nothing to choose from in shape [2, 0]"), Error);
  CHECK_THROWS_WITH_AS(argmin(x), doctest::Contains("argmin: nothing to choose from in shape [2, 0]"), Error);
  Tensor leaf_x = zeros({2, 0}, DType::f64).requires_grad(true);
  for (const auto& f : {+[](const Tensor& t) { return sum(t, 1); }, +[](const Tensor& t) { return mean(t, 1); },
                        +[](const Tensor& t) { return prod(t, 1); }, +[](const Tensor& t) { return logsumexp(t, 1); }})
    CHECK(grad(f(leaf_x), leaf_x, ones({2}, DType::f64)).shape() == Shape{2, 0});
}

// ---- max and min

TEST_CASE("ties share the gradient of max and min evenly") {
  Tensor x = ones({4, 3}, DType::f64).requires_grad(true);
  CHECK(slope(max(x, 0), x) == std::vector<double>(12, 0.25));
  CHECK(slope(min(x, 1), x) == std::vector<double>(12, 1.0 / 3));
  const Tensor y = leaf({2, 5, 5, 1});
  CHECK(slope(y.max(), y) == std::vector<double>{0, 0.5, 0.5, 0});
  const Tensor z = leaf({3});
  CHECK(slope(max(stack({z, z}), 0), z) == std::vector<double>{1});
}

TEST_CASE("arg-ops take the first of equal elements, along an axis or in all") {
  const Tensor x = tensor({{1, 3, 3}, {3, 0, 0}});
  CHECK(values(argmax(x, 1)) == std::vector<double>{1, 0});
  CHECK(values(argmin(x, 1)) == std::vector<double>{0, 1});
  CHECK(values(argmax(x, 0)) == std::vector<double>{1, 0, 0});
  CHECK(argmax(x).item() == 1);
  CHECK(argmin(x).item() == 4);
  CHECK(argmax(x, {}, true).shape() == Shape{1, 1});
  CHECK(argmax(x, 0, true).shape() == Shape{1, 3});
}

TEST_CASE("NaN wins max, min and argmax at every length and place") {
  CHECK(argmax(tensor({1, NAN, 3})).item() == 1);
  CHECK(std::isnan(max(tensor({1, NAN})).item()));
  CHECK(std::isnan(min(full({5}, NAN)).item()));
  for (const std::int64_t n : {1, 2, 3, 8, 15, 31, 32, 33, 64, 100, 1000})
    for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2, n - 1}) {
      std::vector<double> x(static_cast<std::size_t>(n), 1);
      x[static_cast<std::size_t>(n - 1)] = 7;
      x[0] = -7;
      x[static_cast<std::size_t>(at)] = NAN;
      for (const DType dtype : {DType::f32, DType::f64}) {
        const Tensor t = tensor(x, {n}, dtype);
        CHECK(std::isnan(max(t).item()));
        CHECK(std::isnan(min(t).item()));
        CHECK(std::isnan(logsumexp(t).item()));
        CHECK(std::isnan(norm(t, inf).item()));
        CHECK(argmax(t).item() == static_cast<double>(at));
        CHECK(argmin(t).item() == static_cast<double>(at));
      }
    }
}

TEST_CASE("max and min find the element at every length and place, also among integers") {
  for (std::int64_t n = 1; n < 100; ++n)
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<double> x(static_cast<std::size_t>(n), -4);
      x[static_cast<std::size_t>(at)] = -3;
      for (const DType dtype : {DType::f32, DType::i64}) {
        const Tensor up = tensor(x, {n}, dtype), down = -up;
        CHECK(max(up).item() == -3);
        CHECK(argmax(up).item() == static_cast<double>(at));
        CHECK(min(down).item() == 3);
        CHECK(argmin(down).item() == static_cast<double>(at));
      }
    }
}

// ---- logarithms of sums

TEST_CASE("logsumexp of all -inf is -inf with zero gradients, and right beside it") {
  for (const bool graph : {false, true}) {
    Tensor x = tensor({{-inf, -inf}, {0, -inf}, {1, 1}}, DType::f64).requires_grad(true);
    const Tensor y = logsumexp(x, 1);
    CHECK(y.at({0}) == -inf);
    CHECK(y.at({1}) == 0);
    CHECK(y.at({2}) == doctest::Approx(1 + std::log(2)));
    const Tensor g = grad(y, x, ones_like(y), {.create_graph = graph});
    CHECK(difference(values(g), std::vector<double>{0, 0, 1, 0, 0.5, 0.5}) < 1e-15);
    CHECK(g.at({0, 0}) == 0);
    CHECK(g.at({0, 1}) == 0);
    if (graph)  // of g0 - g1 = tanh((x0 - x1) / 2): 1/2, -1/2 at a tie
      CHECK(difference(values(grad(sum(select(g, 1, 0) - select(g, 1, 1)), x)),
                       std::vector<double>{0, 0, 0, 0, 0.5, -0.5}) < 1e-15);
  }
  CHECK(logsumexp(tensor({inf, 1})).item() == inf);
  CHECK(logsumexp(tensor({1000, 1000})).item() == doctest::Approx(1000 + std::log(2)));
}

TEST_CASE("log_softmax keeps what log(softmax) loses") {
  CHECK(values(log_softmax(tensor({0, -200}))) == std::vector<double>{0, -200});
  CHECK(log_softmax(tensor({1000, 1000, -1000})).at({2}) == doctest::Approx(-2000 - std::log(2)));
  CHECK(log_softmax(tensor({1e4, 1e4 + 1}, DType::f32)).at({1}) == doctest::Approx(-0.31326169).epsilon(1e-6));
}

// ---- kinks

TEST_CASE("norm and std have gradient 0 where they are 0, to second order") {
  for (const bool graph : {false, true}) {
    const auto check = [&](const Tensor& y, const Tensor& x) {
      const Tensor g = grad(y, x, ones_like(y), {.create_graph = graph});
      CHECK(values(g) == std::vector<double>(static_cast<std::size_t>(x.numel()), 0));
      if (g.requires_grad())
        CHECK(values(grad(sum(g), x)) == std::vector<double>(static_cast<std::size_t>(x.numel()), 0));
    };
    for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, inf}) {
      const Tensor zero = leaf({0, 0, 0});
      check(norm(zero, p), zero);
    }
    for (const std::int64_t n : {3, 4, 7, 1000})  // sums of 0.1 are rounded: the mean must still be 0.1
      for (const double value : {1.0, 0.1, 1e9 / 3}) {
        Tensor flat = full({n}, value, DType::f64).requires_grad(true);
        CHECK(gradus::std(flat).item() == 0);
        check(gradus::std(flat), flat);
      }
  }
}

TEST_CASE("a zero row leaves the gradients of its neighbours alone") {
  Tensor x = tensor({{0, 0}, {3, 4}}, DType::f64).requires_grad(true);
  CHECK(difference(slope(norm(x, 2, 1), x), std::vector<double>{0, 0, 0.6, 0.8}) < 1e-15);
  CHECK(difference(slope(norm(x, 3, 1), x),
                   std::vector<double>{0, 0, 9 / std::pow(91, 2.0 / 3), 16 / std::pow(91, 2.0 / 3)}) < 1e-14);
  CHECK(difference(slope(gradus::std(x, 1), x), std::vector<double>{0, 0, -std::sqrt(0.5), std::sqrt(0.5)}) < 1e-14);
}

TEST_CASE("a norm neither overflows nor vanishes before its value does") {
  for (const double p : {1.5, 2.0, 3.0, 50.0, inf}) {
    CHECK(norm(tensor({3e200, -4e200}, DType::f64), p).item() / 1e200 ==
          doctest::Approx(norm(tensor({3, 4}, DType::f64), p).item()));
    CHECK(norm(tensor({3e-200, -4e-200}, DType::f64), p).item() * 1e200 ==
          doctest::Approx(norm(tensor({3, 4}, DType::f64), p).item()));
  }
  CHECK(norm(tensor({3e30, 4e30})).item() == doctest::Approx(5e30));
  CHECK(norm(tensor({1, -inf})).item() == inf);
  CHECK_THROWS_WITH_AS(norm(tensor({1.0}), -1), doctest::Contains("norm: p is -1"), Error);
  CHECK_THROWS_AS(norm(tensor({1.0}), NAN), Error);
}

TEST_CASE("a variance beside a large mean keeps its digits") {
  CHECK(var(tensor({40000, 40001, 40002, 40003}), every_axis, 0).item() == 1.25);
  CHECK(var(tensor({40000, 40001, 40002, 40003})).item() == doctest::Approx(5.0 / 3).epsilon(1e-7));
  const Tensor x = tensor({{1, 2}, {3, 8}}, DType::f64);
  CHECK(var(x, Axes{0, 1}, 1).item() == doctest::Approx(29.0 / 3));
  CHECK(std::isnan(var(tensor({1.0})).item()));  // 0 / 0: one number says nothing about a spread
}

TEST_CASE("prod has the right gradient with none, one and two zeros, to second order") {
  const Tensor one = leaf({2, 0, 3}), two = leaf({0, 5, 0});
  CHECK(slope(prod(one), one) == std::vector<double>{0, 6, 0});
  CHECK(slope(prod(two), two) == std::vector<double>{0, 0, 0});
  const Tensor g = grad(prod(one), one, {}, {.create_graph = true});
  CHECK(values(grad(sum(g), one)) == std::vector<double>{3, 5, 2});  // d/dx0 of x1 x2 + x0 x2 + x0 x1 is x2 + x1 = 3
  const Tensor h = grad(prod(two), two, {}, {.create_graph = true});
  CHECK(values(grad(sum(h), two)) == std::vector<double>{5, 0, 5});
  for (std::int64_t n = 1; n < 12; ++n) {
    std::vector<double> x(static_cast<std::size_t>(n), 1.5);
    if (n > 2) x[1] = 0;
    if (n > 5) x[4] = 0;
    const Tensor t = tensor(x, {n}, DType::f64);
    const auto f = [](std::span<const Tensor> v) { return prod(v[0]); };
    CHECK(gradcheck(f, {t}).ok);
    CHECK(gradgradcheck(f, {t}).ok);
  }
}

// ---- order

TEST_CASE("sorting is stable and puts NaN above every number") {
  const Tensor x = tensor({2, NAN, 1, 2, -inf, NAN, inf});
  CHECK(values(argsort(x)) == std::vector<double>{4, 2, 0, 3, 6, 1, 5});
  CHECK(values(argsort(x, -1, true)) == std::vector<double>{1, 5, 6, 0, 3, 2, 4});
  CHECK(where_nan(sort(x)) == std::vector<bool>{false, false, false, false, false, true, true});
  CHECK(values(argtopk(x, 4)) == std::vector<double>{1, 5, 6, 0});
  std::vector<double> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i % 7);
  const std::vector<double> order = values(argsort(tensor(many, {1000})));
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double a = many[static_cast<std::size_t>(order[i - 1])], b = many[static_cast<std::size_t>(order[i])];
    CHECK((a < b || (a == b && order[i - 1] < order[i])));
  }
}

TEST_CASE("sort and topk send each cotangent back to where its element came from") {
  const Tensor x = leaf({3, 1, 2});
  const Tensor c = tensor({10, 20, 30}, DType::f64);
  CHECK(values(grad(sort(x), x, c)) == std::vector<double>{30, 10, 20});
  CHECK(values(grad(sort(x, 0, true), x, c)) == std::vector<double>{10, 30, 20});
  CHECK(values(grad(topk(x, 2), x, tensor({10, 20}, DType::f64))) == std::vector<double>{10, 0, 20});
}

TEST_CASE("cumsum adds in double") {
  CHECK(cumsum(full({1000000}, 0.1)).at({999999}) == doctest::Approx(100000).epsilon(1e-7));
  CHECK(values(cumsum(tensor({{1, 2}, {3, 4}}), 0)) == std::vector<double>{1, 2, 4, 6});
}
