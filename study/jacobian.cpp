#include "study/jacobian.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/derivatives.hpp"
#include "core/mode.hpp"
#include "ops/ops.hpp"
#include "study/program_function.hpp"

namespace gradus::study {
namespace {

constexpr double close_enough = 1e-6;

// The program on a flat x, with a flat result.
Tensor flat(const ProgramFunction& f, const Tensor& x) {
  const Tensor y = f(reshape(x, f.x().shape()));
  if (y.dtype() != DType::f64) fail("jacobian: the result is {} and has no derivative; make it f64", y.dtype());
  return reshape(y, {y.numel()});
}

Matrix matrix_at(const ProgramFunction& f, const Tensor& x) {
  const Tensor j = gradus::jacobian([&](const Tensor& t) { return flat(f, t); }, x);
  Matrix m(j.size(0), j.size(1));
  m.values = j.to_vector<double>();
  return m;
}

// d y / d x[column], by differences of fourth order: where y is tame, their error is some 1e-12 of the derivatives' size.
std::vector<double> difference_column(const ProgramFunction& f, const Tensor& x, std::int64_t column, double relative) {
  const NoGrad guard;
  const double at = x.data<double>()[column], step = relative * std::max(1.0, std::abs(at));
  std::vector<double> sum;
  const std::pair<double, double> stencil[] = {{-2, 1.0 / 12}, {-1, -2.0 / 3}, {1, 2.0 / 3}, {2, -1.0 / 12}};
  for (const auto& [steps, weight] : stencil) {
    Tensor moved = copy_of(x);
    moved.fresh_data<double>()[column] = at + steps * step;
    const std::vector<double> y = flat(f, moved).to_vector<double>();
    sum.resize(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) sum[i] += weight * y[i] / step;
  }
  return sum;
}

double difference_at(const Matrix& m, const ProgramFunction& f, const Tensor& x, double step) {
  Matrix numeric(m.rows, m.columns);
  for (std::int64_t k = 0; k < m.columns; ++k) {
    const std::vector<double> column = difference_column(f, x, k, step);
    for (std::int64_t i = 0; i < m.rows; ++i) numeric(i, k) = column[static_cast<std::size_t>(i)];
  }
  return difference(m.values, numeric.values);
}

// Where y bends within the step, a shorter one tells more.
double difference_from(const Matrix& m, const ProgramFunction& f, const Tensor& x) {
  double least = difference_at(m, f, x, 1e-3);
  for (const double step : {1e-4, 1e-5})
    if (!(least <= close_enough)) least = std::fmin(least, difference_at(m, f, x, step));
  return least;
}

// Rows are the last axes, where y and x have the same extents before them.
BlockStructure blocks_of(const Matrix& m, const Shape& y, const Shape& x) {
  BlockStructure b;
  if (y.rank() < 2 || y.rank() != x.rank()) return b;
  std::int64_t count = 1;
  for (int axis = 0; axis + 1 < y.rank(); ++axis) {
    if (y[axis] != x[axis]) return b;
    count *= y[axis];
  }
  if (count < 2 || m.values.empty()) return b;
  b = {count, y.back(), x.back(), {}};
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < count; ++k) {
      const Matrix block = m.block(i * b.rows, k * b.columns, b.rows, b.columns);
      if (std::all_of(block.values.begin(), block.values.end(), [](double v) { return v == 0; }))
        b.zero.emplace_back(i, k);
    }
  return b;
}

// At -x and at points around x of several sizes, as far as the program can be run there.
std::vector<Matrix> matrices_elsewhere(const ProgramFunction& f, const Tensor& x) {
  std::vector<Matrix> found;
  Generator generator(1);
  std::vector<double> sizes{0, 1000};
  if (x.numel() <= 256) sizes = {0, 1, 10, 1000};
  for (const double size : sizes) {
    Tensor other = size == 0 ? -x : x + size * randn(x.shape(), DType::f64, generator);
    try {
      found.push_back(matrix_at(f, other.detach()));
    } catch (const Error&) { return {}; }
  }
  return found;
}

}  // namespace

Jacobian jacobian(std::string_view program, const Scope& scope, const std::string& variable) {
  if (scope.dtype != DType::f64) fail("jacobian: it is verified in f64; leave out --dtype {}", scope.dtype);
  const ProgramFunction f(program, scope, variable);
  Jacobian j;
  j.name = variable;
  j.x = f.x();
  {
    const NoGrad guard;
    j.y = copy_of(f(j.x));
  }
  const std::int64_t m = j.y.numel(), n = j.x.numel();
  if (m > 0 && n > most_jacobian_entries / m)
    fail(
        "jacobian: {} entries of the result by {} of {} are more than {}; take a smaller input, or a part such as y[0]",
        m, n, variable, most_jacobian_entries);
  const Tensor x = reshape(j.x, {n});
  j.matrix = matrix_at(f, x);
  if (!j.matrix.values.empty()) j.difference = difference_from(j.matrix, f, x);
  j.blocks = blocks_of(j.matrix, j.y.shape(), j.x.shape());
  detail::find_facts(j, matrices_elsewhere(f, x));
  return j;
}

}  // namespace gradus::study
