#include "core/derivatives.hpp"
#include "core/node.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;
using Values = std::vector<double>;

namespace {

Tensor leaf(std::initializer_list<double> values) { return tensor(values, DType::f64).requires_grad(true); }
Values values(const Tensor& x) { return x.to_vector<double>(); }

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a tensor used twice gets both contributions") {
  Tensor x = leaf({3});
  backward(sum(x * x));
  CHECK(values(x.grad()) == Values{6});
  x.zero_grad();
  backward(sum(x + x));
  CHECK(values(x.grad()) == Values{2});
  Tensor m = tensor({{1, 2}, {3, 4}}, DType::f64).requires_grad(true);
  backward(sum(matmul(m, m)));
  CHECK(values(m.grad()) == Values{7, 11, 9, 13});
}

TEST_CASE("a node is visited once all of its gradient is there: b = a + a, c = b + b gives 4") {
  Tensor a = leaf({1});
  const Tensor b = a + a;
  backward(sum(b + b));
  CHECK(values(a.grad()) == Values{4});
}

TEST_CASE("backward twice over one graph is refused before any gradient is touched, unless it was retained") {
  Tensor t = leaf({1});
  const Tensor k = t * 2.0;
  const Tensor first = sum(k * 2.0), second = sum(k * 3.0);
  backward(first, {.retain = true});
  backward(second, {.retain = true});
  CHECK(values(t.grad()) == Values{10});
  backward(first);
  CHECK(values(t.grad()) == Values{14});
  const std::string text = error_of([&] { backward(first); });
  CHECK(has(text, "released by an earlier backward"));
  CHECK(has(text, "retain"));
  CHECK(has(error_of([&] { backward(second); }), "mul"));
  CHECK(values(t.grad()) == Values{14});
}

TEST_CASE("a kept value that was written to is refused with op, input, shape and versions; where is the way") {
  Tensor a = leaf({1, 2, 3});
  Tensor b = sigmoid(a);
  CHECK(has(error_of([&] { fill(b, 2); }), "where"));
  {
    const NoGrad guard;
    fill(b, 2);
  }
  const std::string text = error_of([&] { backward(sum(b)); });
  CHECK(has(text, "sigmoid"));
  CHECK(has(text, "[3]"));
  CHECK(has(text, "version 1, expected 0"));
  CHECK_FALSE(a.grad().defined());
  const Tensor mask = tensor({0, 1, 0}, DType::b8);
  backward(sum(where(mask, 2.0, 1.0 / (exp(-a) + 1.0))));
  CHECK(a.grad().at({0}) == doctest::Approx(0.196612).epsilon(1e-5));
  CHECK(a.grad().at({1}) == 0.0);
  CHECK(a.grad().at({2}) == doctest::Approx(0.045177).epsilon(1e-5));
}

TEST_CASE("a write through a view, or by an optimizer between forward and backward, is noticed") {
  Tensor w = tensor({{1, 2}, {3, 4}}, DType::f64).requires_grad(true);
  const Tensor view = w.detach().T();
  const Tensor y = sum(w * w);
  {
    const NoGrad guard;
    Tensor alias = view;
    fill(alias, 0);
  }
  CHECK(has(error_of([&] { backward(y); }), "version 1, expected 0"));
}

TEST_CASE("writing in place needs NoGrad, keeps to the shape, and refuses expanded tensors") {
  Tensor x = ones({1, 1}, DType::f64);
  CHECK(has(error_of([&] { x += 1; }), "NoGrad"));
  const NoGrad guard;
  x += 1;
  CHECK(x.item() == 2);
  Tensor wide = expand(x, {4, 5});
  CHECK(has(error_of([&] { wide += 1; }), "share one place"));
  Tensor square = ones({3, 3}, DType::f64);
  CHECK(has(error_of([&] { square += ones({3, 3, 3}, DType::f64); }), "[3, 3, 3]"));
  CHECK(square.at({0, 0}) == 1);
}

TEST_CASE("no graph, no gradient: the error says why") {
  Tensor x = leaf({1, 2});
  {
    const NoGrad guard;
    CHECK_FALSE((x * x).requires_grad());
    CHECK(has(error_of([&] { backward(sum(x * x)); }), "NoGrad"));
  }
  CHECK(has(error_of([&] { backward(cast(argmax(x), DType::f64)); }), "no graph"));
  CHECK_FALSE(argmax(x).requires_grad());
  CHECK(has(error_of([&] { indices({1, 2}).requires_grad(true); }), "i64 is not differentiable"));
  CHECK(has(error_of([&] { backward(x * x); }), "not one element"));
}

