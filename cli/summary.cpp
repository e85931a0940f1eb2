// gradus summary RUN: the parts of a model.
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.hpp"
#include "cli/load.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string run, runs = "runs";
};

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("RUN", o->run, "the run: its name in --runs, or its folder")->required();
  add_runs(app, o->runs);
  return [o] {
    print(nn::summary(load_run(o->runs, o->run).learner->model()));
    return success;
  };
}

const Registered registered({50, "summary", "list the parts of a run's model, with shapes and counts", add});

}  // namespace
}  // namespace gradus::cli
