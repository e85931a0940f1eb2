#include "core/check.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

// What the generated sweep cannot know of the elementwise ops: corners, kinks, ties, NaN, dtypes and operators.
namespace gradus {  // inside, tanh is the op and not the C function
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Function = std::function<Tensor(const Tensor&)>;
using Numbers = std::vector<double>;

Numbers values(const Tensor& x) { return x.to_vector<double>(); }

// The gradient of sum(f(x) * seed) by the fused rule; the composite one must give the same.
Numbers gradient(const Function& f, const Tensor& at, const Tensor& seed = {}) {
  const Tensor x = at.detach().requires_grad(true);
  const Tensor y = f(x);
  const Tensor c = seed.defined() ? seed : ones_like(y);
  const Numbers fused = values(grad(y, x, c));
  const Numbers composite = values(grad(y, x, c, {.create_graph = true}));
  for (std::size_t i = 0; i < fused.size(); ++i) {
    INFO("fused ", fused[i], ", composite ", composite[i]);
    CHECK((fused[i] == doctest::Approx(composite[i]) || (std::isnan(fused[i]) && std::isnan(composite[i])) ||
           fused[i] == composite[i]));
  }
  return fused;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

struct Named {
  const char* name;
  Function f;
};
const std::vector<Named>& unary() {
  static const std::vector<Named> all{{"exp", exp},
                                      {"log", log},
                                      {"sqrt", sqrt},
                                      {"rsqrt", rsqrt},
                                      {"sin", sin},
                                      {"cos", cos},
                                      {"tanh", tanh},
                                      {"sigmoid", sigmoid},
                                      {"relu", relu},
                                      {"gelu", gelu},
                                      {"gelu_tanh", gelu_tanh},
                                      {"silu", silu},
                                      {"softplus", softplus},
                                      {"abs", abs},
                                      {"neg", neg},
                                      {"sign", sign},
                                      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
                                      {"elu", [](const Tensor& x) { return elu(x); }},
                                      {"clamp", [](const Tensor& x) { return clamp(x, -1, 1); }},
                                      {"clamp from below", [](const Tensor& x) { return clamp(x, 0); }},
                                      {"pow 2", [](const Tensor& x) { return pow(x, 2); }},
                                      {"pow 2.5", [](const Tensor& x) { return pow(x, 2.5); }},
                                      {"1 / x", [](const Tensor& x) { return 1.0 / x; }},
                                      {"x / 0", [](const Tensor& x) { return x / 0.0; }},
                                      {"maximum", [](const Tensor& x) { return maximum(x, 0.0); }},
                                      {"minimum", [](const Tensor& x) { return minimum(0.0, x); }}};
  return all;
}

}  // namespace

TEST_CASE("a branch that where does not take cannot make NaN of the gradient") {  // CASES N10
  for (const DType dtype : {DType::f32, DType::f64}) {
    CHECK(gradient([](const Tensor& a) { return where(a <= 0.0, exp(a), 1.0 + a); }, full({1}, 1000, dtype)) ==
          Numbers{1});
    CHECK(gradient([](const Tensor& x) { return where(x > 0.0, sqrt(x), x); }, tensor({-1, -4}, dtype)) ==
          Numbers{1, 1});
    CHECK(gradient([](const Tensor& x) { return where(x < 1.0, cos(x), 0.0); }, tensor({0, infinity}, dtype)) ==
          Numbers{0, 0});
  }
}

TEST_CASE("every elementwise op turns a cotangent of 0 into 0, whatever its slope") {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const double at : {0.0, -0.0, -3.0, 1e30, -1e30, infinity, -infinity, not_a_number})
      for (const Named& op : unary()) {
        INFO(op.name, " at ", at);
        CHECK(gradient(op.f, full({1}, at, dtype), zeros({1}, dtype)) == Numbers{0});
      }
}

TEST_CASE("selecting on a 0 cotangent leaves second derivatives right") {
  const auto at = tensor({0.0, 2.0, -1.0}, DType::f64);
  for (const auto& f : {Function([](const Tensor& x) { return pow(x, 2); }), Function(gelu), Function(silu),
                        Function(tanh), Function([](const Tensor& x) { return x * sigmoid(x) / (1.0 + x * x); })}) {
    const CheckResult r = gradgradcheck([&](std::span<const Tensor> x) { return f(x[0]); }, {at});
    CHECK_MESSAGE(r.ok, r.text);
  }
}

