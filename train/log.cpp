#include "train/log.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/error.hpp"

namespace gradus::train {
namespace {

constexpr std::string_view columns = "step,loss,learning_rate,tokens_per_second,validation_loss,";

std::string cell(std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; }

/// Takes the text up to the next `separator` off the front of `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return taken;
}

/// A number, nothing for an empty cell; clears `good` for anything else.
std::optional<double> number(std::string_view text, bool& good) {
  if (text.empty()) return {};
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (*end != '\0') good = false;
  return value;
}

LogRow row_of(std::string_view line, std::string_view name, std::size_t line_number) {
  bool good = true;
  std::optional<double> cells[6];
  std::string_view rest = line;
  for (auto& c : cells) c = number(take(rest, ','), good);
  if (!good || !rest.empty() || !cells[0] || !cells[1] || !cells[2] || !cells[3])
    fail("{}: line {} is no row of a log: \"{}\"", name, line_number, line);
  return {static_cast<std::int64_t>(*cells[0]), *cells[1], *cells[2], *cells[3], cells[4], cells[5]};
}

}  // namespace

std::string to_csv(const std::vector<LogRow>& rows, std::string_view metric) {
  std::string csv = fmt::format("{}{}\n", columns, metric);
  for (const LogRow& row : rows)
    csv += fmt::format("{},{},{},{:.0f},{},{}\n", row.step, row.loss, row.learning_rate, row.tokens_per_second,
                       cell(row.validation_loss), cell(row.validation_value));
  return csv;
}

std::vector<LogRow> log_from_csv(std::string_view csv, std::string_view name) {
  std::string_view rest = csv;
  if (!take(rest, '\n').starts_with(columns)) fail("{}: the first line is not \"{}METRIC\"", name, columns);
  std::vector<LogRow> rows;
  for (std::size_t line = 2; !rest.empty(); ++line) rows.push_back(row_of(take(rest, '\n'), name, line));
  return rows;
}

}  // namespace gradus::train
