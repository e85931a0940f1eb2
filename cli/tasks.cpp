// gradus tasks: what there is to learn.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/show.hpp"
#include "draw/terminal.hpp"
#include "train/tasks.hpp"

namespace gradus::cli {
namespace {

int list() {
  std::vector<std::vector<std::string>> rows{{"task", "steps", "target", "what is learnt"}};
  for (const train::Task& task : train::tasks())
    rows.push_back(
        {task.name, grouped(task.defaults.steps), train::metric_text(task.metric, task.target), task.description});
  print(table(rows, draw::terminal_of(stdout).interactive ? draw::terminal_of(stdout).columns : 1000));
  return success;
}

int list_json() {
  Json all = Json::array();
  for (const train::Task& task : train::tasks())
    all.push_back({{"name", task.name},
                   {"description", task.description},
                   {"metric", task.metric},
                   {"target", json_number(task.target)},
                   {"steps", task.defaults.steps}});
  print_json(all);
  return success;
}

Action add(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print a JSON list");
  return [json] { return *json ? list_json() : list(); };
}

const Registered registered({20, "tasks", "list what can be learnt", add});

}  // namespace
}  // namespace gradus::cli