TEST_CASE("pow is right at its corners") {  // CASES N14
  const auto in_base = [](double p) { return [p](const Tensor& x) { return pow(x, p); }; };
  const auto in_exponent = [](const Tensor& x) { return [x](const Tensor& p) { return pow(x, p); }; };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Numbers slope = gradient(in_exponent(tensor({0, 2}, dtype)), tensor({1, 1}, dtype));
    CHECK(slope[0] == 0);
    CHECK(slope[1] == doctest::Approx(1.386294361).epsilon(1e-6));
    const Tensor zero = zeros({1}, dtype);
    CHECK(gradient(in_base(0), zero) == Numbers{0});
    CHECK(gradient(in_base(1), zero) == Numbers{1});
    CHECK(gradient(in_base(2), zero) == Numbers{0});
    CHECK(gradient(in_base(0.5), zero) == Numbers{infinity});
    CHECK(gradient(in_base(2), full({1}, -2, dtype)) == Numbers{-4});
    CHECK(gradient(in_base(3), full({1}, -2, dtype)) == Numbers{12});
    CHECK(gradient(in_base(-1), full({1}, -2, dtype)) == Numbers{-0.25});
    // the same exponents as a tensor that is a constant, and one that requires grad as well
    const Tensor p = tensor({0, 1, 2, 0.5}, dtype);
    CHECK(gradient([&](const Tensor& x) { return pow(x, p); }, zeros({4}, dtype)) == Numbers{0, 1, 0, infinity});
    CHECK(gradient(in_exponent(zeros({4}, dtype)), p) == Numbers{0, 0, 0, 0});
    CHECK(gradient(in_exponent(zero), full({1}, -1, dtype)) == Numbers{-infinity});
    Tensor x = full({1}, -2, dtype).requires_grad(true), two = full({1}, 2, dtype).requires_grad(true);
    const std::vector<Tensor> both = grad(pow(x, two), {x, two});
    CHECK(both[0].item() == -4);
    CHECK(std::isnan(both[1].item()));  // no power of -2 near the exponent 2 is real
    CHECK(values(pow(tensor({-2, 0, 0}, dtype), tensor({2, 0, -1}, dtype))) == Numbers{4, 1, infinity});
  }
}

TEST_CASE("pow has all derivatives of a polynomial, at 0 too") {
  for (const double at : {0.0, -2.0, 1.5}) {
    Tensor x = scalar(at, DType::f64).requires_grad(true);
    Tensor y = pow(x, 3);
    for (const double expected : {3 * at * at, 6 * at, 6.0, 0.0}) {
      y = grad(y, x, {}, {.create_graph = true});
      CHECK(y.item() == doctest::Approx(expected));
    }
  }
  // d2 x^p / dx dp = x^{p-1} (1 + p ln x), which at p = 0 is 1 / x
  Tensor x = scalar(2, DType::f64).requires_grad(true), p = scalar(0, DType::f64).requires_grad(true);
  CHECK(grad(grad(pow(x, p), x, {}, {.create_graph = true}), p).item() == doctest::Approx(0.5));
}

TEST_CASE("maximum and minimum share a tie evenly") {  // CASES N16
  for (const auto f : {maximum, minimum}) {
    Tensor a = tensor({1, 2, 3}).requires_grad(true), b = tensor({1, 3, 2}).requires_grad(true);
    const std::vector<Tensor> g = grad(f(a, b), {a, b}, tensor({4, 5, 6}));
    CHECK(values(g[0] + g[1]) == Numbers{4, 5, 6});
    CHECK(g[0].at({0}) == 2);
    CHECK(g[0].at({1}) == (f == maximum ? 0 : 5));
    CHECK(gradient([&](const Tensor& x) { return f(x, x); }, tensor({3, -1, 0})) == Numbers{1, 1, 1});
  }
}

