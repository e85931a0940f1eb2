#pragma once
#include "core/value.hpp"

#include <string_view>

// What operators do. Numbers among themselves stay plain numbers; with tensors, masks and lists the ops do the work.
namespace gradus::study {

/// `a sign b` for + - * / @ ** == != < <= > >= & |. Lists are tensors of `dtype`. Error as the op's, naming it.
Value binary(std::string_view sign, const Value& a, const Value& b, DType dtype);

/// `sign a` for - + ~.
Value unary(std::string_view sign, const Value& a, DType dtype);

}  // namespace gradus::study
