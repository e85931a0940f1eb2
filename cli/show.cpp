#include "cli/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "draw/progress.hpp"
#include "draw/terminal.hpp"
#include "draw/text.hpp"

namespace gradus::cli {
namespace {

std::string indented(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("  {}\n", text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// A text of several lines as it is, else one printable line.
std::string shown(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += (at ? "\n" : "") + draw::printable(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string mark(const train::Sample& s) {
  if (!s.right) return "";
  return s.output == *s.right ? "✓" : "✗ " + draw::printable(*s.right);
}

}  // namespace

std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

std::string table(const std::vector<std::vector<std::string>>& rows, int columns) {
  std::vector<int> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], draw::display_width(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i ? "  " : "") + draw::padded(row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += draw::clipped(line, columns) + "\n";
  }
  return text;
}

std::string introduction(const train::Task& task, const train::Learner& learner, const train::Run& run) {
  const train::Config& c = run.config();
  const std::string source = c.file.empty() ? "" : " " + std::filesystem::path(c.file).filename().string();
  return fmt::format("{}{}: {} parameters, {} steps of {} examples, seed {}\nrun {}\n", task.name,
                     draw::printable(source), grouped(nn::count(learner.model())), grouped(c.steps), c.batch, c.seed,
                     draw::printable(run.folder().string()));
}

std::string samples_text(const std::vector<train::Sample>& samples, std::FILE* stream) {
  const int columns = draw::terminal_of(stream).columns;
  const bool pairs = !samples.empty() && !samples.front().input.empty() && samples.front().remark.empty() &&
                     (samples.front().right || samples.front().output.find('\n') == std::string::npos);
  std::vector<std::vector<std::string>> rows;
  std::string text;
  if (pairs)
    for (const auto& s : samples) rows.push_back({draw::printable(s.input), "→", draw::printable(s.output), mark(s)});
  else if (std::any_of(samples.begin(), samples.end(), [](const auto& s) { return !s.remark.empty(); }))
    for (const auto& s : samples) rows.push_back({draw::printable(s.output), s.remark});
  else
    for (const auto& s : samples) text += (text.empty() ? "" : "---\n") + shown(s.output) + "\n";
  return rows.empty() ? indented(text) : indented(table(rows, columns - 2));
}

std::string samples_text(train::Learner& learner, const train::SampleOptions& options, std::FILE* stream) {
  return samples_text(learner.sample(options), stream);
}

std::string attention_text(train::Learner& learner, const std::string& input, std::FILE* stream) {
  return draw::to_terminal(learner.attention(input), draw::terminal_of(stream));
}

std::string result_text(const train::Result& r) {
  const bool larger = train::task(r.task).larger_is_better;
  const bool reached = larger ? r.value >= r.target : r.value < r.target;
  return fmt::format(
      "{}: {} on unseen data, target {}\n"
      "(target {}; without learning {})\n"
      "{} steps in {}, {} parameters, run {}\n",
      r.task, train::metric_text(r.metric, r.value), reached ? "reached" : "missed",
      train::metric_text(r.metric, r.target), train::metric_text(r.metric, r.baseline), grouped(r.steps),
      draw::duration_text(r.seconds), grouped(r.parameters), draw::printable(r.run));
}

}  // namespace gradus::cli
