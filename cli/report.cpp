// gradus report RUN: how a training went.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/show.hpp"
#include "draw/curve.hpp"
#include "draw/terminal.hpp"
#include "train/pictures.hpp"
#include "train/run.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string run, runs = "runs";
  bool json = false;
};

std::string state_text(const train::Run& run, const std::vector<train::LogRow>& log) {
  if (run.finished()) return result_text(run.result());
  return fmt::format("{}: stopped after {} of {} steps; go on with `gradus train --resume {}`\n", run.config().task,
                     log.empty() ? 0 : log.back().step, run.config().steps, run.folder().string());
}

std::string validation_table(const train::Run& run, const std::vector<train::LogRow>& log) {
  const std::string& metric = train::task(run.config().task).metric;
  std::vector<std::vector<std::string>> rows{{"step", "loss", "validation loss", "on unseen data"}};
  for (const train::LogRow& row : log)
    if (row.validation_loss)
      rows.push_back({grouped(row.step), fmt::format("{:.4f}", row.loss), fmt::format("{:.4f}", *row.validation_loss),
                      train::metric_text(metric, row.validation_value.value_or(0))});
  return rows.size() == 1 ? "" : table(rows, 1000);
}

int report(const Options& o) {
  const train::Run run = train::Run::open(o.runs, o.run);
  const std::vector<train::LogRow> log = run.log();
  if (o.json) {
    Json rows = Json::array();
    for (const train::LogRow& row : log) {
      Json one{{"step", row.step}, {"loss", json_number(row.loss)}, {"learning_rate", json_number(row.learning_rate)}};
      if (row.validation_loss) one["validation_loss"] = json_number(*row.validation_loss);
      if (row.validation_value) one["validation_value"] = json_number(*row.validation_value);
      rows.push_back(std::move(one));
    }
    print_json({{"config", Json::parse(train::to_json(run.config()))},
                {"result", run.finished() ? Json::parse(train::to_json(run.result())) : Json()},
                {"log", std::move(rows)}});
    return success;
  }
  std::string text = state_text(run, log);
  if (log.size() > 1)
    text += "\n" +
            draw::to_terminal(train::loss_curve(log, run.folder().filename().string()), draw::terminal_of(stdout)) +
            "\n";
  print(text + validation_table(run, log));
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("RUN", o->run, "the run: its name in --runs, or its folder")->required();
  app.add_flag("--json", o->json, "print {config, result, log}; the result of an unfinished run is null");
  add_runs(app, o->runs);
  return [o] { return report(*o); };
}

const Registered registered({40, "report", "show the result, the loss curve and the validations of a run", add});

}  // namespace
}  // namespace gradus::cli
