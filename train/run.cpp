#include "train/run.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/files.hpp"
#include "train/pictures.hpp"

namespace gradus::train {
namespace {

namespace fs = std::filesystem;

/// Makes `runs/name`; false when there is something of that name. Errors: it cannot be made.
bool make_folder(const fs::path& runs, const std::string& name) {
  std::error_code error;
  fs::create_directories(runs, error);
  const bool made = !error && fs::create_directory(runs / name, error);
  if (error && !fs::exists(runs / name))
    fail("train: {} cannot be made: {}; choose another folder with --runs", (runs / name).string(), error.message());
  return made;
}

void check_name(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    fail("train: \"{}\" is no name for a run; give the name of a folder, and its parent with --runs", name);
}

/// NaN and infinities, which JSON lacks, as strings.
nlohmann::ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_of(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = json.get<std::string>();
  return text == "inf" ? INFINITY : text == "-inf" ? -INFINITY : NAN;
}

}  // namespace

std::string to_json(const Result& r) {
  const nlohmann::ordered_json json = {{"task", r.task},
                                       {"steps", r.steps},
                                       {"seconds", number(r.seconds)},
                                       {"metric", r.metric},
                                       {"value", number(r.value)},
                                       {"baseline", number(r.baseline)},
                                       {"target", number(r.target)},
                                       {"parameters", r.parameters},
                                       {"run", r.run}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Run Run::create(const fs::path& runs, const std::string& name, const Config& config) {
  if (!name.empty()) {
    check_name(name);
    if (!make_folder(runs, name))
      fail("train: run {} exists; choose another --name, or go on with it by --resume {}", (runs / name).string(),
           name);
  }
  std::string free = name;
  for (int n = 1; free.empty(); ++n)
    if (const std::string candidate = fmt::format("{}-{}", config.task, n); make_folder(runs, candidate))
      free = candidate;
  Run run(runs / free, config);
  write_file(run.file("config.json"), to_json(config));
  return run;
}

Run Run::open(const fs::path& runs, const std::string& run) {
  fs::path folder = run;
  if (!fs::exists(folder / "config.json")) folder = runs / run;
  if (!fs::exists(folder / "config.json")) {
    std::string there;
    for (const std::string& name : run_names(runs)) there += (there.empty() ? "" : ", ") + name;
    fail("there is no run {}: no {}; runs in {}: {}", run, (folder / "config.json").string(), runs.string(),
         there.empty() ? "none" : there);
  }
  const fs::path file = folder / "config.json";
  Config config = config_from_json(read_file(file), file.string());
  check(config);
  return {folder, std::move(config)};
}

bool Run::has_checkpoint() const { return fs::exists(checkpoint()); }
bool Run::finished() const { return fs::exists(file("result.json")); }

void Run::write_log(const std::vector<LogRow>& rows, std::string_view metric) const {
  write_file(file("log.csv"), to_csv(rows, metric));
  write_file(file("loss.svg"), draw::to_svg(loss_curve(rows, folder_.filename().string())));
}

std::vector<LogRow> Run::log() const {
  const fs::path path = file("log.csv");
  if (!fs::exists(path)) return {};
  return log_from_csv(read_file(path), path.string());
}

void Run::write_result(const Result& result) const { write_file(file("result.json"), to_json(result) + "\n"); }

Result Run::result() const {
  if (!finished())
    fail("run {} is not finished; go on with it by `gradus train --resume {}`", folder_.string(), folder_.string());
  const fs::path path = file("result.json");
  try {
    const auto json = nlohmann::json::parse(read_file(path));
    return {.task = json.at("task"),
            .steps = json.at("steps"),
            .seconds = number_of(json.at("seconds")),
            .metric = json.at("metric"),
            .value = number_of(json.at("value")),
            .baseline = number_of(json.at("baseline")),
            .target = number_of(json.at("target")),
            .parameters = json.at("parameters"),
            .run = json.at("run")};
  } catch (const nlohmann::json::exception& error) { fail("{} is damaged: {}", path.string(), error.what()); }
}

std::vector<std::string> run_names(const fs::path& runs) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(runs, error), end; !error && i != end; i.increment(error))
    if (fs::exists(i->path() / "config.json")) names.push_back(i->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gradus::train
