#include "core/check.hpp"
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>

// sum and mean: exactness, layouts, threads, memory; and the copies that other reductions make of layouts they cannot
// read.
using namespace gradus;

namespace {

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

// The sum over one axis in long double, the slow way.
std::vector<double> reference_sum(const Tensor& x, int axis) {
  std::vector<double> y;
  const std::int64_t n = x.shape()[axis];
  const Tensor rows = x.T().contiguous();
  const std::vector<double> all = values(axis == 0 ? rows : x);
  for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(n)) {
    long double total = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) total += static_cast<long double>(all[first + i]);
    y.push_back(static_cast<double>(total));
  }
  return y;
}

}  // namespace

TEST_CASE("long f32 sums neither drift nor stick, along any axis") {
  CHECK(sum(ones({20000000})).item() == 20000000);
  CHECK(sum(full({1000000}, 0.1)).item() == doctest::Approx(100000).epsilon(1e-7));
  CHECK(mean(full({1000000}, 0.1)).item() == doctest::Approx(0.1).epsilon(1e-7));
  const double tenth = 1000000 * static_cast<double>(0.1F);  // what the f32 numbers really add up to
  for (const Shape& shape : {Shape{1000000, 2}, Shape{2, 1000000}, Shape{1000000, 37}}) {
    const int longest = shape[0] == 1000000 ? 0 : 1;
    const Tensor x = full(shape, 0.1);
    for (const double v : values(sum(x, longest))) CHECK(v == static_cast<double>(static_cast<float>(tenth)));
    for (const double v : values(mean(x, longest))) CHECK(v == static_cast<double>(0.1F));
    for (const double v : values(sum(x.T(), 1 - longest))) CHECK(v == static_cast<double>(static_cast<float>(tenth)));
  }
}

TEST_CASE("sums of f64 are as exact along columns as along rows") {
  Generator generator(3);
  for (const Shape& shape : {Shape{100003, 3}, Shape{3, 100003}, Shape{1000, 300}, Shape{70000, 1}}) {
    const Tensor x = uniform(shape, 0, 1, DType::f64, generator);
    for (const int axis : {0, 1}) {
      const std::vector<double> expected = reference_sum(x, axis), found = values(sum(x, axis));
      REQUIRE(found.size() == expected.size());
      // Sums of up to 256 terms and a pairwise fold of them: a few hundred roundings at the very worst.
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] / expected[i] - 1) < 1e-14);
    }
  }
}

TEST_CASE("every layout and every set of axes has the same sum") {
  Generator generator(4);
  const Tensor base = randn({6, 5, 7, 4}, DType::f64, generator);
  for (const Shape& order :
       {Shape{0, 1, 2, 3}, Shape{3, 2, 1, 0}, Shape{1, 0, 3, 2}, Shape{0, 2, 1, 3}, Shape{2, 3, 0, 1}}) {
    const Tensor permuted = permute(base, order);
    for (const Tensor& x : {permuted, slice(permuted, 1, 1, 4), slice(permuted, 3, 0, {}, 2)}) {
      const Tensor dense = copy_of(x);
      for (unsigned mask = 0; mask < 16; ++mask) {
        Shape axes;
        for (int i = 0; i < 4; ++i)
          if ((mask >> i) & 1U) axes.push_back(i);
        Tensor expected = dense;
        for (int i = 3; i >= 0; --i)  // one axis at a time, each moved last and made dense
          if ((mask >> i) & 1U) expected = sum(transpose(expected, i, -1).contiguous(), -1, true).transpose(i, -1);
        const Tensor found = sum(x, Axes(axes), true);
        REQUIRE(found.shape() == expected.shape());
        CHECK(difference(values(found), values(expected)) < 1e-13);
        CHECK(difference(values(mean(x, Axes(axes), true)), values(mean(dense, Axes(axes), true))) < 1e-13);
        CHECK(values(max(x, Axes(axes))) == values(max(dense, Axes(axes))));
      }
    }
  }
}

TEST_CASE("sums have the same bits on any number of threads") {
  Generator generator(5);
  const int before = threads();
  for (const Shape& shape : {Shape{4096, 300}, Shape{300000, 3}, Shape{1000000}, Shape{40, 3000, 17}}) {
    const Tensor x = randn(shape, DType::f32, generator);
    for (int axis = 0; axis < x.rank(); ++axis) {
      set_threads(1);
      const std::vector<double> one = values(sum(x, axis));
      set_threads(4);
      CHECK(values(sum(x, axis)) == one);
    }
  }
  set_threads(before);
}

TEST_CASE("an expanded tensor is summed without being written out") {
  const std::int64_t n = (std::int64_t{1} << 31) + 10;
  const Tensor x = expand(ones({1}, DType::f64), {n});
  reset_peak_memory();
  const std::int64_t live = memory_use().live;
  CHECK(sum(x).item() == 2147483658.0);
  CHECK(mean(x).item() == 1);
  CHECK(max(x).item() == 1);
  CHECK(sum(expand(indices({3}), {n})).item() == 6442450974.0);
  CHECK(memory_use().peak - live < 1000);
  CHECK(std::isnan(sum(expand(tensor({NAN}), {n})).item()));
  CHECK(sum(expand(tensor({INFINITY}), {0})).item() == 0);  // nothing, not 0 times infinity
  CHECK(values(sum(expand(tensor({{1, 2}}), {5, 2}), 0)) == std::vector<double>{5, 10});
  CHECK(values(sum(expand(tensor({1, 2}, {2, 1}), {2, 5}), 0)) == std::vector<double>{3, 3, 3, 3, 3});
}

TEST_CASE("sums of truth values and integers are exact integers") {
  const Tensor x = full({1000, 3}, 1, DType::b8);
  CHECK(sum(x, 0).dtype() == DType::i64);
  CHECK(values(sum(x, 0)) == std::vector<double>{1000, 1000, 1000});
  CHECK(values(sum(x, 1)) == std::vector<double>(1000, 3));
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // no double holds it
  CHECK(sum(indices({large, 0, 0})).to_vector<std::int64_t>()[0] == large);
}

TEST_CASE("copies of permuted and sliced tensors hold each element at its place") {
  const Tensor base = reshape(arange(0, 70 * 45 * 9, 1, DType::f32), {70, 45, 9});
  for (const Shape& order :
       {Shape{0, 1, 2}, Shape{0, 2, 1}, Shape{1, 0, 2}, Shape{1, 2, 0}, Shape{2, 0, 1}, Shape{2, 1, 0}}) {
    const Tensor permuted = permute(base, order);
    for (const Tensor& x : {permuted, slice(permuted, 0, 1), slice(permuted, 2, 0, {}, 2)}) {
      const Tensor y = copy_of(x);
      REQUIRE(y.is_contiguous());
      const float* next = y.data<float>();
      const Strides& step = x.strides();
      bool same = true;
      for (std::int64_t i = 0; i < x.shape()[0]; ++i)
        for (std::int64_t j = 0; j < x.shape()[1]; ++j)
          for (std::int64_t k = 0; k < x.shape()[2]; ++k)
            same = same && *next++ == x.data<float>()[i * step[0] + j * step[1] + k * step[2]];
      CHECK(same);
    }
  }
}
