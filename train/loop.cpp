#include "train/loop.hpp"

#include <algorithm>
#include <chrono>

#include "core/error.hpp"
#include "core/files.hpp"
#include "draw/progress.hpp"
#include "draw/terminal.hpp"
#include "train/interrupt.hpp"
#include "train/trainer.hpp"

namespace gradus::train {
namespace {

constexpr std::int64_t validations = 10;  // looks at the unseen data on the way
constexpr std::int64_t most_rows = 250;   // of the log

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Loop {
 public:
  Loop(const Task& task, Learner& learner, const Run& run, const LoopOptions& options)
      : task_(task),
        learner_(learner),
        run_(run),
        config_(run.config()),
        trainer_(learner, run.config()),
        rows_every_((config_.steps + most_rows - 1) / most_rows),
        validate_every_(std::max<std::int64_t>(1, config_.steps / validations)) {
    if (run.has_checkpoint()) go_on();
    if (!options.progress) return;
    const draw::Terminal terminal = draw::terminal_of(options.progress);
    progress_.emplace(options.progress, config_.steps, terminal.interactive, terminal.columns);
  }

  Result all() {
    while (trainer_.steps() < config_.steps) {
      if (interrupted()) stop();
      one_step();
    }
    finish_row({});
    save();
    learner_.set_training(false);
    Result result = final_result();
    write_file(run_.file("attention.svg"), draw::to_svg(learner_.attention("")));
    run_.write_result(result);
    return result;
  }

 private:
  /// Where the checkpoint stopped; rows of the log that it does not know were written just before a crash.
  void go_on() {
    earlier_seconds_ = trainer_.load(run_.checkpoint());
    rows_ = run_.log();
    std::erase_if(rows_, [&](const LogRow& row) { return row.step > trainer_.steps(); });
  }

  double seconds() const { return earlier_seconds_ + seconds_since(begin_); }

  void one_step() {
    StepResult result{};
    try {
      result = trainer_.step();
    } catch (const Error& error) {
      if (progress_) progress_->finish();
      finish_row({});
      save();
      fail("{}; the run is saved as it was before in {}", error.what(), run_.folder().string());
    }
    ++steps_here_;
    row_loss_ += result.loss;
    row_tokens_ += result.tokens;
    ++row_steps_;
    rate_ = result.learning_rate;
    show(result);
    const std::int64_t step = trainer_.steps();
    if (step % validate_every_ == 0 && step < config_.steps) {
      learner_.set_training(false);
      finish_row(look());
      save();
    } else if (step % rows_every_ == 0) {
      finish_row({});
    }
  }

  /// A quick look at unseen data.
  Validation look() {
    try {
      return learner_.validate(Extent::part);
    } catch (const Interrupted&) { stop(); }
  }

  void show(const StepResult& result) {
    if (!progress_) return;
    // A smoothed loss: a bar that flickers tells nothing.
    smooth_loss_ = steps_here_ == 1 ? result.loss : 0.95 * smooth_loss_ + 0.05 * result.loss;
    tokens_here_ += result.tokens;
    const double here = seconds_since(begin_);
    const double left = here * static_cast<double>(config_.steps - trainer_.steps()) / static_cast<double>(steps_here_);
    progress_->update(trainer_.steps(), smooth_loss_, result.learning_rate, static_cast<double>(tokens_here_) / here,
                      left);
  }

  /// Ends a row of the log: what the steps since the row before looked like.
  void finish_row(std::optional<Validation> validation) {
    if (row_steps_ == 0) return;
    LogRow row{.step = trainer_.steps(),
               .loss = row_loss_ / static_cast<double>(row_steps_),
               .learning_rate = rate_,
               .tokens_per_second = static_cast<double>(row_tokens_) / std::max(1e-9, seconds_since(row_begin_)),
               .validation_loss = {},
               .validation_value = {}};
    if (validation) {
      row.validation_loss = validation->loss;
      row.validation_value = validation->value;
      // Of a text the metric is the loss.
      const std::string loss =
          validation->value == validation->loss ? "" : fmt::format(", loss {:.3f}", validation->loss);
      if (progress_)
        progress_->note(
            fmt::format("step {}: {} on unseen data{}", row.step, metric_text(task_.metric, validation->value), loss));
    }
    rows_.push_back(row);
    row_loss_ = 0;
    row_tokens_ = row_steps_ = 0;
    row_begin_ = Clock::now();
  }

  /// The checkpoint is one file, and the last to be written: what it does not know is made again.
  void save() {
    run_.write_log(rows_, task_.metric);
    nn::save(learner_.model(), run_.model());
    trainer_.save(run_.checkpoint(), seconds());
  }

  [[noreturn]] void stop() {
    finish_row({});
    save();
    throw Interrupted{};
  }

  Result final_result() {
    const Validation validation = learner_.validate(Extent::all);
    if (!rows_.empty() && rows_.back().step == trainer_.steps()) {
      rows_.back().validation_loss = validation.loss;
      rows_.back().validation_value = validation.value;
    }
    if (progress_) progress_->finish();
    run_.write_log(rows_, task_.metric);
    return {.task = task_.name,
            .steps = trainer_.steps(),
            .seconds = seconds(),
            .metric = task_.metric,
            .value = validation.value,
            .baseline = learner_.baseline(),
            .target = task_.target,
            .parameters = nn::count(learner_.model()),
            .run = run_.folder().string()};
  }

  const Task& task_;
  Learner& learner_;
  const Run& run_;
  const Config& config_;
  Trainer trainer_;
  std::int64_t rows_every_, validate_every_;
  std::optional<draw::Progress> progress_;
  std::vector<LogRow> rows_;
  double earlier_seconds_ = 0;
  Clock::time_point begin_ = Clock::now(), row_begin_ = begin_;
  std::int64_t steps_here_ = 0, tokens_here_ = 0;  // of this process
  std::int64_t row_steps_ = 0, row_tokens_ = 0;    // since the last row
  double row_loss_ = 0, rate_ = 0, smooth_loss_ = 0;
};

}  // namespace

Result run_training(const Task& task, Learner& learner, const Run& run, const LoopOptions& options) {
  return Loop(task, learner, run, options).all();
}

}  // namespace gradus::train
