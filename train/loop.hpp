// The training loop: every task goes through it.
#pragma once

#include <cstdio>

#include "train/learner.hpp"
#include "train/run.hpp"
#include "train/tasks.hpp"

namespace gradus::train {

/// Where progress is shown; null shows none.
struct LoopOptions {
  std::FILE* progress = stderr;
};

/// Trains from the run's checkpoint, or from the start, to the last step; validates on a part of the unseen data ten
/// times on the way, each time with a checkpoint, and on all of it at the end. Leaves model.safetensors, log.csv and
/// loss.svg, attention.svg and result.json.
///
/// Throws Interrupted after a signal (see InterruptGuard): the run is saved then, and can go on. Error when the loss is
/// not finite: the run is saved as it was before that step.
Result run_training(const Task& task, Learner& learner, const Run& run, const LoopOptions& options = {});

}  // namespace gradus::train
