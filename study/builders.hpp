#pragma once
#include "study/language.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The functions of the language that are no ops: they make tensors and masks from plain values.
namespace gradus::study {

/// A function that makes a value from its arguments.
struct Builder {
  std::string_view name;
  std::string_view signature;  ///< `full(shape, value, dtype=None)`
  std::string_view description;
  Value (*call)(const Builder& self, std::vector<Value> positional, std::vector<std::pair<std::string, Value>> keywords,
                Scope& scope);
};

/// All of them, in the order in which they are best read.
const std::vector<Builder>& builders();
/// The one of that name, or null.
const Builder* find_builder(std::string_view name);

/// No builder makes a tensor with more elements: 2^27, a gigabyte of f64.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 27;

}  // namespace gradus::study
