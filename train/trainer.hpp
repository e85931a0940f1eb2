// One optimizer step after another, and the state between them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "train/config.hpp"
#include "train/learner.hpp"

namespace gradus {
class Optimizer;
}

namespace gradus::train {

/// What one step did.
struct StepResult {
  double loss;           ///< of the batch, before the update
  std::int64_t tokens;   ///< that the model read
  double learning_rate;  ///< of the update
};

/// Trains a learner: AdamW, gradients clipped by norm, learning rate warmed up linearly and taken to 0 along a cosine.
///
/// A checkpoint holds all that the next step depends on: weights, the optimizer's state, the number of steps, the
/// random generator. Training that goes on from it is bitwise the training that never stopped.
class Trainer final {
 public:
  /// The learner must outlive it.
  Trainer(Learner& learner, const Config& config);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  ~Trainer();

  /// Steps done.
  std::int64_t steps() const { return steps_; }
  /// One step. Error when the loss or the gradient is not finite: then nothing has changed.
  StepResult step();

  /// Writes a checkpoint. `seconds` is kept with it: how long the run has trained.
  void save(const std::filesystem::path& path, double seconds) const;
  /// Reads a checkpoint and returns its seconds. Error, before anything changes, when it does not fit.
  double load(const std::filesystem::path& path);

 private:
  Learner& learner_;
  Config config_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int64_t steps_ = 0;
};

/// The learning rate of step number `step`, counted from 0.
double learning_rate_at(const Config& config, std::int64_t step);

}  // namespace gradus::train
