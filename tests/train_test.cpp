// The training loop, its state, and the folder of a run.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/files.hpp"
#include "core/node.hpp"
#include "core/random.hpp"
#include "file_helpers.hpp"
#include "train/batch.hpp"
#include "train/interrupt.hpp"
#include "train/loop.hpp"
#include "train/run.hpp"
#include "train/tasks.hpp"
#include "train/trainer.hpp"

using namespace gradus;
using namespace gradus::train;
using gradus::test::contains;
using gradus::test::error_of;
using gradus::test::Folder;
using gradus::test::put;

namespace {

Config tiny(const char* name) {
  Config c = task(name).defaults;
  c.steps = 10;
  c.batch = 4;
  c.width = 8;
  c.heads = 2;
  c.layers = 1;
  c.feed_forward = 16;
  c.warmup = 2;
  c.dropout = 0.2;
  c.seed = 7;
  return c;
}

Config tiny_text(const Folder& folder) {
  std::string names;
  for (int i = 0; i < 40; ++i) names += fmt::format("{}{}na\n", static_cast<char>('a' + i % 20), "ei"[i / 20]);
  put(folder / "names.txt", names);
  Config c = tiny("text");
  c.file = (folder / "names.txt").string();
  return c;
}

std::vector<std::vector<float>> weights_of(const Learner& learner) {
  std::vector<std::vector<float>> all;
  for (const Tensor& p : nn::parameters(learner.model())) all.push_back(p.to_vector<float>());
  return all;
}

void check_resume(const Config& given) {
  const Folder folder;
  Config config = given;
  std::vector<double> losses, resumed;
  const auto whole = task(config.task).make(config);
  Trainer through(*whole, config);
  for (int i = 0; i < 10; ++i) losses.push_back(through.step().loss);
  {
    Config c = given;
    const auto first = task(c.task).make(c);
    Trainer half(*first, c);
    for (int i = 0; i < 5; ++i) resumed.push_back(half.step().loss);
    half.save(folder / "checkpoint", 12.5);
  }
  gradus::seed(99);  // what another process would have done
  Config c = given;
  const auto second = task(c.task).make(c);
  Trainer rest(*second, c);
  CHECK(rest.load(folder / "checkpoint") == 12.5);
  CHECK(rest.steps() == 5);
  for (int i = 0; i < 5; ++i) resumed.push_back(rest.step().loss);
  CHECK(losses == resumed);
  CHECK(weights_of(*whole) == weights_of(*second));
}

}  // namespace

TEST_CASE("ten steps have the bits of five steps, a checkpoint and five more, with dropout on") {
  SUBCASE("pairs") { check_resume(tiny("reverse")); }
  SUBCASE("text") {
    const Folder folder;
    check_resume(tiny_text(folder));
  }
}

TEST_CASE("a checkpoint of another model is refused before anything changes") {
  const Folder folder;
  Config config = tiny("copy"), other = tiny("copy");
  other.width = 16;
  const auto learner = task("copy").make(config);
  Trainer trainer(*learner, config);
  trainer.step();
  trainer.save(folder / "checkpoint", 0);
  const auto wider = task("copy").make(other);
  Trainer second(*wider, other);
  const auto before = weights_of(*wider);
  CHECK(contains(error_of([&] { second.load(folder / "checkpoint"); }), "does not fit"));
  CHECK(second.steps() == 0);
  CHECK(weights_of(*wider) == before);
  put(folder / "torn", "half of a file");
  CHECK(error_of([&] { second.load(folder / "torn"); }) != "no error");
}

TEST_CASE("a loss that is not finite stops the training and changes nothing") {
  Config config = tiny("copy");
  config.learning_rate = 1e30;
  config.warmup = 0;
  const auto learner = task("copy").make(config);
  Trainer trainer(*learner, config);
  trainer.step();
  const auto before = weights_of(*learner);
  const std::uint64_t drawn = default_generator().drawn();
  const std::string error = error_of([&] { trainer.step(); });
  CHECK_MESSAGE(contains(error, "in step 2; lower --learning-rate"), error);
  CHECK(weights_of(*learner) == before);
  CHECK(default_generator().drawn() == drawn);
  CHECK(trainer.steps() == 1);
  for (const Tensor& p : nn::parameters(learner->model())) CHECK_FALSE(p.grad().defined());
}

