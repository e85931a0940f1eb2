// Two matrices beside each other.
#pragma once

#include <string>

#include "core/tensor.hpp"
#include "study/difference.hpp"

namespace gradus::cli {

/// `claimed` and `right`, of one shape, as text: a window of at most six rows and columns around the largest difference,
/// with a star after each claimed number that is more than `tolerance` away.
std::string side_by_side(const Tensor& claimed, const Tensor& right, const study::Difference& difference,
                         double tolerance);

}  // namespace gradus::cli
