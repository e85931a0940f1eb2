#pragma once
#include <set>
#include <string>

namespace gradus::study {

/// True for functions that the words of ops (OpInfo::numpy) call and NumPy does not have.
bool is_numpy_helper(const std::string& name);

/// The Python definitions of these helpers, and of those that they call.
std::string numpy_helpers(const std::set<std::string>& names);

}  // namespace gradus::study
