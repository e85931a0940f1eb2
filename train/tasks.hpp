// What `gradus train` can learn.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "train/config.hpp"
#include "train/learner.hpp"

namespace gradus::train {

/// A kind of training, by name.
struct Task {
  std::string name;
  std::string description;  ///< one sentence
  std::string metric;       ///< exact_match or nats_per_character
  double target;            ///< what the defaults are meant to reach
  bool larger_is_better;    ///< of the metric
  Config defaults;
  /// A learner with fresh weights, drawn by config.seed. Fills in what the config leaves to the data.
  std::function<std::unique_ptr<Learner>(Config&)> make;
};

/// All of them, in the order in which they are shown.
const std::vector<Task>& tasks();

/// The task of this name. Error that lists them all.
const Task& task(std::string_view name);

/// A value of a metric for people: "99.7 % exact match", "1.972 nats per character".
std::string metric_text(std::string_view metric, double value);

}  // namespace gradus::train