TEST_CASE("a run whose loss is not finite is saved as it was before that step") {
  const Folder folder;
  Config config = tiny("copy");
  config.learning_rate = 1e30;
  config.warmup = 0;
  const auto learner = task("copy").make(config);
  const Run run = Run::create(folder.path, "", config);
  const std::string error = error_of([&] { run_training(task("copy"), *learner, run, {.progress = nullptr}); });
  CHECK_MESSAGE(contains(error, "saved as it was before in " + run.folder().string()), error);
  REQUIRE(run.log().size() == 1);
  CHECK(run.log().back().step == 1);
  for (const auto& [name, tensor] : load_safetensors(run.model()).tensors)
    for (const double x : tensor.to_vector<double>()) REQUIRE(std::isfinite(x));
}

TEST_CASE("looking at unseen data draws no random numbers and records no graph") {
  const Folder folder;
  for (Config config : {tiny("sort"), tiny_text(folder)}) {
    CAPTURE(config.task);
    const auto learner = task(config.task).make(config);
    learner->set_training(false);
    const std::uint64_t drawn = default_generator().drawn();
    const std::int64_t nodes = live_nodes();
    const Validation v = learner->validate(Extent::part);
    CHECK(v.loss == learner->validate(Extent::part).loss);
    SampleOptions options;
    options.count = 3;
    CHECK(learner->sample(options).size() == 3);
    CHECK(learner->attention("").rows > 0);
    CHECK(default_generator().drawn() == drawn);
    CHECK(live_nodes() == nodes);
  }
}

TEST_CASE("a thousand steps leave live nodes where they were after the first") {
  Config config = tiny("copy");
  config.steps = 1000;
  const auto learner = task("copy").make(config);
  Trainer trainer(*learner, config);
  trainer.step();
  const std::int64_t nodes = live_nodes();
  for (int i = 1; i < 1000; ++i) trainer.step();
  CHECK(live_nodes() == nodes);
}

TEST_CASE("training lowers the loss, and the samples are what validation counts") {
  Config config = tiny("copy");
  config.steps = 150;
  config.batch = 32;
  config.width = 32;
  config.feed_forward = 64;
  config.dropout = 0;
  const auto learner = task("copy").make(config);
  Trainer trainer(*learner, config);
  const double first = trainer.step().loss;
  double last = first;
  while (trainer.steps() < config.steps) last = trainer.step().loss;
  CHECK(last < 0.8 * first);
  learner->set_training(false);
  SampleOptions options;
  options.count = 200;
  int right = 0;
  for (const auto& s : learner->sample(options)) right += s.output == s.right;
  CHECK(learner->validate(Extent::part).value == doctest::Approx(right / 200.0));
}

TEST_CASE("a group of steps deals every batch once, in an order that the seed decides") {
  std::set<std::vector<std::int64_t>> orders;
  for (std::int64_t group = 0; group < 50; ++group) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < group_batches; ++i) {
      const Place place = place_of_step(3, group * group_batches + i);
      CHECK(place.group == group);
      order.push_back(place.batch);
    }
    CHECK(std::set(order.begin(), order.end()).size() == group_batches);
    orders.insert(order);
  }
  CHECK(orders.size() > 40);
}

TEST_CASE("the learning rate rises from above 0 to its highest and falls to about 0") {
  Config c;
  c.steps = 100;
  c.warmup = 10;
  c.learning_rate = 1;
  CHECK(learning_rate_at(c, 0) > 0);
  for (int t = 1; t <= 10; ++t) CHECK(learning_rate_at(c, t) > learning_rate_at(c, t - 1));
  CHECK(learning_rate_at(c, 10) == doctest::Approx(1));
  for (int t = 11; t < 100; ++t) CHECK(learning_rate_at(c, t) < learning_rate_at(c, t - 1));
  CHECK(learning_rate_at(c, 99) < 0.001);
}

TEST_CASE("a configuration survives JSON, and what does not belong in it is named") {
  Config c = tiny("add");
  c.file = "a \"quoted\" näme.txt";
  c.seed = 18446744073709551615u;
  c.target_vocabulary = {"\n", "ä"};
  CHECK(to_json(config_from_json(to_json(c), "config.json")) == to_json(c));
  const auto error = [](const char* json) { return error_of([&] { config_from_json(json, "config.json"); }); };
  CHECK(contains(error("{\"steps\": \"many\"}"), "field steps is \"many\""));
  CHECK(contains(error("{\"stepz\": 3}"), "unknown field stepz"));
  CHECK(contains(error("{\"steps\": 3"), "is no JSON"));
  CHECK(contains(error("[1]"), "no JSON object"));
}

