#pragma once
#include "core/arrays.hpp"
#include "study/derivation.hpp"

#include <set>

namespace gradus::study {

/// A term as NumPy writes it, from the words of each op (OpInfo::numpy). `helpers` collects the functions of
/// study/numpy_helpers.hpp that it calls.
std::string to_numpy(const Term& term, std::set<std::string>& helpers);

/// A value's name as a Python variable that hides nothing: `lambda` and `np` get an underscore.
std::string numpy_name(const std::string& name);

/// The derivation as a NumPy program, a line for each step: it loads `arrays`, runs forward and backward, prints every
/// gradient that was asked for, and compares it with the one in `arrays`. Its exit status is 1 when one differs.
std::string to_numpy_program(const Derivation& d, const std::string& title, const std::string& arrays);

/// What that program loads: what was given, the cotangent, and every gradient of a backward step.
NamedTensors numpy_arrays(const Derivation& d);

}  // namespace gradus::study
