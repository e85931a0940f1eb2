// Views and copies: reshape against brute force, Python's slices, and the faults of CASES V01, V02, V05, V07, V11, V12.
#include "core/grad.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using namespace gradus;
using Numbers = std::vector<double>;

Tensor counted(const Shape& shape, DType dtype = DType::f64) {
  return reshape(arange(0, static_cast<double>(shape.numel()), 1, dtype), shape);
}
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }
bool shares(const Tensor& a, const Tensor& b) { return a.storage() == b.storage(); }

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}
bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("reshape finds the extent that -1 stands for, also without elements") {
  CHECK(reshape(zeros({2, 3, 4}), {-1, 4}).shape() == Shape{6, 4});
  CHECK(reshape(zeros({0, 3}), {3, -1}).shape() == Shape{3, 0});
  CHECK(reshape(zeros({}), {-1}).shape() == Shape{1});
  CHECK(says(error_of([] { reshape(zeros({0, 3}), {0, -1}); }), "cannot hold for any extent"));
  CHECK(says(error_of([] { reshape(zeros({4}), {std::int64_t{1} << 40, std::int64_t{1} << 40}); }), "more than 2^63"));
}

TEST_CASE("expand takes -1 for an extent that is there, and no other negative extent") {
  const Tensor x = counted({3, 1});
  CHECK(numbers(expand(x, {2, -1, 2})) == Numbers{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  CHECK(expand(x, {-1, -1}).shape() == Shape{3, 1});
  CHECK(expand(zeros({1}), {std::int64_t{1} << 40}).numel() == std::int64_t{1} << 40);
  CHECK(says(error_of([&] { expand(x, {-1, 3, 1}); }), "axis 0 of [-1, 3, 1] is new"));
  CHECK(says(error_of([&] { expand(x, {3, -2}); }), "negative extent"));
  CHECK(says(error_of([&] {
               expand(zeros({1, 1}), {std::int64_t{1} << 40, std::int64_t{1} << 40});
             }),
             "more than 2^63"));
}

// ---- slices

TEST_CASE("slice takes what Python's x[start:stop:step] takes, for every bound") {
  for (std::int64_t n = 0; n <= 5; ++n) {
    const Tensor x = counted({n, 2});
    for (std::int64_t start = -7; start <= 7; ++start)
      for (std::int64_t stop = -7; stop <= 7; ++stop)
        for (std::int64_t step = 1; step <= 7; ++step) {
          const auto bound = [n](std::int64_t at) {
            return std::min(std::max<std::int64_t>(at < 0 ? at + n : at, 0), n);
          };
          Numbers expected;
          for (std::int64_t i = bound(start); i < bound(stop); i += step)
            for (const double column : {0.0, 1.0}) expected.push_back(2 * static_cast<double>(i) + column);
          const Tensor y = slice(x, 0, start, stop, step);
          REQUIRE(numbers(y) == expected);
          REQUIRE(shares(x, y));
        }
  }
}

TEST_CASE("slice bears the largest bounds and steps") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max(),
                         smallest = std::numeric_limits<std::int64_t>::min();
  const Tensor x = counted({5});
  CHECK(numbers(slice(x, 0, smallest, largest, largest)) == Numbers{0});
  CHECK(numbers(slice(x, 0, largest, smallest, 1)).empty());
}

TEST_CASE("the gradient of a slice is its cotangent between zeros, for every step") {
  for (std::int64_t step = 1; step <= 4; ++step)
    for (std::int64_t start = 0; start <= 4; ++start) {
      const Tensor x = counted({2, 7}).requires_grad(true);
      const Tensor y = slice(x, 1, start, 6, step);
      const Tensor g = counted(y.shape()) + 1;
      Numbers expected(14, 0.0);
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t j = 0; j < y.size(1); ++j)
          expected[static_cast<std::size_t>(row * 7 + start + step * j)] = g.at({row, j});
      CHECK(numbers(grad(y, x, g)) == expected);
      CHECK(numbers(grad(y, x, g, {.create_graph = true})) == expected);
    }
}

TEST_CASE("select and slice have gradients at every rank") {
  const Shape shape{2, 1, 3, 1, 2, 1, 2, 2};
  const Tensor x = counted(shape).requires_grad(true);
  for (const bool graph : {false, true}) {
    CHECK(sum(grad(sum(select(x, 2, 1)), x, {}, {.create_graph = graph})).item() == 16);
    CHECK(sum(grad(sum(slice(x, 2, 0, {}, 2)), x, {}, {.create_graph = graph})).item() == 32);
  }
}

