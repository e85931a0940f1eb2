#include "train/batch.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"
#include "train/hash.hpp"

namespace gradus::train {

Tensor padded(std::span<const std::vector<Token>> rows, Token filler) {
  if (rows.empty()) fail("padded: no rows; give at least one");
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  std::vector<Token> all(rows.size() * longest, filler);
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::copy(rows[r].begin(), rows[r].end(), all.begin() + static_cast<std::ptrdiff_t>(r * longest));
  return indices(all, {std::ssize(rows), static_cast<std::int64_t>(longest)});
}

Place place_of_step(std::uint64_t seed, std::int64_t step) {
  const std::int64_t group = step / group_batches;
  std::array<std::int64_t, group_batches> order{};
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Generator generator(hash(hash(seed, "batches"), static_cast<std::uint64_t>(group)));
  for (std::int64_t i = group_batches - 1; i > 0; --i)  // Fisher and Yates
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(generator.integer(0, i + 1))]);
  return {group, order[static_cast<std::size_t>(step % group_batches)]};
}

}  // namespace gradus::train
