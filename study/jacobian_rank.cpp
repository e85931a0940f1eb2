#include <algorithm>

#include "study/jacobian.hpp"

namespace gradus::study {
namespace {

constexpr double exactness = 1e-10;  // singular values below it, relative to the first, are 0
constexpr double nearly = 1e-3;      // and below this nearly
constexpr std::int64_t largest_for_singular_values = 256;

struct Rank {
  std::int64_t exact = 0;
  std::int64_t strong = 0;  ///< without the singular values that are nearly lost
  double next = 0;          ///< the first of those, relative to the largest
};

Rank rank_of(const Matrix& m) {
  if (std::min(m.rows, m.columns) == 0) return {};
  const bool small = std::min(m.rows, m.columns) <= largest_for_singular_values;
  const std::vector<double> values = small ? singular_values(m) : pivots(m);
  Rank r{count_above(values, exactness), 0, 0};
  r.strong = small ? count_above(values, nearly) : r.exact;
  if (r.strong < r.exact) r.next = values[static_cast<std::size_t>(r.strong)] / values[0];
  return r;
}

std::string blocks_rank(const Jacobian& j) {
  const BlockStructure& b = j.blocks;
  std::vector<std::int64_t> exact, strong;
  for (std::int64_t i = 0; i < b.count; ++i) {
    const Rank r = rank_of(j.matrix.block(i * b.rows, i * b.columns, b.rows, b.columns));
    exact.push_back(r.exact);
    strong.push_back(r.strong);
  }
  const auto range = [](const std::vector<std::int64_t>& all) {
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    return *low == *high ? fmt::format("{}", *low) : fmt::format("{} to {}", *low, *high);
  };
  return fmt::format("; each of the {} diagonal blocks: {} of {}{}", b.count, range(exact), std::min(b.rows, b.columns),
                     exact == strong ? "" : ", nearly " + range(strong));
}

}  // namespace

void detail::find_rank(Jacobian& j) {
  const Rank r = rank_of(j.matrix);
  j.rank = r.exact;
  j.rank_text = fmt::format("rank {} of {}", j.rank, std::min(j.matrix.rows, j.matrix.columns));
  if (r.strong < r.exact)
    j.rank_text +=
        fmt::format(", nearly {}: singular value {} is {:.2g} of the largest", r.strong, r.strong + 1, r.next);
  const bool by_block = std::any_of(j.facts.begin(), j.facts.end(), [](const Fact& f) {
    return f.name == "block_diagonal" || f.name == "diagonal" || f.name == "zero";
  });
  if (j.blocks.count > 0 && by_block) j.rank_text += blocks_rank(j);
}

}  // namespace gradus::study
