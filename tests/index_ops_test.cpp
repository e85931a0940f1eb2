// Ops with i64 indices: repeats, padding rows, bad indices (CASES V08, V10), and the same bits on any number of
// threads.
#include "core/grad.hpp"
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace gradus;
using Numbers = std::vector<double>;

Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }
Tensor doubles(std::initializer_list<double> values) { return tensor(values, DType::f64); }

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

// The gradient by the fused rule and by the composite one; they must agree.
Numbers gradient(const Tensor& y, const Tensor& x, const Tensor& g) {
  const Numbers fused = numbers(grad(y, x, g));
  CHECK(fused == numbers(grad(y, x, g, {.create_graph = true})));
  return fused;
}

}  // namespace

TEST_CASE("V08: an index that occurs twice gets both cotangents") {
  const Tensor x = doubles({0.1}).requires_grad(true), index = indices({0, 0}), g = doubles({0.2, 0.3});
  CHECK(gradient(gather(x, index, 0), x, g) == Numbers{0.5});
  CHECK(gradient(index_select(x, index, 0), x, g) == Numbers{0.5});
  CHECK(numbers(scatter_add(x.detach(), index, g, 0))[0] == doctest::Approx(0.6));
}

TEST_CASE("V10: a repeated row of an embedding sums its cotangents; the padding row gets exactly 0 at every length") {
  const Tensor weight = ones({4, 2}, DType::f64).requires_grad(true);
  const Tensor y = embedding(weight, indices({1, 1, 2}));
  CHECK(gradient(y, weight, ones_like(y)) == Numbers{0, 0, 2, 2, 1, 1, 0, 0});
  for (const std::int64_t n : {1, 768, 769, 5000}) {
    const Tensor padded = embedding(weight, zeros({n}, DType::i64), 0);
    CHECK(padded.at({n - 1, 1}) == 1);
    CHECK(gradient(padded, weight, ones_like(padded)) == Numbers(8, 0.0));
  }
  const Tensor nan = full({1, 2}, std::nan(""), DType::f64), one = embedding(weight, indices({0, 3}), 0);
  CHECK(gradient(one, weight, concat({nan, ones_like(nan)})) == Numbers{0, 0, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("V10: a bad index is an Error with value, position and extent, and none wraps") {
  const Tensor weight = ones({5, 2});
  CHECK(says(error_of([&] {
               embedding(weight, indices({0, -1}));
             }),
             "embedding: index -1 at position [1] is out of range for 5 rows"));
  CHECK(says(error_of([&] {
               embedding(weight, reshape(indices({0, 1, 5, 0}), {2, 2}));
             }),
             "index 5 at position [1, 0]"));
  CHECK(says(error_of([&] { embedding(weight, indices({0}), 5); }), "padding_index 5 is out of range for 5 rows"));
  CHECK(says(error_of([&] { index_select(weight, indices({2}), 1); }),
             "index 2 at position [0] is out of range for 2 entries"));
  CHECK(says(error_of([&] { gather(weight, indices({7}), 0); }), "index [1] does not fit x [5, 2]"));
  CHECK(says(error_of([&] { one_hot(indices({0, 4}), 4); }), "index 4 at position [1] is out of range for 4 classes"));
}

TEST_CASE("an index may have any layout, and index_select puts its shape in place of the axis") {
  const Tensor x = reshape(arange(0, 6, 1, DType::f64), {2, 3});
  const Tensor index = transpose(reshape(indices({2, 0, 1, 1}), {2, 2}));  // [[2, 1], [0, 1]]
  CHECK(numbers(index_select(x, index, 1)) == Numbers{2, 1, 0, 1, 5, 4, 3, 4});
  CHECK(index_select(x, index, 0 + 1).shape() == Shape{2, 2, 2});
  CHECK(numbers(index_select(x, expand(indices({1}), {2}), 0)) == Numbers{3, 4, 5, 3, 4, 5});
  CHECK(numbers(gather(x, index, 1)) == Numbers{2, 1, 3, 4});
}

TEST_CASE("sums of very many repeats do not drift in f32") {
  constexpr std::int64_t n = 1000000;
  const Tensor index = zeros({n}, DType::i64), tenths = full({n}, 0.1f);
  const double expected = static_cast<double>(0.1f) * n;
  CHECK(scatter_add(zeros({1}), index, tenths, 0).item() == doctest::Approx(expected).epsilon(1e-7));
  const Tensor weight = zeros({1, 1}).requires_grad(true);
  const Tensor y = embedding(weight, index);
  CHECK(grad(y, weight, full({n, 1}, 0.1f)).item() == doctest::Approx(expected).epsilon(1e-7));
}

TEST_CASE("scattered gradients have the same bits on any number of threads, and in every run") {
  Generator generator(3);
  const Tensor index = randint(0, 50, {20000}, generator), table = randn({50, 37}, DType::f32, generator);
  const Tensor g = randn({20000, 37}, DType::f32, generator);
  const Tensor wide = randint(0, 50, {20000, 37}, generator);
  const int before = threads();
  const auto run = [&](int count) {
    set_threads(count);
    Tensor weight = table.detach();
    weight.requires_grad(true);
    Numbers all = numbers(grad(embedding(weight, index), weight, g));
    for (const Tensor& t : {grad(gather(weight, wide, 0), weight, g), scatter_add(table, wide, g, 0)}) {
      const Numbers more = numbers(t);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  };
  const Numbers one = run(1);
  for (const int count : {1, 2, 3, 8}) CHECK(run(count) == one);
  set_threads(before);
}

TEST_CASE("an index that is written to before backward is refused") {
  const Tensor weight = ones({3, 2}).requires_grad(true);
  Tensor index = indices({0, 1});
  const Tensor y = embedding(weight, index);
  {
    const NoGrad guard;
    fill(index, 2);
  }
  CHECK(says(error_of([&] { grad(sum(y), weight); }), "embedding: an index or another tensor that it kept"));
}

TEST_CASE("one_hot is f32 and ready for arithmetic") {
  const Tensor y = one_hot(indices({2, 0}), 3);
  CHECK(y.dtype() == DType::f32);
  CHECK(numbers(y) == Numbers{0, 0, 1, 1, 0, 0});
}