TEST_CASE("a number out of its range is refused with the flag and what would do") {
  const auto error = [](auto change) {
    Config c = tiny("copy");
    change(c);
    return error_of([&] { task("copy").make(c); });
  };
  CHECK(contains(error([](Config& c) { c.steps = 0; }), "--steps is 0; give 1 or more"));
  CHECK(contains(error([](Config& c) { c.heads = 3; }), "--heads 3 does not divide --width 8"));
  CHECK(contains(error([](Config& c) { c.dropout = 1; }), "--dropout is 1"));
  CHECK(contains(error([](Config& c) { c.learning_rate = NAN; }), "--learning-rate is nan"));
  CHECK(contains(error([](Config& c) { c.clip = 0; }), "--clip is 0"));
  CHECK(contains(error_of([] { task("juggle"); }), "no task \"juggle\"; the tasks are dates, "));
}

TEST_CASE("a log survives CSV to the last bit, and a damaged line is named") {
  const std::vector<LogRow> rows = {{1, 0.1 + 0.2, 1e-3, 12345, {}, {}}, {2, NAN, 2e-3, 0, 1.0 / 3, 0.25}};
  const std::string csv = to_csv(rows, "exact_match");
  CHECK(csv.starts_with("step,loss,learning_rate,tokens_per_second,validation_loss,exact_match\n"));
  const auto back = log_from_csv(csv, "log.csv");
  REQUIRE(back.size() == 2);
  CHECK(back[0].loss == rows[0].loss);
  CHECK_FALSE(back[0].validation_loss.has_value());
  CHECK(std::isnan(back[1].loss));
  CHECK(back[1].validation_loss == rows[1].validation_loss);
  CHECK(back[1].validation_value == 0.25);
  CHECK(contains(error_of([&] { log_from_csv(csv + "3,0.5", "log.csv"); }), "line 4"));
  CHECK(contains(error_of([&] { log_from_csv(csv + "3,x,1,1,,\n", "log.csv"); }), "line 4"));
  CHECK(contains(error_of([] { log_from_csv("a,b\n", "log.csv"); }), "first line"));
}

TEST_CASE("runs are numbered and never overwritten") {
  const Folder folder;
  const Config c = tiny("copy");
  CHECK(Run::create(folder.path, "", c).folder().filename() == "copy-1");
  CHECK(Run::create(folder.path, "", c).folder().filename() == "copy-2");
  CHECK(Run::create(folder / "deep" / "er", "mine", c).folder().filename() == "mine");
  CHECK(contains(error_of([&] { Run::create(folder.path, "copy-1", c); }), "exists; choose another --name"));
  CHECK(contains(error_of([&] { Run::create(folder.path, "../x", c); }), "is no name for a run"));
  CHECK(contains(error_of([&] { Run::open(folder.path, "copy-3"); }),
                 "runs in " + folder.path.string() + ": copy-1, copy-2"));
  put(folder / "file", "");
  CHECK(contains(error_of([&] { Run::create(folder / "file", "", c); }), "cannot be made"));
  CHECK(to_json(Run::open(folder.path, "copy-2").config()) == to_json(c));
}

TEST_CASE("a training leaves all the files of a run, and the same bits for the same seed") {
  const Folder folder;
  Config config = tiny("reverse");
  std::string models[2];
  for (std::string& model : models) {
    const auto learner = task("reverse").make(config);
    const Run run = Run::create(folder.path, "", config);
    const Result result = run_training(task("reverse"), *learner, run, {.progress = nullptr});
    CHECK(result.steps == 10);
    CHECK(result.parameters == nn::count(learner->model()));
    for (const char* name :
         {"config.json", "log.csv", "model.safetensors", "checkpoint.safetensors", "loss.svg", "attention.svg"})
      CHECK_MESSAGE(gradus::test::fs::exists(run.file(name)), name);
    CHECK(run.result().value == result.value);
    CHECK(run.log().back().step == 10);
    model = read_file(run.model());
  }
  CHECK(models[0] == models[1]);
}

TEST_CASE("a text that changed since the run began is refused") {
  const Folder folder;
  Config config = tiny_text(folder);
  task("text").make(config);
  CHECK(config.held_out == "lines");
  const auto learner = task("text").make(config);  // as when a run is opened: the file is not read
  put(folder / "names.txt", "now\nsomething\nelse\n");
  CHECK(contains(error_of([&] { learner->loss(0); }), "has changed since the run began"));
}