TEST_CASE("x[i] is a view that counts from either end") {
  const Tensor x = counted({3, 2});
  CHECK(numbers(x[1]) == Numbers{2, 3});
  CHECK(numbers(x[-1]) == Numbers{4, 5});
  CHECK(x[2][1].item() == 5);
  CHECK(shares(x, x[1]));
  CHECK(says(error_of([&] { x[3]; }), "index 3 is out of range for axis 0 of shape [3, 2]"));
}

// ---- copies

TEST_CASE("pad surrounds with the value") {
  CHECK(numbers(pad(counted({2, 2}), {1, 0, 0, 1}, 9)) == Numbers{9, 9, 9, 0, 1, 9, 2, 3, 9});
  CHECK(numbers(pad(counted({2}, DType::i64), {2, 1}, -1)) == Numbers{-1, -1, 0, 1, -1});
  CHECK(says(error_of([] { pad(zeros({2}), {std::numeric_limits<std::int64_t>::max(), 1}); }), "exceed 2^63"));
}

TEST_CASE("flip of a view reverses what the view shows") {
  const Tensor x = transpose(counted({2, 3}));
  CHECK(numbers(flip(x, 0)) == Numbers{2, 5, 1, 4, 0, 3});
  CHECK(numbers(flip(x, every_axis)) == Numbers{5, 2, 4, 1, 3, 0});
  CHECK(numbers(flip(expand(counted({1, 2}), {2, 2}), 1)) == Numbers{1, 0, 1, 0});
  const Tensor y = flip(x, every_axis);
  for (const std::int64_t stride : y.strides()) CHECK(stride >= 0);
}

