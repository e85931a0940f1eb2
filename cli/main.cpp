// gradus: the command line over the library.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "core/gemm.hpp"
#include "core/parallel.hpp"
#include "study/language.hpp"
#include "train/interrupt.hpp"

namespace {

using namespace gradus;

std::string version() {
  return fmt::format("gradus {}, compiled for {}, OpenBLAS core {}, {} threads", GRADUS_VERSION, GRADUS_LEVEL,
                     blas_core(), threads());
}

/// Messages of CLI11 may have several lines; the last is advice.
int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    cli::print(error.get_name() == "CallForVersion" ? version() + "\n"
               : app.get_parent()                   ? app.help("gradus")
                                                    : app.help());
    return cli::success;
  }
  std::string text = error.what();
  for (char& c : text)
    if (c == '\n') c = ' ';
  cli::print_error(fmt::format("gradus: {}; see --help\n", text));
  return cli::wrong_usage;
}

int run(int argc, char** argv) {
  CLI::App app{"Gradus: gradients step by step, and attention models that learn while you watch."};
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", std::string());
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, cli::Action>> actions;
  for (const cli::Command& command : cli::commands()) {
    CLI::App* const sub = app.add_subcommand(command.name, command.description);
    actions.emplace_back(sub, command.add(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const auto used = app.get_subcommands();
    return report(used.empty() ? app : *used.front(), error);
  }
  for (const auto& [sub, action] : actions)
    if (sub->parsed()) return action();
  return cli::wrong_usage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const cli::WrongUsage& wrong) {
    cli::print_error(fmt::format("gradus: {}; see --help\n", wrong.text));
    return cli::wrong_usage;
  } catch (const train::Interrupted&) { return cli::interrupted; } catch (const std::bad_alloc&) {
    cli::print_error("gradus: out of memory; use smaller tensors, or make the model or the batch smaller\n");
  } catch (const gradus::study::LanguageError& error) {
    cli::print_error(fmt::format("gradus: {}\n{}", error.what(), error.excerpt()[0] == '\n' ? "" : error.excerpt()));
  } catch (const std::exception& error) {
    std::string text = error.what();
    for (char& c : text)
      if (c == '\n') c = ' ';
    cli::print_error(fmt::format("gradus: {}\n", text));
  }
  return cli::mistake;
}
