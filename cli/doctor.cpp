// gradus doctor RUN: is everything of a run there, readable and sound?
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/load.hpp"
#include "core/arrays.hpp"
#include "core/error.hpp"
#include "draw/text.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string run, runs = "runs";
  bool json = false;
};

struct Finding {
  std::string what;
  bool good;
  std::string detail;
};

/// Runs one check; what it throws is the finding.
void examine(std::vector<Finding>& findings, const std::string& what, const std::function<std::string()>& check) {
  try {
    findings.push_back({what, true, check()});
  } catch (const std::exception& error) { findings.push_back({what, false, error.what()}); }
}

std::string check_finite(const NamedTensors& tensors) {
  std::int64_t elements = 0;
  for (const auto& [name, tensor] : tensors) {
    elements += tensor.numel();
    for (const double x : tensor.to_vector<double>())
      if (!std::isfinite(x)) fail("{} {} holds {}; train again with a lower --learning-rate", name, tensor.shape(), x);
  }
  return fmt::format("{} tensors, {} numbers, all finite", tensors.size(), elements);
}

std::string check_log(const train::Run& run) {
  const std::vector<train::LogRow> log = run.log();
  if (log.empty()) fail("log.csv is missing or has no rows");
  for (std::size_t i = 1; i < log.size(); ++i)
    if (log[i].step <= log[i - 1].step) fail("log.csv: step {} comes after step {}", log[i].step, log[i - 1].step);
  for (const train::LogRow& row : log)
    if (!std::isfinite(row.loss)) fail("log.csv: the loss of step {} is {}", row.step, row.loss);
  if (run.finished() && log.back().step != run.config().steps)
    fail("log.csv ends at step {} of {}", log.back().step, run.config().steps);
  return fmt::format("{} rows, up to step {} of {}", log.size(), log.back().step, run.config().steps);
}

std::string check_pictures(const train::Run& run) {
  for (const char* name : {"loss.svg", "attention.svg"})
    if ((run.finished() || name == std::string("loss.svg")) && !std::filesystem::exists(run.file(name)))
      fail("{} is missing", name);
  return run.finished() ? "loss.svg, attention.svg" : "loss.svg";
}

std::vector<Finding> examine_all(const Options& o) {
  const train::Run run = train::Run::open(o.runs, o.run);
  std::vector<Finding> findings{
      {"config.json", true, fmt::format("task {}, seed {}", run.config().task, run.config().seed)}};
  examine(findings, "model.safetensors", [&] { return check_finite(load_safetensors(run.model()).tensors); });
  examine(findings, "the model loads",
          [&] { return fmt::format("{} parameters", nn::count(load_run(o.runs, o.run).learner->model())); });
  examine(findings, "checkpoint", [&] { return check_finite(load_safetensors(run.checkpoint()).tensors); });
  examine(findings, "log.csv", [&] { return check_log(run); });
  examine(findings, "pictures", [&] { return check_pictures(run); });
  if (run.finished()) examine(findings, "result.json", [&] { return run.result().metric; });
  return findings;
}

int doctor(const Options& o) {
  const std::vector<Finding> findings = examine_all(o);
  bool good = true;
  Json all = Json::array();
  std::string text;
  for (const Finding& f : findings) {
    good = good && f.good;
    all.push_back({{"check", f.what}, {"ok", f.good}, {"detail", f.detail}});
    text += fmt::format("{} {:<18} {}\n", f.good ? "✓" : "✗", f.what, draw::printable(f.detail));
  }
  if (o.json) print_json(all);
  else print(text);
  if (!good) fail("doctor: run {} has something wrong, see above", o.run);
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("RUN", o->run, "the run: its name in --runs, or its folder")->required();
  app.add_flag("--json", o->json, "print a JSON list of {check, ok, detail}");
  add_runs(app, o->runs);
  return [o] { return doctor(*o); };
}

const Registered registered({60, "doctor", "check a run: files readable, numbers finite, log complete", add});

}  // namespace
}  // namespace gradus::cli
