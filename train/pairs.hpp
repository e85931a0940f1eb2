// Small tasks on strings, to watch attention find its way: each has its own picture in the heat
// map.
#pragma once

#include "train/task.hpp"

namespace gradus::train {

/// The task `copy`: "gradus" to "gradus". 3 to 12 letters; the heat map is a diagonal. The identity
/// is the source.
PairTask copy_task();

/// The task `reverse`: "gradus" to "sudarg". 3 to 12 letters; the heat map is the other diagonal.
/// The identity is the source.
PairTask reverse_task();

/// The task `sort`: "gradus" to "adgrsu". 3 to 12 letters. The identity is the target: no other
/// order of held-out letters occurs in training.
PairTask sort_task();

/// The task `add`: "37+485" to "522". Two numbers of 1 to 3 digits, each length equally likely, no
/// leading zeros. The identity is the unordered pair: 485+37 is held out with 37+485.
PairTask add_task();

}  // namespace gradus::train
