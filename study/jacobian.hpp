#pragma once
#include "study/language.hpp"
#include "study/linear_algebra.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradus::study {

/// Something that is true of a Jacobian, found by computing, not by knowing the op.
struct Fact {
  std::string name;      ///< `row_sums`, `symmetric`, ...: stable, for programs
  std::string text;      ///< `every row sums to 0`
  std::string meaning;   ///< what it says of y and x; may be empty
  double deviation = 0;  ///< the largest by which an entry misses it
};

/// The rows (last axes) of y and x as blocks of J: block [i, k] holds d y[i, :] / d x[k, :].
struct BlockStructure {
  std::int64_t count = 0;                                   ///< blocks along each side; 0 without a common structure
  std::int64_t rows = 0, columns = 0;                       ///< of one block
  std::vector<std::pair<std::int64_t, std::int64_t>> zero;  ///< [i, k] where every entry is exactly 0
};

/// Everything that `gradus jacobian` says.
struct Jacobian {
  std::string name;  ///< of x
  Tensor x, y;       ///< where it was taken
  Matrix matrix;     ///< [y entries, x entries], row-major on both sides
  BlockStructure blocks;
  std::int64_t rank = 0;
  std::string rank_text;  ///< `rank 4 of 6; each of the 2 diagonal blocks: 2 of 3`
  std::vector<Fact> facts;
  double difference = 0;  ///< from central differences: max|a - n| / max(|a|, |n|, 1e-3)
};

/// The most entries that a Jacobian may have.
inline constexpr std::int64_t most_jacobian_entries = std::int64_t{1} << 20;

/// d(result of the program) / d(variable), one reverse pass for each entry of the result, and what can be verified of
/// it. Everything is f64. Error for a Jacobian of more than 2^20 entries, and as ProgramFunction and evaluate.
Jacobian jacobian(std::string_view program, const Scope& scope, const std::string& variable);

namespace detail {

/// The facts that hold of j.matrix, and its rank. `elsewhere` are Jacobians of the same function at other points.
void find_facts(Jacobian& j, const std::vector<Matrix>& elsewhere);

/// The rank and what is said of it; of the diagonal blocks too where the others are 0.
void find_rank(Jacobian& j);

}  // namespace detail
}  // namespace gradus::study
