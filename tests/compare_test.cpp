// What C++ users compare their own gradients with, and the differences under it.
#include "study/compare.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/grad.hpp"
#include "file_helpers.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using gradus::test::contains;
using gradus::test::error_of;
using study::Comparison;

TEST_CASE("the largest difference is found with its place and both numbers, also among strides") {
  const Tensor a = tensor({{1, 2}, {3, 4}}, DType::f64), b = tensor({{1, 3}, {5, 4}}, DType::f64);
  const study::Difference d = study::difference_of(a, b.T());
  CHECK(d.largest == 3);
  CHECK(d.at == Shape{0, 1});
  CHECK(d.a == 2);
  CHECK(d.b == 5);
  CHECK(d.size == 5);
  CHECK(study::difference_of(zeros({0, 3}), zeros({0, 3})).largest == 0);
  CHECK(contains(error_of([&] { study::difference_of(a, zeros({3})); }), "shapes [2, 2] and [3]"));
}

TEST_CASE("NaN differs from every number, but not from NaN, and infinity not from itself") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  CHECK(study::difference_of(tensor({nan, inf}, DType::f64), tensor({nan, inf}, DType::f64)).largest == 0);
  CHECK(std::isnan(study::difference_of(tensor({1, nan, 9}), tensor({1, 2, 3})).largest));
  CHECK(std::isinf(study::difference_of(tensor({inf}), tensor({-inf})).largest));
  CHECK_FALSE(study::comparison_of(tensor({nan}), tensor({1.0})).close());
}

TEST_CASE("a comparison is exact to rounding, close at 1e-6, and wrong beyond") {
  const Tensor right = tensor({2, -300}, DType::f64);
  CHECK(study::comparison_of(right, right).exact());
  CHECK(study::comparison_of(right + 1e-10, right).exact());
  const Comparison close = study::comparison_of(right + 1e-5, right);
  CHECK(close.grade == Comparison::Grade::close);
  CHECK(close.close());
  const Comparison wrong = study::comparison_of(right * 1.001, right);
  CHECK_FALSE(wrong.close());
  CHECK(study::to_line("dS", wrong) == "dS  wrong  [2]  largest difference 0.3 at [1]: -300.3 instead of -300");
  CHECK(study::to_line("dS", study::comparison_of(zeros({3, 2}), right)) ==
        "dS  wrong shape  yours is [3, 2], the right one [2]");
  CHECK(study::comparison_of(zeros({2}, DType::f64), zeros({2}, DType::f64)).exact());
}

TEST_CASE("compare takes the gradient of what has one, and the value of a plain tensor") {
  Tensor x = tensor({1, 2, 3}, DType::f64);
  x.requires_grad(true);
  Tensor y = x * x;
  CHECK(contains(error_of([&] { study::compare("dy", x, y); }), "retain_grad"));
  y.retain_grad();
  CHECK(contains(error_of([&] { study::compare("dx", x, x); }), "dx has no gradient yet; call backward first"));
  backward(sum(y));
  CHECK(study::compare("dx", 2.0 * x, x).exact());
  CHECK(study::compare("dy", ones({3}, DType::f64), y).exact());
  CHECK_FALSE(study::compare("dx", x, x).close());
  CHECK(study::compare("y", x.detach() * x.detach(), y.detach()).exact());
  CHECK(contains(error_of([&] { study::compare("dx", Tensor{}, x); }), "dx is undefined"));
  CHECK(contains(error_of([&] { study::compare("dx", x, Tensor{}); }), "undefined tensor"));
}
