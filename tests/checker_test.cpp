// The checker is checked: rules that are wrong in known ways must be rejected. A checker that accepts one of these
// proves nothing of the others.
#include "core/check.hpp"
#include "core/derivatives.hpp"
#include "core/random.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

using namespace gradus;
using doctest::Contains;

namespace {

// y = x^2 in several versions, most of them wrong.
Tensor squared(const Tensor& x) {
  const Tensor dense = packed(x);
  Tensor y(x.shape(), x.dtype());
  for (std::int64_t i = 0; i < y.numel(); ++i)
    y.fresh_data<double>()[i] = dense.data<double>()[i] * dense.data<double>()[i];
  return y;
}

struct Right {
  static constexpr OpInfo info{.name = "test_right", .math = "y = x^2", .rule = "\\bar x = 2 x \\bar y"};
  static constexpr Keep keeps = Keep::inputs;
  Tensor forward(const Tensor& x) const { return squared(x); }
  Grads vjp(const Vjp& v) const { return {v.g * v.x[0] * 2}; }
};

struct SlightlyWrongFactor {
  static constexpr OpInfo info{.name = "test_factor", .math = "y = x^2", .rule = "\\bar x = 2.001 x \\bar y"};
  static constexpr Keep keeps = Keep::inputs;
  Tensor forward(const Tensor& x) const { return squared(x); }
  Grads vjp(const Vjp& v) const { return {v.g * v.x[0] * 2.001}; }
};

struct RightForOnesOnly {
  static constexpr OpInfo info{.name = "test_ones", .math = "y = x^2", .rule = "\\bar x = 2 x mean(\\bar y)"};
  static constexpr Keep keeps = Keep::inputs;
  Tensor forward(const Tensor& x) const { return squared(x); }
  Grads vjp(const Vjp& v) const { return {sum(v.g) * (1.0 / static_cast<double>(v.g.numel())) * v.x[0] * 2}; }
};

struct WrongSecondOrder {
  static constexpr OpInfo info{.name = "test_second", .math = "y = x^2", .rule = "\\bar x = 2 x \\bar y"};
  static constexpr Keep keeps = Keep::inputs;
  Tensor forward(const Tensor& x) const { return squared(x); }
  Grads vjp(const Vjp& v) const { return {v.g * v.x[0].detach() * 2}; }
};

struct ReadsGhost {
  static constexpr OpInfo info{.name = "test_ghost", .math = "y = x^2", .rule = "\\bar x = 2 x \\bar y"};
  Tensor forward(const Tensor& x) const { return squared(x); }
  Grads vjp(const Vjp& v) const { return {v.g * v.x[0] * 2}; }
};

// The classic: the gradient of a softmax is zero for a cotangent of ones, so that this passes a check with ones.
struct SoftmaxWithoutGradient {
  static constexpr OpInfo info{.name = "test_zero", .math = "y = softmax(x)", .rule = "\\bar x = 0"};
  Tensor forward(const Tensor& x) const { return softmax(x); }
  Grads vjp(const Vjp& v) const { return {v.g * 0}; }
};

template <class Op>
Tensor run(std::span<const Tensor> x) {
  return apply(Op{}, x[0]);
}

Tensor random(const Shape& shape, std::uint64_t seed = 3) {
  Generator generator(seed);
  return randn(shape, DType::f64, generator);
}

}  // namespace

TEST_CASE("the checker accepts a right rule, small and large, and its second order") {
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{9, 11}}) {
    const CheckResult first = gradcheck(run<Right>, {random(shape)});
    const CheckResult second = gradgradcheck(run<Right>, {random(shape)});
    CHECK_MESSAGE(first.ok, first.text);
    CHECK_MESSAGE(second.ok, second.text);
    CHECK(first.difference < 1e-8);  // Richardson: far below the verdict's 1e-6
  }
}

TEST_CASE("the checker rejects a factor of 2.001, entry by entry and along directions") {
  for (const Shape& shape : {Shape{2, 3}, Shape{9, 11}}) {
    const CheckResult r = gradcheck(run<SlightlyWrongFactor>, {random(shape)});
    CHECK(!r.ok);
    CHECK(r.input == 0);
    CHECK(r.difference == doctest::Approx(5e-4).epsilon(0.1));
    CHECK_MESSAGE(r.text.find("the rule gives") != std::string::npos, r.text);
  }
}

TEST_CASE("the checker rejects rules that are right only for a cotangent of ones") {
  CHECK(!gradcheck(run<RightForOnesOnly>, {random({2, 3})}).ok);
  CHECK(!gradcheck(run<SoftmaxWithoutGradient>, {random({2, 5})}).ok);
}

TEST_CASE("a wrong second derivative passes the first check and fails the second") {
  CHECK(gradcheck(run<WrongSecondOrder>, {random({2, 3})}).ok);
  CHECK(!gradgradcheck(run<WrongSecondOrder>, {random({2, 3})}).ok);
}

TEST_CASE("a rule that reads what its op does not keep is an Error") {
  CHECK_THROWS_AS(gradcheck(run<ReadsGhost>, {random({2, 3})}), Error);
}

TEST_CASE("the checker rejects a function that changes from call to call") {
  int calls = 0;
  const CheckResult r =
      gradcheck([&](std::span<const Tensor> x) { return x[0] * static_cast<double>(++calls); }, {random({3})});
  CHECK(!r.ok);
  CHECK_MESSAGE(r.text.find("two runs") != std::string::npos, r.text);
}

TEST_CASE("the checker rejects a function that cuts its graph") {
  CHECK(!gradcheck([](std::span<const Tensor> x) { return x[0].detach() * 2 + x[0] * 0; }, {random({3})}).ok);
  CHECK(!gradcheck([](std::span<const Tensor> x) { return squared(x[0]); }, {random({3})}).ok);
}

TEST_CASE("the checker asks for f64") {
  CHECK_THROWS_WITH_AS(gradcheck(run<Right>, {zeros({2}, DType::f32)}), Contains("cast it to f64"), Error);
  CHECK_THROWS_WITH_AS(gradcheck(run<Right>, {zeros({2}, DType::i64)}), Contains("no input is f64"), Error);
}

TEST_CASE("views are checked through copies, and the storage they share is never written") {
  const Tensor base = random({3, 2});
  const std::vector<double> before = base.to_vector<double>();
  const auto f = [](std::span<const Tensor> x) { return x[0] * x[0] * x[1]; };
  const Tensor expanded = base[0].expand({3, 2});
  for (const Tensor& view : {base, expanded}) CHECK(gradcheck(f, {view, base}).ok);
  CHECK(gradcheck(f, {base.T(), base.T()}).ok);
  CHECK(base.to_vector<double>() == before);
}

TEST_CASE("several inputs are checked one by one, and the worst is named") {
  const auto f = [](std::span<const Tensor> x) { return apply(Right{}, x[0]) * apply(SlightlyWrongFactor{}, x[1]); };
  const CheckResult r = gradcheck(f, {random({2}), random({2}, 4)});
  CHECK(!r.ok);
  CHECK(r.input == 1);
}

TEST_CASE("difference compares with the larger magnitude, and NaN only with NaN") {
  const double nan = std::nan("");
  CHECK(difference(std::vector{1.0, 2.0}, std::vector{1.0, 2.5}) == doctest::Approx(0.2));
  CHECK(difference(std::vector{0.0}, std::vector{1e-6}) == doctest::Approx(1e-3));
  CHECK(difference(std::vector{nan, 1.0}, std::vector{nan, 1.0}) == 0);
  CHECK(std::isinf(difference(std::vector{nan}, std::vector{1.0})));
}
