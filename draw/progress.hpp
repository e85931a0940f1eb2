#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace gradus::draw {

/// What the last steps of a training run looked like.
struct Pace {
  std::int64_t step = 0;  ///< steps done
  double loss = 0;
  double learning_rate = 0;
  double tokens_per_second = 0;  ///< not shown unless positive
  double seconds_left = -1;      ///< not shown when negative or not finite
};

/// One line of progress, at most `columns` wide: share, bar if wanted, steps, loss, learning rate, speed, time left.
/// What does not fit is left out, the bar first. A total of 0 means unknown: then no share and no bar.
std::string progress_line(const Pace& pace, std::int64_t total_steps, int columns, bool with_bar);

/// A duration for people: `8s`, `3m 20s`, `1h 02m`, `2d 03h`.
std::string duration_text(double seconds);

/// Progress of a long run. On a terminal one line is redrawn at most ten times a second; elsewhere a line is printed
/// for the first step, after every 5 % or 10 s, and for the last step. A reader that has gone away (closed pipe)
/// silences it: nothing is thrown and no SIGPIPE ends the run.
class Progress final {
 public:
  /// Seconds since any fixed moment; tests pass their own.
  using Clock = std::function<double()>;

  /// `columns` is the width of the terminal; `interactive` says that there is one.
  Progress(std::FILE* stream, std::int64_t total_steps, bool interactive, int columns = 80, Clock clock = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Calls `finish`.
  ~Progress();

  /// Tells what was reached; cheap when nothing is due.
  void update(std::int64_t step, double loss, double learning_rate, double tokens_per_second, double seconds_left);
  /// Prints a line of text above the bar.
  void note(std::string_view line);
  /// Shows the last update if it was held back, and ends the line. Calling it again does nothing.
  void finish();

 private:
  bool due(double now) const;
  void show(double now);
  void erase_line();
  void write(std::string_view text);

  std::FILE* stream_;
  std::int64_t total_steps_;
  bool interactive_;
  int columns_;
  Clock clock_;
  Pace pace_;
  bool updated_ = false;  // there was an update
  bool shown_ = false;    // and the last one is on the screen
  bool finished_ = false;
  bool broken_ = false;  // the reader has gone
  double shown_at_ = 0;  // time and step of the last line
  std::int64_t shown_step_ = 0;
  bool any_shown_ = false;
  int line_width_ = 0;  // columns of the line that stands on the terminal
};

}  // namespace gradus::draw
