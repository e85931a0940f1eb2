// Opening a run for commands that look at it.
#pragma once

#include <memory>
#include <string>

#include "train/learner.hpp"
#include "train/run.hpp"
#include "train/tasks.hpp"

namespace gradus::cli {

/// A run with its model as it was saved.
struct Loaded {
  train::Run run;
  std::unique_ptr<train::Learner> learner;  ///< out of training mode
};

/// Errors: no such run, files that are damaged or do not fit together.
Loaded load_run(const std::string& runs, const std::string& name);

}  // namespace gradus::cli
