// gradus train: learn a task, watched.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/show.hpp"
#include "core/error.hpp"
#include "train/interrupt.hpp"
#include "train/loop.hpp"
#include "train/run.hpp"
#include "train/tasks.hpp"

namespace gradus::cli {
namespace {

using train::Config;

struct Options {
  std::string task, runs = "runs", name, resume;
  bool json = false, quiet = false;
  Config given;                               // where the parser puts the values of flags
  std::map<std::string, CLI::Option*> flags;  // by the name of the field
};

/// What a field is without the flag: "64", or "64; text 96" where some tasks differ from most.
std::string default_of(const std::string& field) {
  struct Group {
    std::string value, tasks;
    int size;
  };
  std::vector<Group> groups;
  for (const train::Task& task : train::tasks()) {
    Config config = task.defaults;
    std::string value;
    config.fields([&](const std::string& name, const auto& v, const char*) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(v)>, std::vector<std::string>>)
        if (name == field) value = fmt::format("{}", v);
    });
    const auto same = [&](const Group& group) { return group.value == value; };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) groups.push_back({value, task.name, 1});
    else found->tasks += ", " + task.name, ++found->size;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.size > b.size; });
  std::string text = groups.front().value;
  for (std::size_t i = 1; i < groups.size(); ++i) text += fmt::format("; {} {}", groups[i].tasks, groups[i].value);
  return text;
}

void add_fields(CLI::App& app, Options& o) {
  o.given.fields([&](const std::string& name, auto& field, const std::string& help) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (!std::is_same_v<Field, std::vector<std::string>>) {
      if (help.empty()) return;
      const char* type = std::is_same_v<Field, std::string> ? "TEXT" : std::is_floating_point_v<Field> ? "X" : "N";
      CLI::Option* const option = app.add_option("--" + train::flag_name(name), field, help);
      option->type_name(name == "file" ? "FILE" : type)->group("Model and training");
      if (const std::string value = default_of(name); !value.empty()) option->default_str(value);
      o.flags[name] = option;
    }
  });
}

Config config_of(const Options& o, const train::Task& task) {
  Config config = task.defaults;
  config.fields([&](const std::string& name, auto& field, const char*) {
    const auto flag = o.flags.find(name);
    if (flag != o.flags.end() && flag->second->count()) flag->second->results(field);
  });
  if (task.name == "text" && config.file.empty())
    throw WrongUsage{"train text needs a file to learn from: --file FILE"};
  if (task.name != "text" && !config.file.empty())
    throw WrongUsage{fmt::format("--file is for the task text, not for {}", task.name)};
  if (!config.file.empty()) config.file = std::filesystem::absolute(config.file).lexically_normal().string();
  if (config.warmup > config.steps / 5 && !o.flags.at("warmup")->count()) config.warmup = config.steps / 5;
  return config;
}

/// Trains; everything for people goes to `out`.
int train_run(const Options& o, const train::Task& task, train::Learner& learner, const train::Run& run) {
  const auto out = [&](std::string_view text) { o.json ? print_error(text) : print(text); };
  std::FILE* const stream = o.json ? stderr : stdout;
  const train::InterruptGuard guard;
  try {
    if (!o.quiet) print_error(introduction(task, learner, run));
    const train::Result result = train::run_training(task, learner, run, {.progress = o.quiet ? nullptr : stderr});
    if (!o.quiet) {
      train::SampleOptions ten;
      ten.seed = run.config().seed;
      out("\n" + samples_text(learner, ten, stream) + "\n" + attention_text(learner, "", stream) + "\n");
    }
    print(o.json ? train::to_json(result) + "\n" : result_text(result));
  } catch (const train::Interrupted&) {
    print_error(
        fmt::format("\nstopped; the run is saved; go on with `gradus train --resume {}`\n", run.folder().string()));
    return interrupted;
  }
  return success;
}

int resume(const Options& o) {
  for (const auto& [name, option] : o.flags)
    if (option->count())
      throw WrongUsage{fmt::format("--resume goes on with the run's own --{}", train::flag_name(name))};
  if (!o.task.empty() || !o.name.empty()) throw WrongUsage{"--resume RUN takes neither TASK nor --name"};
  const train::Run run = train::Run::open(o.runs, o.resume);
  if (run.finished()) fail("run {} is finished; `gradus report {}` shows it", run.folder().string(), o.resume);
  Config config = run.config();
  const train::Task& task = train::task(config.task);
  const auto learner = task.make(config);
  return train_run(o, task, *learner, run);
}

int start(const Options& o) {
  if (o.task.empty()) throw WrongUsage{"train needs a TASK; `gradus tasks` lists them"};
  const train::Task& task = train::task(o.task);
  Config config = config_of(o, task);
  const auto learner = task.make(config);  // before the folder: a mistake leaves none behind
  return train_run(o, task, *learner, train::Run::create(o.runs, o.name, config));
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("TASK", o->task, "what to learn; `gradus tasks` lists them");
  add_threads(app);
  add_runs(app, o->runs);
  app.add_option("--name", o->name,
                 "the run's folder in --runs; must not exist (default: TASK-N, the first that is free)");
  app.add_option("--resume", o->resume, "go on with a run that was stopped: its name or folder")->type_name("RUN");
  app.add_flag("--json", o->json, "print the result as one JSON value, and all else to standard error");
  app.add_flag("--quiet", o->quiet, "show only the result");
  add_fields(app, *o);
  return [o] { return o->resume.empty() ? start(*o) : resume(*o); };
}

const Registered registered({10, "train", "train a model on a task, and watch it learn", add});

}  // namespace
}  // namespace gradus::cli
