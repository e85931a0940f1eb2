#pragma once
#include "core/registry.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradus::study {

/// One small call of an op with all its numbers.
struct WorkedSample {
  /// How the output changes with one input: a row for each entry of the output, a column for each of the input.
  struct Jacobian {
    std::string input;
    Tensor by_rule, by_differences;  ///< [entries of the output, entries of the input]
    double difference = 0;           ///< max|a - n| / max(|a|, |n|, 1e-3) of the row where it is largest
    bool ok = false;                 ///< at most the sample's tolerance, in every row
  };
  std::string call;  ///< `softmax(x, axis=-1)`
  std::vector<std::pair<std::string, Tensor>> inputs;
  Tensor output;
  std::vector<Jacobian> jacobians;  ///< of each floating input; none for an op without a rule
  std::vector<std::string>
      composition;  ///< of a fused op: the steps that define it, each a statement that evaluate accepts
};

/// The first of the op's samples that is small and tells something: at most 6 entries in the output and in each
/// floating input, after cutting extents to 3 and 2 where need be; no kink, f64, and no derivative that is 0 throughout.
/// Else the smallest; nothing when no sample will do. The same numbers on every machine, up to rounding.
std::optional<WorkedSample> worked_sample(const OpEntry& op);

}  // namespace gradus::study
