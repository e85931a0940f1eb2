// Learning pairs: an encoder reads the source, a decoder writes the target.
#pragma once

#include <memory>

#include "train/config.hpp"
#include "train/learner.hpp"
#include "train/task.hpp"

namespace gradus::train {

/// An encoder-decoder transformer (pre-norm) for a pair task, with fresh weights from the default generator. Its metric
/// is exact match of the whole target, decoded greedily from the model's own output. Fills in the config's
/// vocabularies, or uses those that are there. Errors: vocabularies that do not fit the task.
std::unique_ptr<Learner> make_pair_learner(const PairTask& task, Config& config);

}  // namespace gradus::train
