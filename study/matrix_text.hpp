#pragma once
#include "core/tensor.hpp"

#include <string>
#include <vector>

// Small matrices as text, with numbers that do not depend on the last digits.
namespace gradus::study {

/// The number with 4 decimals, a tie (up to rounding errors) away from zero, never -0.0000; `inf`, `-inf`, `nan`.
std::string four_decimals(double value);

/// A line for each row of the last two axes, numbers in columns of equal width; a blank line between the matrices of a
/// higher rank. Integers have no decimals where all entries are, and 0 has none (up to
/// 1e-9). A vector is one row, a number one entry.
std::vector<std::string> matrix_lines(const Tensor& x);

/// Blocks of lines beside each other, `gap` columns apart, where they fit `columns`; else below each other.
std::vector<std::string> side_by_side(const std::vector<std::vector<std::string>>& blocks, int gap, int columns);

}  // namespace gradus::study
