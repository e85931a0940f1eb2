#pragma once
#include "study/rerun.hpp"
#include "study/slip.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::study {

/// The wrong gradients that come from one slip in one rule on the way to a gradient, carried on by the right rules from
/// there: a missing transposition, a row sum that was left out, a sum over a broadcast axis, a forgotten path, a sign, a
/// factor. The rules are the derivation's own terms, run again.
class Suspects {
 public:
  /// `step` is the index of the backward line that was claimed; `given` are values to go on from in place of the
  /// derivation's own. The derivation must outlive this.
  Suspects(const Derivation& derivation, int step, Bindings given = {});

  /// Shows the visitor every suspect of that kind, slips in the lines nearest to the claimed one first, until it returns
  /// true or the work for a large derivation is done.
  void each(Slip kind, const SuspectVisitor& visit) const;

 private:
  Tensor carried_on(int from, const Tensor& value, std::int64_t& work) const;
  void without_means(const SuspectVisitor& visit) const;
  void everywhere(Slip kind, const SuspectVisitor& visit) const;
  Suspect everywhere(Slip kind, std::string_view op, std::size_t k) const;
  std::string_view op_of(int line) const;

  const Derivation* derivation_;
  Bindings given_;
  std::vector<int> way_;                           ///< the backward lines that the claimed one depends on, itself first
  std::map<int, std::int64_t> work_of_;            ///< running each line of the way
  std::map<int, std::vector<std::string>> names_;  ///< that each line of the way reads
};

/// What is known about backward line `step`: extents, factors, softmaxes, parts and suspects. Values that are `given` take
/// the place of the derivation's own. The derivation must outlive it.
SlipContext slip_context(const Derivation& derivation, int step, const Bindings& given = {});

}  // namespace gradus::study
