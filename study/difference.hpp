#pragma once
#include "core/tensor.hpp"

#include <string>

// How far two tensors are apart: what claims, answers and comparisons are judged by.
namespace gradus::study {

/// Where two tensors of one shape differ most.
struct Difference {
  double largest = 0;  ///< max|a - b|; NaN where one of them is NaN and the other is not
  Shape at;            ///< the first entry with it
  double a = 0, b = 0;
  double size = 0;  ///< max|b| over the finite entries
};

/// Entries that are both NaN, or the same infinity, do not differ. Any dtype. Error when the shapes differ.
Difference difference_of(const Tensor& a, const Tensor& b);

/// ` at [1, 2]`, and nothing for the only entry of rank 0.
std::string at_text(const Shape& index);

/// A number as people read it: four significant digits, whole numbers in full.
std::string number_text(double x);

}  // namespace gradus::study
