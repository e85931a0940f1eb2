#pragma once
#include "core/tensor.hpp"

#include <string>
#include <vector>

// Which entries of a tensor a page has room for, and how their numbers are written.
namespace gradus::study {

/// The part of a tensor that is shown: some of its matrices (one, up to rank 2), of each the upper left corner.
struct ShownPart {
  std::vector<Shape> matrices;  ///< the leading indices of each; one empty Shape up to rank 2
  std::int64_t all_matrices = 0;
  std::int64_t rows = 0, columns = 0;  ///< of each corner; a vector is one row
  std::int64_t all_rows = 0, all_columns = 0;
  int rank = 0;

  bool cropped() const { return rows < all_rows || columns < all_columns; }
  bool some_matrices() const { return static_cast<std::int64_t>(matrices.size()) < all_matrices; }
  bool empty() const { return all_matrices == 0 || all_rows == 0 || all_columns == 0; }
  /// The index of an entry of matrix `m`: [..., row, column], [column] for a vector, [] for a number.
  Shape index(std::size_t m, std::int64_t row, std::int64_t column) const;
  /// The indices of all entries shown: matrix by matrix, row by row.
  std::vector<Shape> indices() const;
};

/// The part of a tensor of that shape with at most `most` rows and columns a matrix, and at most 4 matrices.
ShownPart shown_part(const Shape& shape, std::int64_t most);

/// The numbers of one tensor, written with as many decimals as its largest needs for three or four digits.
class Numbers {
 public:
  explicit Numbers(const Tensor& x);
  double at(const Shape& index) const;
  /// `0.253`; `0` for exactly 0; `3e-09` where the decimals would not show it; `nan`, `inf`; integers as they are; `True`. Where all are very small or large: `3.12e-26`.
  std::string text(const Shape& index) const;
  /// The value over the largest finite absolute value: in [-1, 1], 0 for what is not finite or no float.
  double strength(const Shape& index) const;

 private:
  std::vector<double> values_;
  Shape shape_;
  double largest_ = 0;
  int decimals_ = 0;
  bool floating_ = false;
  bool truth_ = false;
  bool powers_ = false;  ///< all are so small or large that powers of ten are written
};

/// `[0, 2]` as programs write an entry, `[0,2]`.
std::string index_text(const Shape& index);

}  // namespace gradus::study
