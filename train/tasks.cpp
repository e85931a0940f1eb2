#include "train/tasks.hpp"

#include "core/error.hpp"
#include "core/random.hpp"
#include "train/pair_training.hpp"
#include "train/task.hpp"
#include "train/text_training.hpp"

namespace gradus::train {
namespace {

/// A maker that seeds first: weights are a function of the configuration alone.
template <class Make>
auto seeded(Make make) {
  return [make](Config& config) {
    check(config);
    gradus::seed(config.seed);
    return make(config);
  };
}

Task pair_entry(const PairTask& pairs) {
  Task entry{.name = pairs.name,
             .description = pairs.description,
             .metric = "exact_match",
             .target = pairs.target,
             .larger_is_better = true,
             .defaults = {},
             .make = seeded([&pairs](Config& config) { return make_pair_learner(pairs, config); })};
  const PairDefaults& d = pairs.defaults;
  entry.defaults.steps = d.steps;
  entry.defaults.batch = d.batch;
  entry.defaults.width = d.width;
  entry.defaults.heads = d.heads;
  entry.defaults.layers = d.layers;
  entry.defaults.feed_forward = d.feed_forward;
  entry.defaults.learning_rate = d.learning_rate;
  return entry;
}

Task text_entry() {
  Task entry{.name = "text",
             .description = "A text file, character by character: names, verse, anything (--file).",
             .metric = "nats_per_character",
             .target = 2.0,
             .larger_is_better = false,
             .defaults = {},
             .make = seeded(make_text_learner)};
  entry.defaults.steps = 4000;
  entry.defaults.batch = 128;
  entry.defaults.width = 96;
  entry.defaults.layers = 2;
  entry.defaults.feed_forward = 384;
  entry.defaults.dropout = 0.1;
  entry.defaults.learning_rate = 4e-3;
  entry.defaults.weight_decay = 0.1;
  return entry;
}

std::vector<Task> all_tasks() {
  std::vector<Task> all;
  for (const PairTask& pairs : pair_tasks()) all.push_back(pair_entry(pairs));
  all.push_back(text_entry());
  for (Task& entry : all) entry.defaults.task = entry.name;
  return all;
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = all_tasks();
  return all;
}

const Task& task(std::string_view name) {
  std::string names;
  for (const Task& entry : tasks()) {
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  fail("there is no task \"{}\"; the tasks are {}", name, names);
}

std::string metric_text(std::string_view metric, double value) {
  if (metric == "exact_match") return fmt::format("{:.1f} % exact match", 100 * value);
  return fmt::format("{:.3f} nats per character", value);
}

}  // namespace gradus::train
