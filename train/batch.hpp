// Rows of different lengths as one tensor, and batches of rows of similar length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor.hpp"
#include "train/tokenizer.hpp"

namespace gradus::train {

/// i64 [rows, longest], each row filled up at its end. Errors: no rows.
Tensor padded(std::span<const std::vector<Token>> rows, Token filler);

/// Which batch of a group a step takes, and where the group's examples begin.
///
/// Rows of equal length waste nothing on padding. So the examples of `group_batches` steps are drawn together, sorted
/// by length and dealt out as batches, in an order shuffled by the seed. All of it is a function of seed and step: a
/// run that resumes needs no other state.
struct Place {
  std::int64_t group;  ///< examples group * group_batches * batch onwards
  std::int64_t batch;  ///< which of the group's batches, 0 the shortest rows
};
inline constexpr std::int64_t group_batches = 8;
Place place_of_step(std::uint64_t seed, std::int64_t step);

}  // namespace gradus::train
