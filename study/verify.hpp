#pragma once
#include "study/derivation.hpp"
#include "study/program.hpp"

namespace gradus::study {

/// Runs a recorded program again with one value moved, and so compares gradients with central differences.
class Verifier {
 public:
  /// `lines` gradients will be compared: they share the time.
  Verifier(const RecordedProgram& program, const Tensor& cotangent, std::uint64_t seed, std::size_t lines);

  /// The verdict on `gradient` as the gradient of sum(result * cotangent) with respect to a value, along all paths.
  Verdict all_paths(int value, const Tensor& gradient) const;
  /// The same along the paths that start at one input of one op.
  Verdict one_path(int op, int input, const Tensor& gradient) const;

 private:
  Verdict compare(int value, int op, int input, const Tensor& gradient) const;
  std::vector<int> downstream(int value, int op) const;
  double cost(const std::vector<int>& ops) const;

  const RecordedProgram& program_;
  Tensor cotangent_;
  std::uint64_t seed_;
  double budget_;  ///< nanoseconds for one gradient, as estimated
};

}  // namespace gradus::study