TEST_CASE("leaf rules: only leaves can be switched, only leaves and retained results have gradients") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0;
  CHECK(has(error_of([&] { y.requires_grad(true); }), "result of the recorded op mul"));
  CHECK(has(error_of([&] { (void)y.grad(); }), "retain_grad"));
  CHECK(has(error_of([&] { zeros({2}).retain_grad(); }), "does not require grad"));
  y.retain_grad();
  backward(sum(y * y));
  CHECK(values(y.grad()) == Values{6, 12});
  CHECK(values(x.grad()) == Values{18, 36});
  Tensor s = scalar(2, DType::f64).requires_grad(true);
  backward(s * s);
  CHECK(s.grad().item() == 4);
}

TEST_CASE("a leaf's gradient is contiguous and shares storage with nothing; after zero_grad there is none") {
  Tensor x = leaf({1, 2, 3});
  backward(sum(x));
  CHECK(x.grad().is_contiguous());
  CHECK(x.grad().storage().bytes() == 24);
  const Tensor before = x.grad();
  backward(sum(x));
  CHECK(values(before) == Values{1, 1, 1});
  CHECK(values(x.grad()) == Values{2, 2, 2});
  x.zero_grad();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("grad is pure: leaves keep their gradient, the graph stays, an unused tensor gets zeros") {
  Tensor x = leaf({1, 2}), unused = leaf({5});
  const Tensor h = x * x;
  const Tensor y = sum(h * x);
  const auto g = grad(y, {x, h, unused});
  CHECK(values(g[0]) == Values{3, 12});
  CHECK(values(g[1]) == Values{1, 2});
  CHECK(values(g[2]) == Values{0});
  CHECK_FALSE(x.grad().defined());
  CHECK(values(grad(y, x)) == Values{3, 12});
}

TEST_CASE("gradients are differentiable to any order: the fourth derivative of x^4 is 24") {
  Tensor x = leaf({1.5});
  Tensor y = x * x * x * x;
  for (int order = 1; order <= 4; ++order) y = grad(y, x, {}, {.create_graph = true});
  CHECK(y.item() == doctest::Approx(24));
}

TEST_CASE("a hook sees the complete gradient once, and may replace it") {
  Tensor x = leaf({1, 2});
  Tensor y = x * 2.0;
  int calls = 0;
  y.on_gradient([&](const Tensor& g) {
    ++calls;
    CHECK(values(g) == Values{4, 4});
    return g * 10.0;
  });
  backward(sum(y + y * 3.0));
  CHECK(calls == 1);
  CHECK(values(x.grad()) == Values{80, 80});
  Tensor z = x * 1.0;
  z.on_gradient([](const Tensor&) { return zeros({3}, DType::f64); });
  CHECK(has(error_of([&] { backward(sum(z)); }), "keep shape"));
}

TEST_CASE("broadcast gradients are summed back to each input's shape") {
  const auto check = [](const Shape& a_shape, const Shape& b_shape, double da, double db) {
    Tensor a = ones(a_shape, DType::f64).requires_grad(true), b = ones(b_shape, DType::f64).requires_grad(true);
    backward(sum(a + b));
    CHECK(a.grad().shape() == a_shape);
    CHECK(b.grad().shape() == b_shape);
    for (const double v : values(a.grad())) CHECK(v == da);
    for (const double v : values(b.grad())) CHECK(v == db);
  };
  check({3, 4}, {1, 4}, 1, 3);
  check({2, 1}, {1, 3}, 3, 2);
  check({2, 3}, {3}, 1, 2);
  check({2, 3}, {}, 1, 6);
}

TEST_CASE("errors name the op and both shapes") {
  const Tensor a = randn({2, 3}), b = randn({4});
  CHECK(has(error_of([&] { (void)(a + b); }), "add: shapes [2, 3] and [4]"));
  CHECK(has(error_of([&] { (void)matmul(a, a); }), "matmul: shapes [2, 3] and [2, 3]"));
  CHECK(has(error_of([&] { (void)(a + zeros({3}, DType::f64)); }), "dtypes f32 and f64"));
}

TEST_CASE("anomaly mode names the first op whose output or gradient is not finite") {
  const AnomalyMode guard;
  Tensor x = leaf({1, 0, 2});
  const std::string forward = error_of([&] { (void)log(x); });
  CHECK(has(forward, "log: its output of shape [3] is -inf at index [1]"));
  CHECK(has(forward, "[0, 2]"));
  Tensor z = leaf({0, 4});
  const Tensor root = sum(sqrt(z));
  const std::string backward_text = error_of([&] { backward(root); });
  CHECK(has(backward_text, "gradient"));
  CHECK(has(backward_text, "index [0]"));
}
