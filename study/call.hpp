#pragma once
#include "core/registry.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradus::study {

using Keywords = std::vector<std::pair<std::string, Value>>;

/// Calls an op as the language does: numbers and lists are tensors of `dtype` where nothing else decides it, and an op
/// on plain numbers alone whose result is one element gives a plain number, of which no graph and no observer knows.
Value call_op(const OpEntry& op, std::vector<Value> positional, Keywords keywords, DType dtype);

/// The same for an op that is known by its name.
Value run_op(std::string_view op, std::vector<Value> positional, Keywords keywords = {}, DType dtype = DType::f64);

}  // namespace gradus::study