TEST_CASE("NaN goes through every elementwise op, at every length") {  // CASES N17
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::int64_t n : {1, 3, 8, 33, 1000})
      for (const Named& op : unary()) {
        INFO(op.name, " of ", n);
        for (const std::int64_t place : {std::int64_t{0}, n / 2, n - 1}) {
          Numbers x(static_cast<std::size_t>(n), 0.5);
          x[static_cast<std::size_t>(place)] = not_a_number;
          const Numbers y = values(op.f(tensor(x, {n}, dtype)));
          std::int64_t count = 0;
          for (const double v : y) count += std::isnan(v);
          CHECK(std::isnan(y[static_cast<std::size_t>(place)]));
          CHECK(count == 1);
        }
      }
  CHECK(std::isnan(maximum(not_a_number, tensor({1.0})).item()));
  CHECK(std::isnan(minimum(tensor({1.0}), not_a_number).item()));
}

TEST_CASE("slopes at kinks are those that the rules state") {  // CASES N18
  const Tensor zero = zeros({1});
  CHECK(gradient([](const Tensor& x) { return clamp(x, 0, 1); }, tensor({0, 1, -1, 2, 0.5})) == Numbers{1, 1, 0, 0, 1});
  CHECK(gradient(abs, zero) == Numbers{0});
  CHECK(gradient(relu, zero) == Numbers{0});
  CHECK(gradient([](const Tensor& x) { return leaky_relu(x, 0.25); }, zero) == Numbers{0.25});
  CHECK(gradient([](const Tensor& x) { return elu(x, 0.5); }, zero) == Numbers{0.5});
  CHECK(gradient(sign, tensor({0, 3, -2})) == Numbers{0, 0, 0});
}

TEST_CASE("activations reach their limits at infinity, with slopes 0 and 1") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor ends = tensor({-infinity, infinity}, dtype);
    for (const Function& f :
         {Function(gelu), Function(gelu_tanh), Function(silu), Function(relu), Function(softplus)}) {
      CHECK(values(f(ends)) == Numbers{0, infinity});
      CHECK(gradient(f, ends) == Numbers{0, 1});
      CHECK(gradient(f, tensor({-1e30, 1e30}, dtype)) == Numbers{0, 1});
    }
    CHECK(values(elu(ends, 2)) == Numbers{-2, infinity});
    CHECK(gradient([](const Tensor& x) { return elu(x, 2); }, ends) == Numbers{0, 1});
    CHECK(values(tanh(ends)) == Numbers{-1, 1});
    CHECK(values(sigmoid(ends)) == Numbers{0, 1});
    CHECK(values(log(tensor({0, infinity}, dtype))) == Numbers{-infinity, infinity});
  }
}

TEST_CASE("activations have the values that tables give") {
  const Tensor one = scalar(1, DType::f64);
  CHECK(gelu(-one).item() == doctest::Approx(-0.158655253931457).epsilon(1e-14));
  CHECK(gelu_tanh(one).item() == doctest::Approx(0.841191990608277).epsilon(1e-13));
  CHECK(silu(one).item() == doctest::Approx(0.731058578630005).epsilon(1e-14));
  CHECK(elu(-one).item() == doctest::Approx(-0.632120558828558).epsilon(1e-14));
}

TEST_CASE("comparisons give b8 that never requires grad, and are false with NaN") {  // CASES G14
  const Tensor x = tensor({1, 2, not_a_number}).requires_grad(true);
  using Compare = Tensor (*)(const Operand&, const Operand&);
  for (const Compare f : {Compare{eq}, Compare{ne}, Compare{lt}, Compare{le}, Compare{gt}, Compare{ge}}) {
    const Tensor y = f(x, 2);
    CHECK(y.dtype() == DType::b8);
    CHECK(!y.requires_grad());
    CHECK(y.at({2}) == (f == Compare{ne} ? 1 : 0));
    CHECK(error_of([&] { backward(sum(f(x, x))); }) != "no error");
  }
  const Tensor a = tensor({1, 2, 3}), b = tensor({2, 2, 2});
  CHECK(values(a == b) == Numbers{0, 1, 0});
  CHECK(values(a != b) == Numbers{1, 0, 1});
  CHECK(values(a < b) == Numbers{1, 0, 0});
  CHECK(values(a <= b) == Numbers{1, 1, 0});
  CHECK(values(a > b) == Numbers{0, 0, 1});
  CHECK(values(2 >= a) == Numbers{1, 1, 0});
  CHECK(values((a > b) == (b > a)) == Numbers{0, 1, 0});
  const std::int64_t big = (std::int64_t{1} << 53) + 1;  // not a double
  CHECK(values(indices({big}) == indices({big - 1})) == Numbers{0});
}

