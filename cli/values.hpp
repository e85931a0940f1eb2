// Tensors as the commands print them. Include in .cpp files only.
#pragma once

#include <string>

#include "cli/json.hpp"
#include "core/tensor.hpp"

namespace gradus::cli {

/// As NumPy prints it: numbers alone.
std::string numpy_text(const Tensor& x);

/// `name = 3.0`, `name [2] = [1. 2.]`, or the matrix below its name and shape; ends in a newline.
std::string titled_text(const std::string& name, const Tensor& x);

/// `{shape, dtype, values}`, the values as nested lists.
Json tensor_json(const Tensor& x);

}  // namespace gradus::cli
