// A subcommand is one file: it says how it adds itself to the parser, and `main` finds it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace gradus::cli {

/// Exit statuses of `gradus`.
enum Status : int { success = 0, mistake = 1, wrong_usage = 2, interrupted = 130 };

/// What a subcommand does once its arguments are read; returns the exit status. Errors end the program with `mistake`
/// and one line.
using Action = std::function<int()>;

/// A subcommand: `add` describes its options to the parser and returns what to do.
struct Command {
  int place;  ///< in the list of commands
  const char* name;
  const char* description;
  Action (*add)(CLI::App& app);
};

/// Registers a subcommand: a static of this type in its file.
struct Registered {
  explicit Registered(const Command& command);
};

/// All subcommands, in the order of their places.
std::vector<Command> commands();

/// Thrown where the arguments contradict each other: exit status 2, one line.
struct WrongUsage {
  std::string text;
};

/// Prints to standard output. A reader that has gone away is no mistake: the rest is dropped. Error when the output
/// cannot be written otherwise (a full disk).
void print(std::string_view text);

/// Prints to standard error, quietly.
void print_error(std::string_view text);

/// Adds --threads with its effect.
void add_threads(CLI::App& app);

/// Adds --runs with its default, into `runs`.
void add_runs(CLI::App& app, std::string& runs);

}  // namespace gradus::cli
