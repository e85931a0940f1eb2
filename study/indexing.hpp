#pragma once
#include "core/value.hpp"

#include <optional>
#include <vector>

namespace gradus::study {

/// One item between the commas of x[...].
struct IndexItem {
  enum class Kind : std::uint8_t { integer, slice, ellipsis, new_axis };
  Kind kind = Kind::slice;
  std::int64_t index = 0;             ///< of an integer
  std::optional<std::int64_t> start;  ///< of a slice
  std::optional<std::int64_t> stop;
  std::int64_t step = 1;
};

/// x[items], by the ops select, slice and reshape. A whole number takes one element of a list; other lists are tensors
/// of `dtype`. Error for more items than axes, two ellipses, a step that is not positive.
Value indexed(const Value& x, const std::vector<IndexItem>& items, DType dtype);

}  // namespace gradus::study
