// Small help for --json. Include in .cpp files only.
#pragma once

#include <cmath>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"

namespace gradus::cli {

using Json = nlohmann::ordered_json;

/// A number; what is not finite as one of the strings nan, inf, -inf.
inline Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Prints one JSON value on one line. Text that is no UTF-8 loses its bad bytes.
inline void print_json(const Json& json) { print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }

}  // namespace gradus::cli
