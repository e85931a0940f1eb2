#pragma once
#include "study/rerun.hpp"
#include "study/slip.hpp"

#include <functional>
#include <string>
#include <vector>

// One line of a derivation done wrong.
namespace gradus::study {

/// A backward line with one slip in it.
struct Fault {
  std::function<Tensor()> value;  ///< what the line gives then; throws Error where the shapes do not fit
  std::string why;                ///< the slip in words, with the line
};

/// Every slip of that kind that the line allows, on the derivation's values or those that are `given` in place of some of
/// them. The derivation must outlive what is returned.
std::vector<Fault> faults_of(const Derivation& derivation, const BackwardStep& step, Slip kind, const Bindings& given);

}  // namespace gradus::study
