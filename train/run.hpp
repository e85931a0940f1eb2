// A run on disk: runs/NAME/ with all that it takes to look at it, sample from it, and go on with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/config.hpp"
#include "train/log.hpp"

namespace gradus::train {

/// The last line of a training, as result.json holds it.
struct Result {
  std::string task;
  std::int64_t steps = 0;
  double seconds = 0;   ///< wall time of training and validation
  std::string metric;   ///< exact_match or nats_per_character
  double value = 0;     ///< a fraction in [0, 1], or nats per token
  double baseline = 0;  ///< the same of the best answer that needs no learning
  double target = 0;    ///< what the task's defaults are meant to reach
  std::int64_t parameters = 0;
  std::string run;  ///< the run's folder
};

/// One JSON object on one line; non-finite numbers are strings.
std::string to_json(const Result& result);

/// A run's folder: config.json, log.csv, model.safetensors, checkpoint.safetensors, loss.svg, attention.svg, and, once
/// it is finished, result.json.
class Run final {
 public:
  /// Makes the folder `runs/name`, or `runs/TASK-N` with the first free N, and writes config.json.
  /// Errors: the name is taken or is no name of a folder, the folder cannot be written to.
  static Run create(const std::filesystem::path& runs, const std::string& name, const Config& config);
  /// Opens `run`, a folder or a name in `runs`. Errors: there is none (lists those that are there), a damaged
  /// config.json.
  static Run open(const std::filesystem::path& runs, const std::string& run);

  const std::filesystem::path& folder() const { return folder_; }
  const Config& config() const { return config_; }
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  std::filesystem::path model() const { return file("model.safetensors"); }
  std::filesystem::path checkpoint() const { return file("checkpoint.safetensors"); }
  bool has_checkpoint() const;
  bool finished() const;

  /// Writes log.csv and loss.svg.
  void write_log(const std::vector<LogRow>& rows, std::string_view metric) const;
  /// The rows of log.csv; none when there is no log. Errors: those of log_from_csv.
  std::vector<LogRow> log() const;
  void write_result(const Result& result) const;
  /// Errors: there is no result.json (the run is not finished), or it is damaged.
  Result result() const;

 private:
  Run(std::filesystem::path folder, Config config) : folder_(std::move(folder)), config_(std::move(config)) {}

  std::filesystem::path folder_;
  Config config_;
};

/// The names of the runs in a folder, in alphabetical order.
std::vector<std::string> run_names(const std::filesystem::path& runs);

}  // namespace gradus::train
