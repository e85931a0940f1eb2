#include "cli/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "draw/text.hpp"

namespace gradus::cli {
namespace {

constexpr std::int64_t window = 6;

/// Which rows or columns are shown.
struct Span {
  std::int64_t begin = 0, end = 0, extent = 0;
  Span(std::int64_t n, std::int64_t worst) : extent(n) {
    begin = std::clamp<std::int64_t>(worst - window / 2, 0, std::max<std::int64_t>(n - window, 0));
    end = std::min(n, begin + window);
  }
  bool cut() const { return end - begin < extent; }
};

/// The last two axes; leading axes of extent 1 for what has fewer.
struct Matrix {
  std::vector<double> values;  ///< of the whole tensor
  std::int64_t offset = 0, columns = 1;
  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(offset + i * columns + j)]; }
};

/// The matrix of the last two axes that holds entry `at`.
Matrix matrix_of(const Tensor& x, const Shape& at) {
  Matrix m{x.to_vector<double>()};
  if (x.rank() == 0) return m;
  m.columns = x.shape().back();
  std::int64_t before = 0;
  for (int axis = 0; axis + 2 < x.rank(); ++axis) before = before * x.shape()[axis] + at[axis];
  if (x.rank() > 2) m.offset = before * x.size(-2) * x.size(-1);
  return m;
}

/// Numbers of one matrix, right-aligned.
std::vector<std::string> lines_of(const Matrix& m, const Span& rows, const Span& columns,
                                  const std::vector<bool>& starred) {
  std::vector<std::string> cells;
  std::size_t width = 0;
  const bool stars = std::find(starred.begin(), starred.end(), true) != starred.end();
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      std::string text = std::isnan(m.at(i, j)) ? "nan" : fmt::format("{:.4f}", m.at(i, j));
      if (const double size = std::abs(m.at(i, j)); size != 0 && (size < 1e-3 || size >= 1e5) && std::isfinite(size))
        text = fmt::format("{:.2e}", m.at(i, j));
      if (stars) text += starred[cells.size()] ? "*" : " ";
      width = std::max(width, text.size());
      cells.push_back(std::move(text));
    }
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    std::string line;
    for (std::int64_t j = columns.begin; j < columns.end; ++j) line += fmt::format("{:>{}} ", cells[at++], width);
    line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Where the window lies, when it is not everything: ` (rows 3 to 8, columns 0 to 5)`.
std::string place(const Shape& shape, const Shape& at, const Span& rows, const Span& columns) {
  std::string text;
  if (shape.rank() > 2) {
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) text += fmt::format("{}, ", at[axis]);
    text = "at [" + text + ":, :]";
  }
  const auto add = [&](const char* what, const Span& s) {
    if (s.cut())
      text += fmt::format("{}{} {} to {} of {}", text.empty() ? "" : ", ", what, s.begin, s.end - 1, s.extent);
  };
  add("rows", rows), add("columns", columns);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string side_by_side(const Tensor& claimed, const Tensor& right, const study::Difference& difference,
                         double tolerance) {
  if (right.numel() == 0) return "";
  const Shape& shape = right.shape();
  const int rank = shape.rank();
  const Span rows(rank < 2 ? 1 : shape[rank - 2], rank < 2 ? 0 : difference.at[rank - 2]);
  const Span columns(rank < 1 ? 1 : shape[rank - 1], rank < 1 ? 0 : difference.at[rank - 1]);
  const Matrix a = matrix_of(claimed, difference.at), b = matrix_of(right, difference.at);
  std::vector<bool> starred;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      const double u = a.at(i, j), v = b.at(i, j);
      starred.push_back(!(u == v || (std::isnan(u) && std::isnan(v)) || std::abs(u - v) <= tolerance));
    }
  const auto left = lines_of(a, rows, columns, starred);
  const auto other = lines_of(b, rows, columns, std::vector<bool>(starred.size(), false));
  const int width = std::max(7, draw::display_width(left.front()));
  std::string text =
      fmt::format("  {}   right{}\n", draw::padded("claimed", width), place(shape, difference.at, rows, columns));
  for (std::size_t i = 0; i < left.size(); ++i)
    text += fmt::format("  {}   {}\n", draw::padded(left[i], width), other[i]);
  return text;
}

}  // namespace gradus::cli
