// reshape against brute force over random layouts: the same elements, and a view exactly where one exists.
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <random>

namespace {

using namespace gradus;
using Numbers = std::vector<double>;

Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }
bool shares(const Tensor& a, const Tensor& b) { return a.storage() == b.storage(); }

std::vector<std::int64_t> offsets_of(const Layout& x) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = 0; k < x.shape.numel(); ++k) {
    std::int64_t rest = k, at = x.offset;
    for (int axis = x.shape.rank() - 1; axis >= 0; rest /= x.shape[axis], --axis)
      at += rest % x.shape[axis] * x.strides[axis];
    offsets.push_back(at);
  }
  return offsets;
}

// Whether strides exist that read these offsets, in row-major order of `shape`: each stride is the first step along its
// axis.
bool has_strides(const std::vector<std::int64_t>& offsets, const Shape& shape) {
  if (offsets.empty()) return true;
  Layout layout{shape, shape, offsets[0]};
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    layout.strides[axis] = shape[axis] > 1 ? offsets[static_cast<std::size_t>(step)] - offsets[0] : 0;
    step *= shape[axis];
  }
  return offsets_of(layout) == offsets;
}

class Chance {
 public:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }

  // A view with permuted, sliced, repeated, single and, at times, empty axes.
  Tensor layout() {
    Shape shape;
    for (std::int64_t axis = below(5); axis-- > 0;) shape.push_back(below(40) == 0 ? 0 : 1 + below(4));
    Tensor x = reshape(arange(0, static_cast<double>(shape.numel()), 1, DType::f64), shape);
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (below(4) == 0 && x.size(axis) > 1) x = slice(x, axis, below(2), {}, 1 + below(2));
      if (below(4) == 0) x = slice(x, axis, 0, 1);
    }
    if (x.rank() > 1 && below(2) == 0)
      x = transpose(x, static_cast<int>(below(x.rank())), static_cast<int>(below(x.rank())));
    Shape full = x.shape();
    for (int axis = 0; axis < x.rank(); ++axis)
      if (full[axis] == 1 && below(2) == 0) full[axis] = 1 + below(3);
    if (x.rank() < 6 && below(4) == 0) full.insert(0, 1 + below(3));
    return expand(x, full);
  }
  // Another shape of as many elements.
  Shape shape_of(std::int64_t numel) {
    Shape shape;
    if (numel == 0) {
      for (std::int64_t axis = below(3); axis-- > 0;) shape.push_back(below(4));
      shape.insert(static_cast<int>(below(shape.rank() + 1)), 0);
      return shape;
    }
    while (numel > 1 && shape.rank() < 5) {
      std::int64_t n = 1 + below(numel);
      while (numel % n != 0) --n;
      shape.push_back(n);
      numel /= n;
    }
    shape.push_back(numel);
    if (numel == 1 && below(2) == 0) shape.erase(shape.rank() - 1);
    if (below(3) == 0) shape.insert(static_cast<int>(below(shape.rank() + 1)), 1);
    return shape;
  }

 private:
  std::mt19937_64 engine_{11};
};

}  // namespace

TEST_CASE("reshape of any layout keeps the elements, and is a view exactly where strides for it exist") {
  Chance chance;
  int views = 0, copies = 0;
  for (int round = 0; round < 4000; ++round) {
    const Tensor x = chance.layout();
    const Shape shape = chance.shape_of(x.numel());
    const Tensor y = reshape(x, shape);
    const std::string what = fmt::format("{} with strides {} to {}", x.shape(), x.strides(), shape);
    REQUIRE_MESSAGE(y.shape() == shape, what);
    REQUIRE_MESSAGE(numbers(y) == numbers(x), what);
    REQUIRE_MESSAGE(shares(x, y) == has_strides(offsets_of(x.layout()), shape), what);
    (shares(x, y) ? views : copies) += 1;
  }
  CHECK(views > 500);
  CHECK(copies > 200);
}
