#pragma once
#include "study/derivation.hpp"

namespace gradus::study {

/// Whether a part of a sum over paths comes through a mean of the forward pass before it meets the other paths: the
/// gradient of x - mean(x) has such a part.
bool comes_through_mean(const Derivation& derivation, const BackwardStep& total, int part);

}  // namespace gradus::study
