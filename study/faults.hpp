#pragma once
#include "study/derivation.hpp"
#include "study/slip.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

// One line of a derivation done wrong.
namespace gradus::study {

/// A backward line with one slip in it.
struct Fault {
  std::function<Tensor()> value;  ///< what the line gives then; throws Error where the shapes do not fit
  std::string why;                ///< the slip in words, with the line
};

/// Every slip of that kind that the line allows.
std::vector<Fault> faults_of(const Derivation& derivation, const BackwardStep& step, Slip kind);

/// Values by name.
using Bindings = std::map<std::string, Tensor, std::less<>>;

/// The term computed again with other values for some of its names. Error where the shapes do not fit.
Tensor rerun(const TermPtr& term, const Bindings& bindings);

/// Whether a backward line carries what came through a mean in the forward pass, before paths met again.
bool comes_through_mean(const Derivation& derivation, int line);

/// Every part of a term, each once, from the top.
void each_part(const TermPtr& term, const std::function<void(const Term&)>& f);

}  // namespace gradus::study
