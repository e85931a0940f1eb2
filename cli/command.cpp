#include "cli/command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "draw/quiet_write.hpp"

namespace gradus::cli {
namespace {

std::vector<Command>& registry() {
  static std::vector<Command> all;
  return all;
}

}  // namespace

Registered::Registered(const Command& command) { registry().push_back(command); }

std::vector<Command> commands() {
  std::vector<Command> all = registry();
  std::sort(all.begin(), all.end(), [](const Command& a, const Command& b) { return a.place < b.place; });
  return all;
}

void print(std::string_view text) {
  static bool gone = false;
  if (gone) return;
  errno = 0;
  if (draw::quiet_write(stdout, text)) return;
  if (errno != EPIPE) fail("standard output cannot be written: {}", std::strerror(errno));
  gone = true;
}

void print_error(std::string_view text) { draw::quiet_write(stderr, text); }

void add_threads(CLI::App& app) {
  app.add_option_function<int>(
         "--threads", [](const int& count) { set_threads(count); },
         "threads to compute with; the results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->default_str(fmt::format("{}", threads()));
}

void add_runs(CLI::App& app, std::string& runs) {
  app.add_option("--runs", runs, "the folder that holds the runs")->type_name("DIR")->capture_default_str();
}

}  // namespace gradus::cli
