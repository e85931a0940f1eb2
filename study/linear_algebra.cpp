#include "study/linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradus::study {
namespace {

double dot(const double* x, const double* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// Turns x and y, of length n, within their plane so that they are orthogonal; false when they were.
bool made_orthogonal(double* x, double* y, std::int64_t n) {
  const double xx = dot(x, x, n), yy = dot(y, y, n), xy = dot(x, y, n);
  if (std::abs(xy) <= std::numeric_limits<double>::epsilon() * std::sqrt(xx * yy) || xy == 0) return false;
  const double ratio = (yy - xx) / (2 * xy);
  const double tangent = std::copysign(1.0, ratio) / (std::abs(ratio) + std::hypot(1.0, ratio));
  const double cosine = 1 / std::hypot(1.0, tangent), sine = tangent * cosine;
  for (std::int64_t i = 0; i < n; ++i) {
    const double u = x[i], v = y[i];
    x[i] = cosine * u - sine * v;
    y[i] = sine * u + cosine * v;
  }
  return true;
}

double largest_magnitude(const Matrix& a) {
  double largest = 0;
  for (const double v : a.values) largest = std::max(largest, std::abs(v));
  return largest;
}

}  // namespace

Matrix Matrix::block(std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n) const {
  Matrix part(m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) part(i, j) = (*this)(row + i, column + j);
  return part;
}

std::vector<double> singular_values(const Matrix& a) {
  // The shorter side's vectors are rotated against each other, scaled so that squares neither vanish nor overflow.
  const bool by_rows = a.rows <= a.columns;
  Matrix v(by_rows ? a.rows : a.columns, by_rows ? a.columns : a.rows);
  const double scale = largest_magnitude(a);
  if (scale == 0) return std::vector<double>(static_cast<std::size_t>(v.rows), 0.0);
  for (std::int64_t i = 0; i < v.rows; ++i)
    for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) = (by_rows ? a(i, j) : a(j, i)) / scale;
  constexpr int most_sweeps = 60;
  bool turned = true;
  for (int sweep = 0; turned && sweep < most_sweeps; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p + 1 < v.rows; ++p)
      for (std::int64_t q = p + 1; q < v.rows; ++q)
        turned |= made_orthogonal(&v.values[static_cast<std::size_t>(p * v.columns)],
                                  &v.values[static_cast<std::size_t>(q * v.columns)], v.columns);
  }
  std::vector<double> found;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    const double* const row = &v.values[static_cast<std::size_t>(i * v.columns)];
    found.push_back(scale * std::sqrt(dot(row, row, v.columns)));
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

std::vector<double> pivots(Matrix a) {
  std::vector<double> found;
  for (std::int64_t step = 0; step < std::min(a.rows, a.columns); ++step) {
    std::int64_t row = step, column = step;
    for (std::int64_t i = step; i < a.rows; ++i)
      for (std::int64_t j = step; j < a.columns; ++j)
        if (std::abs(a(i, j)) > std::abs(a(row, column))) row = i, column = j;
    found.push_back(std::abs(a(row, column)));
    if (found.back() == 0) break;
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(step, j), a(row, j));
    for (std::int64_t i = 0; i < a.rows; ++i) std::swap(a(i, step), a(i, column));
    for (std::int64_t i = step + 1; i < a.rows; ++i) {
      const double factor = a(i, step) / a(step, step);
      if (factor == 0) continue;
      for (std::int64_t j = step; j < a.columns; ++j) a(i, j) -= factor * a(step, j);
    }
  }
  return found;
}

std::int64_t count_above(const std::vector<double>& values, double relative) {
  return std::count_if(values.begin(), values.end(), [&](double v) { return v > 0 && v > relative * values.front(); });
}

}  // namespace gradus::study
