#pragma once
#include <cstdint>
#include <vector>

namespace gradus::study {

/// A dense matrix of doubles, row by row.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  double operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
  double& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  /// Rows from `row` on and columns from `column` on.
  Matrix block(std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n) const;
};

/// In descending order, by one-sided Jacobi rotations (Hestenes 1958): each is exact to rounding relative to the
/// largest. Cubic: for matrices with a side of up to a few hundred.
std::vector<double> singular_values(const Matrix& a);

/// The magnitudes of the pivots of an elimination with complete pivoting, in the order in which they come: about as
/// large as the singular values.
std::vector<double> pivots(Matrix a);

/// How many of these, in descending order, are above `relative` times the first.
std::int64_t count_above(const std::vector<double>& values, double relative);

}  // namespace gradus::study
