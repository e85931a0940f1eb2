// The log of a run: what a person plots, and what a run that resumes goes on with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::train {

/// One row: the loss is the mean since the row before; validation is there only in some rows.
struct LogRow {
  std::int64_t step = 0;  ///< steps done
  double loss = 0;
  double learning_rate = 0;
  double tokens_per_second = 0;
  std::optional<double> validation_loss;
  std::optional<double> validation_value;  ///< the task's metric, on a part of the validation data
};

/// The rows as CSV with a header; the last column is named `metric`.
std::string to_csv(const std::vector<LogRow>& rows, std::string_view metric);

/// Reads what to_csv wrote; `name` is what errors call it. Errors: another header, a line that is no row (names it).
std::vector<LogRow> log_from_csv(std::string_view csv, std::string_view name);

}  // namespace gradus::train