TEST_CASE("cast carries gradients between f32 and f64, and none to i64 and b8") {
  Tensor x = tensor({0.5, -1.75, 3}).requires_grad(true);
  const Tensor y = x.to(DType::f64);
  CHECK(y.dtype() == DType::f64);
  const Tensor g = grad(sum(y * y), x);
  CHECK(g.dtype() == DType::f32);
  CHECK(values(g) == Numbers{1, -3.5, 6});
  CHECK(values(grad(grad(sum(y * y * y), x, {}, {.create_graph = true}), x, ones_like(x))) == Numbers{3, -10.5, 18});
  for (const DType dtype : {DType::i64, DType::b8}) CHECK(!cast(x, dtype).requires_grad());
  CHECK(values(cast(x, DType::i64)) == Numbers{0, -1, 3});
  CHECK(values(cast(tensor({0, -0.5, not_a_number}), DType::b8)) == Numbers{0, 1, 1});
  CHECK(cast(x, DType::f32).node().get() == x.node().get());  // nothing to do
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  CHECK(cast(tensor({infinity, -infinity, 1e30, not_a_number}), DType::i64).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{most, least, most, 0});
}

TEST_CASE("masked_fill fills where the mask is true and gives nothing back there") {
  const Tensor mask = tensor({0, 1, 0}, DType::b8);
  const Tensor x = tensor({{1, not_a_number, 3}, {4, infinity, 6}});
  CHECK(values(masked_fill(x, mask, -infinity)) == Numbers{1, -infinity, 3, 4, -infinity, 6});
  CHECK(gradient([&](const Tensor& t) { return masked_fill(t, mask, 0); }, x) == Numbers{1, 0, 1, 1, 0, 1});
  CHECK(gradient([&](const Tensor& t) { return sum(softmax(masked_fill(t, mask, -infinity))); }, tensor({1, 2, 3})) ==
        Numbers{0, 0, 0});
}

TEST_CASE("operators and compound assignments are the ops of their names") {
  Tensor a = tensor({6, 9}, DType::f64);
  CHECK(values(a - 1) == Numbers{5, 8});
  CHECK(values(1 - a) == Numbers{-5, -8});
  CHECK(values(a / 3) == Numbers{2, 3});
  CHECK(values(18 / a) == Numbers{3, 2});
  CHECK(values(-a) == Numbers{-6, -9});
  CHECK(error_of([&] { a -= 1; }).starts_with("-=: "));
  {
    const NoGrad guard;
    const std::uint32_t before = a.storage().version();
    a -= tensor({1, 2}, DType::f64);
    a /= 5;
    CHECK(a.storage().version() > before);
    CHECK(error_of([&] { a -= ones({3, 2}, DType::f64); }).find("larger than [2]") != std::string::npos);
  }
  CHECK(values(a) == Numbers{1, 1.4});
}

TEST_CASE("errors name the op, both shapes and a remedy") {  // CASES E01
  CHECK(error_of([] {
          zeros({2, 3}) - zeros({4});
        }) ==
        "sub: shapes [2, 3] and [4] do not broadcast: axis -1 has extents 3 and 4; make them equal or one of them 1");
  CHECK(error_of([] { zeros({2}) / zeros({2}, DType::f64); }) ==
        "div: dtypes f32 and f64 do not mix; cast one of them");
  CHECK(error_of([] { log(arange(0, 3)); }) == "log: dtype i64 is not floating; cast to f32 or f64 first");
  CHECK(error_of([] { arange(0, 3) / 2; }) == "div: dtype i64 is not floating; cast to f32 or f64 first");
  for (const Named& op : unary()) {
    INFO(op.name);
    CHECK(error_of([&] { op.f(Tensor{}); }).find("undefined") != std::string::npos);
  }
}

}  // namespace gradus
