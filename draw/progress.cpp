#include "draw/progress.hpp"

#include "draw/quiet_write.hpp"
#include "draw/text.hpp"
#include "draw/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gradus::draw {

namespace {

constexpr double redraw_seconds = 0.1;
constexpr double line_seconds = 10;
constexpr double line_share = 0.05;
constexpr int shortest_bar = 8;
constexpr int longest_bar = 30;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A bar of `width` columns, to half a column: `━━━━╸─────`.
std::string bar(double share, int width) {
  const int halves = static_cast<int>(share * 2 * width);
  const std::string done = repeated("━", halves / 2) + (halves % 2 == 1 ? "╸" : "");
  return done + repeated("─", width - display_width(done));
}

std::string speed_text(double tokens_per_second) {
  if (tokens_per_second >= 1e6) return fmt::format("{:.1f}M tok/s", tokens_per_second / 1e6);
  if (tokens_per_second >= 1e4) return fmt::format("{:.1f}k tok/s", tokens_per_second / 1e3);
  return fmt::format("{:.0f} tok/s", tokens_per_second);
}

/// How much of the run is done, in [0, 1]; 0 when the total is not known.
double share_of(const Pace& pace, std::int64_t total_steps) {
  if (total_steps <= 0) return 0;
  return std::clamp(static_cast<double>(pace.step) / static_cast<double>(total_steps), 0.0, 1.0);
}

/// A part of the line; the least important is the first to be left out.
struct Field {
  std::string text;
  int importance;
};

/// The parts in the order of the line, those that are known.
std::vector<Field> fields_of(const Pace& pace, std::int64_t total_steps) {
  const bool known = total_steps > 0;
  const double share = share_of(pace, total_steps);
  const bool timed = std::isfinite(pace.seconds_left) && pace.seconds_left >= 0;
  std::vector<Field> fields{
      {known ? fmt::format("{:3.0f}%", std::floor(100 * share)) : "", 5},
      {known ? fmt::format("{:>{}}/{}", pace.step, fmt::formatted_size("{}", total_steps), total_steps)
             : fmt::format("step {}", pace.step),
       2},
      {"loss " + (std::abs(pace.loss) < 1e4 ? fmt::format("{:.4f}", pace.loss) : short_number(pace.loss)), 4},
      {fmt::format("lr {:.2e}", pace.learning_rate), 0},
      {pace.tokens_per_second > 0 ? speed_text(pace.tokens_per_second) : "", 1},
      {timed ? duration_text(pace.seconds_left) + " left" : "", 3}};
  std::erase_if(fields, [](const Field& field) { return field.text.empty(); });
  return fields;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole / 3600 % 24);
}

std::string progress_line(const Pace& pace, std::int64_t total_steps, int columns, bool with_bar) {
  std::vector<Field> line = fields_of(pace, total_steps);
  const std::size_t fields = line.size();
  const auto width = [&line] {
    int sum = -2;
    for (const Field& field : line) sum += 2 + display_width(field.text);
    return sum;
  };
  while (line.size() > 1 && width() > columns) {
    line.erase(std::min_element(line.begin(), line.end(),
                                [](const Field& a, const Field& b) { return a.importance < b.importance; }));
  }
  const int room = columns - width() - 2;
  if (with_bar && total_steps > 0 && line.size() == fields && room >= shortest_bar) {
    line.insert(line.begin() + 1, Field{bar(share_of(pace, total_steps), std::min(room, longest_bar)), 0});
  }
  std::string result;
  for (const Field& field : line) result += (result.empty() ? "" : "  ") + field.text;
  return clipped(result, columns);
}

Progress::Progress(std::FILE* stream, std::int64_t total_steps, bool interactive, int columns, Clock clock)
    : stream_(stream),
      total_steps_(total_steps),
      interactive_(interactive),
      columns_(std::max(10, columns)),
      clock_(clock ? std::move(clock) : Clock(steady_seconds)) {}

Progress::~Progress() { finish(); }

bool Progress::due(double now) const {
  if (!any_shown_) return true;
  const double elapsed = now - shown_at_;
  if (interactive_) return elapsed >= redraw_seconds;
  const double steps = static_cast<double>(pace_.step - shown_step_);
  const bool share_done = total_steps_ > 0 && steps >= line_share * static_cast<double>(total_steps_);
  return share_done || elapsed >= line_seconds || (total_steps_ > 0 && pace_.step >= total_steps_);
}

void Progress::update(std::int64_t step, double loss, double learning_rate, double tokens_per_second,
                      double seconds_left) {
  if (broken_ || finished_) return;
  pace_ = {step, loss, learning_rate, tokens_per_second, seconds_left};
  updated_ = true;
  shown_ = false;
  const double now = clock_();
  if (due(now)) show(now);
}

void Progress::show(double now) {
  if (interactive_) {
    // One column stays free: some terminals wrap when the last one is written.
    const std::string line = progress_line(pace_, total_steps_, columns_ - 1, true);
    const int width = display_width(line);
    write("\r" + padded(line, line_width_));
    line_width_ = width;
  } else {
    write(progress_line(pace_, total_steps_, 1000, false) + "\n");
  }
  any_shown_ = shown_ = true;
  shown_at_ = now;
  shown_step_ = pace_.step;
}

void Progress::erase_line() {
  if (!interactive_ || line_width_ == 0) return;
  write("\r" + repeated(" ", line_width_) + "\r");
  line_width_ = 0;
}

void Progress::note(std::string_view line) {
  const bool redraw = interactive_ && line_width_ > 0;
  erase_line();
  write(std::string(line) + "\n");
  if (redraw && !finished_) show(clock_());
}

void Progress::finish() {
  if (finished_) return;
  if (updated_ && !shown_) show(shown_at_);
  if (interactive_ && line_width_ > 0) write("\n");
  line_width_ = 0;
  finished_ = true;
}

void Progress::write(std::string_view text) {
  if (!broken_) broken_ = !quiet_write(stream_, text);
}

}  // namespace gradus::draw
