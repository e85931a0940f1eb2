// What the training loop knows of a task: a model, its loss, its measure, and pictures of what it has learnt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "draw/heat_map.hpp"
#include "nn/module.hpp"
#include "train/config.hpp"

namespace gradus::train {

/// The loss of one batch, ready for backward.
struct BatchLoss {
  Tensor loss;          ///< mean over what is predicted, in nats
  std::int64_t tokens;  ///< that the model read, without padding
};

/// How much of the validation data is looked at: a small fixed part now and then, all of it at the end.
enum class Extent { part, all };

/// What a model can do on unseen data.
struct Validation {
  double loss;   ///< nats per predicted token, the right past being given
  double value;  ///< the task's metric
};

/// What `gradus sample` may ask for.
struct SampleOptions {
  std::vector<std::string> inputs;  ///< sources to translate, or one beginning to continue
  std::int64_t count = 10;          ///< how many samples
  double temperature = 1;           ///< of a language model: below 1 bolder, 0 always the likeliest
  std::int64_t longest = 200;       ///< of a language model: characters at most
  std::uint64_t seed = 0;           ///< of a language model
};

/// One sample of a model.
struct Sample {
  std::string input;                 ///< what it was given, if anything
  std::string output;                ///< what it wrote
  std::optional<std::string> right;  ///< what it should have written, where that is known
  std::string remark;                ///< such as "new"
};

/// One kind of training, with its model and data. Functions other than `loss` leave the random generator as it is,
/// record no graph and want `set_training(false)`.
class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  virtual nn::AnyModule model() const = 0;
  /// Dropout on or off.
  virtual void set_training(bool on) = 0;
  /// The loss of training batch number `step`: a function of the seed and `step`, the weights and the generator.
  virtual BatchLoss loss(std::int64_t step) = 0;
  virtual Validation validate(Extent extent) = 0;
  /// The metric of the best answer that needs no learning.
  virtual double baseline() = 0;
  /// Errors: an input that the model cannot read.
  virtual std::vector<Sample> sample(const SampleOptions& options) = 0;
  /// Where the last layer looks in one sample, averaged over the heads; of `input` if it is given.
  virtual draw::HeatMap attention(const std::string& input) = 0;
};

}  // namespace gradus::train
