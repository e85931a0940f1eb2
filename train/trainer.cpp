#include "train/trainer.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "core/arrays.hpp"
#include "core/error.hpp"
#include "core/grad.hpp"
#include "core/random.hpp"
#include "optim/adamw.hpp"
#include "optim/clip.hpp"
#include "optim/schedule.hpp"

namespace gradus::train {
namespace {

constexpr std::string_view model_prefix = "model.";
constexpr std::string_view optimizer_prefix = "optimizer.";

/// The tensors whose names begin with the prefix, without it.
NamedTensors below(const NamedTensors& all, std::string_view prefix) {
  NamedTensors some;
  for (const auto& [name, tensor] : all)
    if (name.starts_with(prefix)) some.emplace_back(name.substr(prefix.size()), tensor);
  return some;
}

Schedule schedule_of(const Config& c) {
  const Schedule fall = schedule::cosine(c.learning_rate, std::max<std::int64_t>(1, c.steps - c.warmup));
  if (c.warmup == 0) return fall;
  const double first = c.learning_rate / static_cast<double>(c.warmup + 1);  // not 0: no step is wasted
  return schedule::joined({schedule::linear(first, c.learning_rate, c.warmup), fall}, {c.warmup});
}

/// A whole number of the metadata of a checkpoint. Error when it is missing or none.
std::uint64_t whole(const std::map<std::string, std::string>& metadata, const char* key, const std::string& path) {
  const auto found = metadata.find(key);
  if (found == metadata.end() || found->second.empty() ||
      found->second.find_first_not_of("0123456789") != std::string::npos)
    fail("{} is no checkpoint of `gradus train`: its metadata have no whole number {}", path, key);
  return std::strtoull(found->second.c_str(), nullptr, 10);
}

}  // namespace

double learning_rate_at(const Config& config, std::int64_t step) { return schedule_of(config)(step); }

Trainer::Trainer(Learner& learner, const Config& config)
    : learner_(learner),
      config_(config),
      optimizer_(std::make_unique<AdamW>(
          Parameters(nn::named_parameters(learner.model())),
          AdamWOptions{.learning_rate = config.learning_rate, .beta2 = 0.98, .weight_decay = config.weight_decay})) {}

Trainer::~Trainer() = default;

StepResult Trainer::step() {
  learner_.set_training(true);
  const std::uint64_t drawn = default_generator().drawn();
  const BatchLoss batch = learner_.loss(steps_);
  const double loss = batch.loss.item();
  const auto stop = [&](const std::string& what) {
    optimizer_->zero_grad();
    default_generator().restore(default_generator().seed(), drawn);
    fail("train: {} in step {}; lower --learning-rate (now {}) or --clip (now {})", what, steps_ + 1,
         config_.learning_rate, config_.clip);
  };
  if (!std::isfinite(loss)) stop(fmt::format("the loss is {}", std::isnan(loss) ? "nan" : "infinite"));
  backward(batch.loss);
  const Clipped clipped = clip_by_norm(nn::parameters(learner_.model()), config_.clip);
  if (!clipped.finite()) stop(fmt::format("the gradient is not finite (parameter {})", clipped.non_finite));
  const double rate = learning_rate_at(config_, steps_);
  optimizer_->set_learning_rate(rate);
  optimizer_->step();
  optimizer_->zero_grad();
  ++steps_;
  return {loss, batch.tokens, rate};
}

void Trainer::save(const std::filesystem::path& path, double seconds) const {
  NamedTensors all;
  for (const auto& [name, tensor] : nn::named_tensors(learner_.model()))
    all.emplace_back(fmt::format("{}{}", model_prefix, name), tensor);
  for (const auto& [name, tensor] : optimizer_->state())
    all.emplace_back(fmt::format("{}{}", optimizer_prefix, name), tensor);
  save_safetensors(path, all,
                   {{"step", fmt::format("{}", steps_)},
                    {"generator_seed", fmt::format("{}", default_generator().seed())},
                    {"generator_drawn", fmt::format("{}", default_generator().drawn())},
                    {"milliseconds", fmt::format("{:.0f}", 1000 * seconds)}});
}

double Trainer::load(const std::filesystem::path& path) {
  const Safetensors file = load_safetensors(path);
  const std::uint64_t steps = whole(file.metadata, "step", path.string());
  const std::uint64_t seed = whole(file.metadata, "generator_seed", path.string());
  const std::uint64_t drawn = whole(file.metadata, "generator_drawn", path.string());
  const std::uint64_t milliseconds = whole(file.metadata, "milliseconds", path.string());
  optimizer_->load_state(below(file.tensors, optimizer_prefix));
  nn::load(learner_.model(), below(file.tensors, model_prefix));
  default_generator().restore(seed, drawn);
  steps_ = static_cast<std::int64_t>(steps);
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace gradus::train
