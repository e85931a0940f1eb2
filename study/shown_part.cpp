#include "study/shown_part.hpp"

#include <cmath>

namespace gradus::study {

namespace {

constexpr std::int64_t most_matrices = 4;

}  // namespace

Shape ShownPart::index(std::size_t m, std::int64_t row, std::int64_t column) const {
  Shape at = matrices[m];
  if (rank >= 2) at.push_back(row);
  if (rank >= 1) at.push_back(column);
  return at;
}

std::vector<Shape> ShownPart::indices() const {
  std::vector<Shape> all;
  if (empty()) return all;
  for (std::size_t m = 0; m < matrices.size(); ++m)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) all.push_back(index(m, row, column));
  return all;
}

ShownPart shown_part(const Shape& shape, std::int64_t most) {
  ShownPart part;
  part.rank = shape.rank();
  part.all_columns = part.rank >= 1 ? shape[part.rank - 1] : 1;
  part.all_rows = part.rank >= 2 ? shape[part.rank - 2] : 1;
  part.columns = std::min(part.all_columns, most);
  part.rows = std::min(part.all_rows, most);
  Shape leading;
  for (int i = 0; i + 2 < part.rank; ++i) leading.push_back(shape[i]);
  part.all_matrices = leading.numel();
  for (std::int64_t m = 0; m < std::min(part.all_matrices, most_matrices); ++m) {
    Shape at = leading;
    std::int64_t rest = m;
    for (int i = leading.rank() - 1; i >= 0; --i) at[i] = rest % leading[i], rest /= leading[i];
    part.matrices.push_back(at);
  }
  return part;
}

Numbers::Numbers(const Tensor& x)
    : values_(x.to_vector<double>()),
      shape_(x.shape()),
      floating_(is_floating(x.dtype())),
      truth_(x.dtype() == DType::b8) {
  for (const double v : values_)
    if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(v));
  if (!floating_ || largest_ == 0) return;
  const int exponent = static_cast<int>(std::floor(std::log10(largest_) + 1e-9));
  powers_ = exponent < -4 || exponent > 6;
  decimals_ = std::clamp(exponent >= 0 ? 3 - exponent : 2 - exponent, 0, 6);
}

double Numbers::at(const Shape& index) const {
  std::int64_t flat = 0;
  for (int i = 0; i < index.rank(); ++i) flat = flat * shape_[i] + index[i];
  return values_[static_cast<std::size_t>(flat)];
}

std::string Numbers::text(const Shape& index) const {
  const double v = at(index);
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  if (truth_) return v != 0 ? "True" : "False";
  if (!floating_ || v == 0) return fmt::format("{:.0f}", v == 0 ? 0.0 : v);
  if (powers_) return fmt::format("{:.2e}", v);
  if (std::abs(v) < 0.5 * std::pow(10, -decimals_)) return fmt::format("{:.0e}", v);
  return fmt::format("{:.{}f}", v, decimals_);
}

double Numbers::strength(const Shape& index) const {
  const double v = at(index);
  return floating_ && std::isfinite(v) && largest_ > 0 ? v / largest_ : 0;
}

std::string index_text(const Shape& index) {
  std::string text = "[";
  for (const std::int64_t i : index) text += (text.size() > 1 ? "," : "") + std::to_string(i);
  return text + "]";
}

}  // namespace gradus::study
