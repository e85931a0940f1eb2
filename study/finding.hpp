#pragma once
#include "core/tensor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradus::study {

/// One thing that an exhibit computed: a number, a row of numbers, a matrix with headings, or what the program said.
struct Finding {
  /// How its numbers are written. An exact 0 is written `0` in all of them.
  enum class Style : std::uint8_t {
    decimal,     ///< `digits` digits after the point
    scientific,  ///< `digits` digits in all
    whole,       ///< 2,103,552
    exact,       ///< as many digits as tell it from every other number: 2 is 2 exactly
  };
  std::string name;                  ///< for programs and tests: unique in its exhibit
  std::string what;                  ///< for people
  Shape shape = {};                  ///< of the values: rank 0, 1 or 2
  std::vector<double> values = {};   ///< in row-major order
  std::vector<std::string> columns;  ///< headings of the last axis, or none
  std::vector<std::string> rows;     ///< headings of the first of two axes, or none
  std::string text = {};             ///< instead of values
  Style style = Style::decimal;
  int digits = 3;

  /// The only number. Error when there are several.
  double value() const;
  /// A number of a matrix. Error when out of range.
  double at(std::int64_t row, std::int64_t column) const;

  /// The same with another style, digits or headings: `number(...).scientific()`.
  Finding scientific(int digits_in_all = 2) &&;
  Finding whole() &&;
  Finding exact() &&;
  Finding decimals(int after_the_point) &&;
  Finding headed(std::vector<std::string> column_names, std::vector<std::string> row_names = {}) &&;
};

/// One number.
Finding number(std::string name, std::string what, double value);
/// A row of numbers.
Finding numbers(std::string name, std::string what, std::vector<double> values);
/// The elements of a tensor of rank 0, 1 or 2.
Finding matrix(std::string name, std::string what, const Tensor& values);
/// A table from its rows. Error when they differ in length.
Finding table(std::string name, std::string what, const std::vector<std::vector<double>>& rows);
/// What the program said, such as the text of an error.
Finding said(std::string name, std::string what, std::string text);

/// One number as a style writes it.
std::string to_string(double value, Finding::Style style, int digits);

/// Findings as lines of at most `columns` columns: what each is on the left, numbers aligned on the right, matrices
/// below their name.
std::string to_text(const std::vector<Finding>& findings, int columns);

}  // namespace gradus::study
