// gradus sample RUN: let a trained model write.
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/load.hpp"
#include "cli/show.hpp"
#include "core/error.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string run, runs = "runs";
  train::SampleOptions sample;
  bool attention = false, json = false;
};

int sample(const Options& o) {
  if (!(o.sample.temperature >= 0)) fail("sample: --temperature is {}; give 0 or more", o.sample.temperature);
  const Loaded loaded = load_run(o.runs, o.run);
  const std::vector<train::Sample> samples = loaded.learner->sample(o.sample);
  if (!o.json) {
    print(samples_text(samples, stdout));
    if (o.attention)
      print("\n" + attention_text(*loaded.learner, o.sample.inputs.empty() ? "" : o.sample.inputs.front(), stdout));
    return success;
  }
  Json all = Json::array();
  for (const train::Sample& s : samples) {
    Json one{{"input", s.input}, {"output", s.output}};
    if (s.right) one["right"] = *s.right;
    if (!s.remark.empty()) one["remark"] = s.remark;
    all.push_back(std::move(one));
  }
  print_json(all);
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("RUN", o->run, "the run: its name in --runs, or its folder")->required();
  app.add_option("--input", o->sample.inputs,
                 "what the model reads: sources to translate (as often as you like), or a beginning to continue")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--count", o->sample.count, "samples to print when there is no --input, or texts to write")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--temperature", o->sample.temperature,
                 "texts: below 1 bolder, above 1 wilder, 0 always the likeliest character")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--longest", o->sample.longest, "texts: characters at most")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", o->sample.seed, "texts: decides the samples")->capture_default_str()->type_name("N");
  app.add_flag("--attention", o->attention, "also show where the model looks, as a heat map");
  app.add_flag("--json", o->json, "print a JSON list of {input, output, right, remark}");
  add_threads(app);
  add_runs(app, o->runs);
  return [o] { return sample(*o); };
}

const Registered registered({30, "sample", "let a trained model translate or write", add});

}  // namespace
}  // namespace gradus::cli