TEST_CASE("concat and stack put tensors side by side") {
  const Tensor a = counted({2, 2}), b = counted({2, 1}) + 10;
  CHECK(numbers(concat({a, b}, 1)) == Numbers{0, 1, 10, 2, 3, 11});
  CHECK(numbers(stack({a, a + 4}, 1)) == Numbers{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(stack({a, a}, -1).shape() == Shape{2, 2, 2});
  CHECK(concat({zeros({2, 0}), zeros({2, 0})}, 1).shape() == Shape{2, 0});
}

TEST_CASE("one tensor twice in a list gets both gradients") {
  const Tensor x = counted({2}).requires_grad(true);
  CHECK(numbers(grad(concat({x, x}), x, tensor({1, 2, 3, 4}, DType::f64))) == Numbers{4, 6});
  CHECK(numbers(grad(stack({x, x}), x, counted({2, 2}) + 1)) == Numbers{4, 6});
}

TEST_CASE("tril and triu select: what they drop may be NaN, forward and backward") {
  const double nan = std::nan("");
  const Tensor x = tensor({1, nan, 2, 3}, {2, 2}, DType::f64);
  CHECK(numbers(tril(x)) == Numbers{1, 0, 2, 3});
  CHECK(numbers(triu(counted({2, 3}), 1)) == Numbers{0, 1, 2, 0, 0, 5});
  CHECK(numbers(tril(counted({3, 2}), -1)) == Numbers{0, 0, 2, 0, 4, 5});
  const Tensor leaf = zeros({2, 2}, DType::f64).requires_grad(true);
  CHECK(numbers(grad(tril(leaf), leaf, x)) == Numbers{1, 0, 2, 3});
  CHECK(numbers(tril(counted({2, 2}), std::numeric_limits<std::int64_t>::max())) == Numbers{0, 1, 2, 3});
  CHECK(numbers(triu(counted({2, 2}), std::numeric_limits<std::int64_t>::min())) == Numbers{0, 1, 2, 3});
}

TEST_CASE("diag makes a matrix of a vector and reads the diagonals of matrices") {
  CHECK(numbers(diag(counted({2}) + 1)) == Numbers{1, 0, 0, 2});
  CHECK(numbers(diag(counted({2, 3}))) == Numbers{0, 4});
  CHECK(numbers(diag(transpose(counted({2, 3})))) == Numbers{0, 4});
  CHECK(numbers(diag(counted({2, 2, 2}))) == Numbers{0, 3, 4, 7});
}

TEST_CASE("contiguous returns what is contiguous, with its graph, and copies the rest") {
  const Tensor x = counted({2, 3}).requires_grad(true);
  CHECK(shares(contiguous(x), x));
  const Tensor y = transpose(x).contiguous();
  CHECK(y.is_contiguous());
  CHECK(numbers(y) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(numbers(grad(y, x, counted({3, 2}))) == Numbers{0, 2, 4, 1, 3, 5});
}

// ---- faults of other systems

TEST_CASE("V01: a transposed left factor") {
  const Tensor a = tensor({{.7, -1.3, 2.1}, {-.4, 1.9, -3.2}}, DType::f64);
  const Numbers y = numbers(matmul(a.T(), ones({2, 2}, DType::f64)));
  const Numbers expected{.3, .3, .6, .6, -1.1, -1.1};
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("V02: batched products of [batch, time, head, width] seen as [batch, head, time, width]") {
  for (std::int64_t batch = 1; batch <= 3; ++batch) {
    const Tensor q = transpose(randn({batch, 3, 2, 4}, DType::f64), 1, 2);
    const Tensor cache = transpose(randn({batch, 8, 2, 4}, DType::f64), 1, 2);
    const Tensor k = slice(cache, 2, 1, 6);  // [batch, head, 5, width], a part of the cache
    const Numbers views = numbers(matmul(q, transpose(k)));
    const Numbers copies = numbers(matmul(q.contiguous(), transpose(k.contiguous())));
    for (std::size_t i = 0; i < views.size(); ++i) CHECK(views[i] == doctest::Approx(copies[i]).epsilon(1e-12));
  }
}

TEST_CASE("V05: the gradient of an expanded base is the sum over its rows") {
  const Tensor base = tensor({3, 5}, {1, 2}, DType::f64).requires_grad(true);
  const Tensor w = tensor({{1, 2}, {3, 4}}, DType::f64);
  const Tensor identity = eye(2, DType::f64);
  CHECK(numbers(grad(matmul(expand(base, {2, -1}), w), base, identity)) == Numbers{1 + 2, 3 + 4});
  const Tensor flat = reshape(expand(base, {2, 2}), {4});
  CHECK(numbers(grad(flat, base, tensor({1, 2, 3, 4}, DType::f64))) == Numbers{4, 6});
}

TEST_CASE("V07: tensors without elements keep their shapes and give zero gradients") {
  const Tensor b = ones({4}).requires_grad(true);
  CHECK(numbers(grad(sum(zeros({4, 0}) + reshape(b, {4, 1})), b)) == Numbers{0, 0, 0, 0});
  const Tensor weight = ones({8, 3}).requires_grad(true);
  CHECK(numbers(grad(sum(matmul(zeros({0, 8}), weight)), weight)) == Numbers(24, 0.0));
  CHECK(numbers(matmul(zeros({2, 0}), zeros({0, 3}))) == Numbers(6, 0.0));
  const Tensor none = zeros({10, 0}).requires_grad(true);
  CHECK(grad(sum(softmax(none)), none).shape() == Shape{10, 0});
  CHECK(sum(none).item() == 0);
  for (const Tensor& y : {flip(none, 0), slice(none, 0, 2, 4), concat({none, none}), tril(none), select(none, 0, 1)})
    CHECK(grad(sum(y), none).shape() == Shape{10, 0});
}

TEST_CASE("V11: extents beyond 32 bits") {
  CHECK(expand(zeros({1, 1}), {65536, 65536}).numel() == 4294967296);
  const Tensor huge = expand(ones({1}, DType::f64), {(std::int64_t{1} << 31) + 10});
  CHECK(slice(huge, 0, std::int64_t{1} << 31).numel() == 10);
  CHECK(sum(huge).item() == 2147483658.0);
  CHECK(reshape(expand(zeros({1, 1}), {131072, 16384}), {-1}).numel() == std::int64_t{131072} * 16384);
  CHECK(says(error_of([] { empty({std::int64_t{1} << 40, std::int64_t{1} << 40}); }), "2^63"));
  CHECK(says(error_of([] { zeros({-1, 2}); }), "negative extent"));
}

TEST_CASE("V12: a view outlives its base, forward and backward") {
  const auto middle = [] {
    const Tensor local = counted({4, 3});
    return slice(transpose(local), 1, 1, 3);
  };
  CHECK(numbers(middle()) == Numbers{3, 6, 4, 7, 5, 8});
  const Tensor leaf = counted({4, 3}).requires_grad(true);
  Tensor view;
  {
    const Tensor local = leaf * 2;
    view = select(slice(local, 0, 1, 3), 0, 1);
  }
  CHECK(numbers(grad(sum(view), leaf)) == Numbers{0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0});
}
