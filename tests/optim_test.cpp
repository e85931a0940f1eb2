#include "core/arrays.hpp"
#include "core/grad.hpp"
#include "core/mode.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "optim/adagrad.hpp"
#include "optim/adam.hpp"
#include "optim/adamw.hpp"
#include "optim/clip.hpp"
#include "optim/rmsprop.hpp"
#include "optim/schedule.hpp"
#include "optim/sgd.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include "tests/paths.hpp"

using namespace gradus;

// Golden values are f64 from PyTorch, equal but for rounding: 1e-10. Values by hand are those of faults that other
// systems had (pytorch#22628, #12107, #33126, #46849, transformers#14539, ...).
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void check_close(const Tensor& found, const Tensor& expected, double tolerance = 1e-10) {
  REQUIRE(found.shape() == expected.shape());
  const std::vector<double> x = found.to_vector<double>(), y = expected.to_vector<double>();
  double scale = 1;
  for (const double v : y) scale = std::max(scale, std::abs(v));
  bool close = true;
  for (std::size_t i = 0; i < x.size(); ++i)
    close = close && std::abs(x[i] - y[i]) <= tolerance * scale;  // false for NaN
  CHECK(close);
}
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
NamedTensors golden(const std::string& name) { return load_npz(gradus_test::test_dir() + "/golden/" + name + ".npz"); }
const Tensor* find_or_null(const NamedTensors& arrays, const std::string& name) {
  for (const auto& [key, value] : arrays)
    if (key == name) return &value;
  return nullptr;
}
Tensor parameter(double value, DType dtype = DType::f64) { return full({1}, value, dtype).requires_grad(true); }
void give_gradient(Tensor& p, double g) { p.set_grad(full(p.shape(), g, p.dtype())); }
using Made = std::unique_ptr<Optimizer>;
using Maker = std::function<Made(const Parameters&)>;

template <class O, class Options>
Maker maker(const Options& options) {
  return [options](const Parameters& p) -> Made { return std::make_unique<O>(p, options); };
}

const std::vector<std::pair<std::string, Maker>>& golden_cases() {
  static const std::vector<std::pair<std::string, Maker>> cases{
      {"sgd", maker<SGD>(SGDOptions{.learning_rate = 0.1})},
      {"sgd_momentum", maker<SGD>(SGDOptions{.learning_rate = 0.1, .momentum = 0.9})},
      {"sgd_nesterov_wd",
       maker<SGD>(SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.05, .nesterov = true})},
      {"rmsprop", maker<RMSprop>(RMSpropOptions{.learning_rate = 0.01})},
      {"rmsprop_centered_momentum",
       maker<RMSprop>(RMSpropOptions{.learning_rate = 0.01, .weight_decay = 0.01, .momentum = 0.9, .centered = true})},
      {"adagrad",
       maker<Adagrad>(AdagradOptions{.learning_rate = 0.1, .learning_rate_decay = 0.01, .initial_accumulator = 0.1})},
      {"adam", maker<Adam>(AdamOptions{.learning_rate = 0.01})},
      {"adam_l2",
       maker<Adam>(AdamOptions{.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.1})},
      {"adam_amsgrad", maker<Adam>(AdamOptions{.learning_rate = 0.01, .amsgrad = true})},
      {"adamw", maker<AdamW>(AdamWOptions{.learning_rate = 0.01, .weight_decay = 0.1})},
      {"adamw_amsgrad", maker<AdamW>(AdamWOptions{.learning_rate = 0.01, .weight_decay = 0.1, .amsgrad = true})}};
  return cases;
}

/// Eight steps as PyTorch took them; with `restart_at`, the state moves to a new optimizer before that step.
void follow_golden(const std::string& name, const Maker& make, bool transposed, int restart_at) {
  const NamedTensors arrays = golden("optim_" + name);
  std::vector<Tensor> p;
  for (int i = 0; i < 2; ++i) {
    Tensor start = copy_of(find(arrays, fmt::format("p{}_step0", i)));
    if (transposed && start.rank() == 2) {
      Tensor memory({start.size(1), start.size(0)}, DType::f64);
      Tensor view(memory.storage(), {start.shape(), {1, start.size(0)}, 0}, DType::f64);
      const NoGrad guard;
      assign(view, start);
      start = view;
    }
    p.push_back(start.requires_grad(true));
  }
  Made optimizer = make(p);
  for (int step = 1; step <= 8; ++step) {
    if (step == restart_at) {
      const NamedTensors saved = optimizer->state();
      optimizer = make(p);
      optimizer->load_state(saved);
    }
    for (int i = 0; i < 2; ++i) {
      const Tensor* const g = find_or_null(arrays, fmt::format("g{}_step{}", i, step));
      p[static_cast<std::size_t>(i)].set_grad(g ? *g : Tensor{});
    }
    optimizer->step();
    for (int i = 0; i < 2; ++i)
      check_close(p[static_cast<std::size_t>(i)], find(arrays, fmt::format("p{}_step{}", i, step)));
  }
}

}  // namespace

TEST_CASE("optimizers take PyTorch's steps, and skip a parameter without a gradient") {
  for (const auto& each : golden_cases()) {  // Clang 14 captures no structured bindings
    const auto& name = each.first;
    const auto& make = each.second;
    CAPTURE(name);
    follow_golden(name, make, false, 0);
    follow_golden(name, make, true, 0);   // a parameter that is a strided view
    follow_golden(name, make, false, 5);  // state saved and loaded
  }
}

TEST_CASE("Adam's epsilon stands outside the bias-corrected root") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor p = parameter(1, dtype);
    Adam adam({p}, {.learning_rate = 1});
    give_gradient(p, 1e-8);
    adam.step();
    CHECK(p.item() == doctest::Approx(0.5).epsilon(1e-6));
  }
}

TEST_CASE("Adam's first step has the size of the learning rate, whatever the gradient") {
  for (const double g : {3.0, 3e-3}) {
    Tensor p = parameter(0);
    Adam adam({p});
    give_gradient(p, g);
    adam.step();
    CHECK(p.item() == doctest::Approx(-1e-3).epsilon(1e-5));
  }
}

TEST_CASE("AdamW decays before its step and apart from the gradient") {
  const auto after = [](auto make, double g) {
    Tensor p = parameter(1);
    auto optimizer = make(p);
    give_gradient(p, g);
    optimizer->step();
    return p.item();
  };
  const auto adamw = [](const Tensor& p) {
    return std::make_unique<AdamW>(Parameters{p}, AdamWOptions{.learning_rate = 0.1, .weight_decay = 0.1});
  };
  const auto adam = [](const Tensor& p) {
    return std::make_unique<Adam>(Parameters{p}, AdamOptions{.learning_rate = 0.1, .weight_decay = 0.1});
  };
  CHECK(after(adamw, 1) == doctest::Approx(0.89).epsilon(1e-7));
  CHECK(after(adamw, 0) == doctest::Approx(0.99).epsilon(1e-12));
  CHECK(after(adam, 0) == doctest::Approx(0.9).epsilon(1e-6));
}

TEST_CASE("a step leaves gradients alone and bumps the versions of parameters") {
  for (const auto& each : golden_cases()) {  // Clang 14 captures no structured bindings
    const auto& name = each.first;
    const auto& make = each.second;
    CAPTURE(name);
    Tensor p = parameter(1);
    give_gradient(p, 0.25);
    const Made optimizer = make(Parameters{p});
    const std::uint32_t version = p.storage().version(), g_version = p.grad().storage().version();
    optimizer->step();
    CHECK(p.storage().version() == version + 1);
    CHECK(p.grad().storage().version() == g_version);
    CHECK(p.grad().item() == 0.25);
    optimizer->zero_grad();
    CHECK(!p.grad().defined());
  }
}

TEST_CASE("a parameter without a gradient is untouched: no state, no step") {
  Tensor used = parameter(1), unused = parameter(1);
  AdamW adamw(std::vector<NamedParameter>{{"used", used}, {"unused", unused}}, {.weight_decay = 0.1});
  give_gradient(used, 1);
  adamw.step();
  CHECK(unused.item() == 1);
  CHECK(unused.storage().version() == 0);
  const NamedTensors state = adamw.state();
  CHECK(find(state, "used.step").item() == 1);
  CHECK(find(state, "unused.step").item() == 0);
  CHECK(find_or_null(state, "used.m"));
  CHECK(!find_or_null(state, "unused.m"));
}

TEST_CASE("options that make no sense are refused") {
  Tensor p = parameter(1);
  CHECK(contains(error_of([&] { Adam({p}, {.learning_rate = -1}); }), "adam: learning_rate -1"));
  CHECK(contains(error_of([&] { Adam({p}, {.beta1 = 1}); }), "beta1 1 is not in [0, 1)"));
  CHECK(contains(error_of([&] { Adam({p}, {.beta2 = -0.1}); }), "beta2 -0.1"));
  CHECK(contains(error_of([&] { AdamW({p}, {.eps = -1e-8}); }), "adamw: eps"));
  CHECK(contains(error_of([&] { AdamW({p}, {.weight_decay = -0.1}); }), "weight_decay -0.1"));
  CHECK(contains(error_of([&] { SGD({p}, {.learning_rate = not_a_number}); }), "learning_rate nan"));
  CHECK(contains(error_of([&] { SGD({p}, {.nesterov = true}); }), "nesterov needs momentum"));
  CHECK(contains(error_of([&] { RMSprop({p}, {.alpha = 1.5}); }), "rmsprop: alpha"));
  CHECK(contains(error_of([&] { Adagrad({p}, {.initial_accumulator = -1}); }), "initial_accumulator"));
  Adam adam({p});
  CHECK(contains(error_of([&] { adam.set_learning_rate(-1); }), "learning_rate -1"));
  CHECK(adam.learning_rate() == 1e-3);
}

TEST_CASE("only leaves that require grad are parameters, and each one once") {
  Tensor w = parameter(1);
  Tensor alias = w.detach().requires_grad(true);
  CHECK(contains(error_of([&] { SGD({w, w}); }), "the same tensor"));
  CHECK(contains(error_of([&] { SGD({w, alias}); }), "the same tensor"));
  CHECK(contains(error_of([&] { SGD({zeros({2})}); }), "without requires_grad(true)"));
  CHECK(contains(error_of([&] { SGD({w * 2.0}); }), "the result of an op"));
  CHECK(contains(error_of([&] { SGD({Tensor{}}); }), "undefined"));
  CHECK(contains(error_of([&] { SGD(std::vector<Tensor>{}); }), "no parameters"));
  Tensor other = parameter(2);
  CHECK(contains(error_of([&] {
                   SGD(std::vector<NamedParameter>{{"a", w}, {"a", other}});
                 }),
                 "two parameters are named a"));
}

TEST_CASE("a tied parameter takes one step with the sum of both uses") {
  Tensor w = parameter(3);
  SGD sgd({w}, {.learning_rate = 1});
  backward((w * 2.0 + w * w).sum());
  sgd.step();
  CHECK(w.item() == 3 - (2 + 6));
}

TEST_CASE("groups have options of their own, and the rate that is read is the one that is used") {
  Tensor a = parameter(1), b = parameter(1);
  AdamW adamw(std::vector<ParameterGroup<AdamWOptions>>{{{a}, {.learning_rate = 0.1, .weight_decay = 0.5}},
                                                        {{b}, {.learning_rate = 0.2, .weight_decay = 0}}});
  CHECK(adamw.groups() == 2);
  CHECK(adamw.learning_rate(1) == 0.2);
  give_gradient(a, 0), give_gradient(b, 0);
  adamw.step();
  CHECK(a.item() == doctest::Approx(0.95));
  CHECK(b.item() == 1);
  adamw.set_learning_rate(0.01);
  CHECK(adamw.options(1).learning_rate == 0.01);
  adamw.set_learning_rate(0.3, 1);
  CHECK(adamw.learning_rate(0) == 0.01);
  CHECK(adamw.learning_rate(1) == 0.3);
  give_gradient(b, 1);
  const double before = b.item();
  adamw.step();
  CHECK(before - b.item() > 0.1);
  CHECK(contains(error_of([&] { (void)adamw.learning_rate(2); }), "no group 2"));
}

TEST_CASE("ten steps equal five, a saved state, and five more, bit for bit") {
  for (const auto& each : golden_cases()) {  // Clang 14 captures no structured bindings
    const auto& name = each.first;
    const auto& make = each.second;
    CAPTURE(name);
    const Schedule rate = schedule::cosine(0.05, 10);
    const auto train = [&](Tensor& p, Optimizer& optimizer, std::int64_t from, std::int64_t to) {
      for (std::int64_t t = from; t < to; ++t) {
        optimizer.set_learning_rate(rate(t));
        Generator generator(static_cast<std::uint64_t>(t));
        p.set_grad(randn({3, 5}, DType::f32, generator));
        optimizer.step();
      }
    };
    Tensor whole = ones({3, 5}).requires_grad(true), parted = ones({3, 5}).requires_grad(true);
    const Made one = make(Parameters{whole}), first = make(Parameters{parted});
    train(whole, *one, 0, 10);
    train(parted, *first, 0, 5);
    const NamedTensors saved = first->state();
    Tensor resumed = copy_of(parted).requires_grad(true);
    const Made second = make(Parameters{resumed});
    second->load_state(saved);
    second->load_state(saved);  // replaces, never appends
    train(resumed, *second, 5, 10);
    CHECK(resumed.to_vector<float>() == whole.to_vector<float>());
  }
}

TEST_CASE("loading names everything that does not fit, and then loads nothing") {
  Tensor a = zeros({2}).requires_grad(true), b = zeros({3}).requires_grad(true);
  Adam adam(std::vector<NamedParameter>{{"a", a}, {"b", b}});
  a.set_grad(ones({2})), b.set_grad(ones({3}));
  adam.step();
  NamedTensors saved = adam.state();
  NamedTensors bad;
  for (auto& [name, t] : saved) {
    if (name == "a.m") continue;
    bad.emplace_back(name == "b.v" ? "c.v" : name, name == "a.v" ? zeros({5}) : t);
  }
  const std::string text = error_of([&] { adam.load_state(bad); });
  CHECK(contains(text, "missing: a.m, b.v"));
  CHECK(contains(text, "left over: c.v"));
  CHECK(contains(text, "a.v f32 [5] for f32 [2]"));
  const NamedTensors after = adam.state();
  for (std::size_t i = 0; i < saved.size(); ++i)
    CHECK(after[i].second.to_vector<double>() == saved[i].second.to_vector<double>());
}

TEST_CASE("a step has the same bits on any number of threads") {
  const int before = threads();
  for (const auto& each : golden_cases()) {  // Clang 14 captures no structured bindings
    const auto& name = each.first;
    const auto& make = each.second;
    CAPTURE(name);
    std::vector<float> results[2];
    for (const int run : {0, 1}) {
      set_threads(run == 0 ? 1 : 4);
      Generator generator(1);
      Tensor p = randn({50001}, DType::f32, generator).requires_grad(true),
             small = randn({3}, DType::f32, generator).requires_grad(true);
      const Made optimizer = make(Parameters{p, small});
      for (int step = 0; step < 3; ++step) {
        p.set_grad(randn({50001}, DType::f32, generator)), small.set_grad(randn({3}, DType::f32, generator));
        optimizer->step();
      }
      results[run] = p.to_vector<float>();
      results[run].push_back(small.to_vector<float>()[2]);
    }
    CHECK(results[0] == results[1]);
  }
  set_threads(before);
}

TEST_CASE("parameters of both dtypes and of no elements are trained together") {
  Tensor a = parameter(1, DType::f32), b = parameter(1, DType::f64), none = zeros({0, 3}).requires_grad(true);
  Adam adam({a, b, none}, {.learning_rate = 0.5});
  give_gradient(a, 1), give_gradient(b, 1), give_gradient(none, 1);
  adam.step();
  CHECK(a.item() == doctest::Approx(0.5));
  CHECK(b.item() == doctest::Approx(0.5));
  CHECK(find(adam.state(), "0.m").dtype() == DType::f32);
  CHECK(find(adam.state(), "1.m").dtype() == DType::f64);
}

TEST_CASE("schedules give PyTorch's learning rates") {
  const NamedTensors expected = golden("schedules");
  const auto check = [&](const char* name, const Schedule& s, std::int64_t steps) {
    CAPTURE(name);
    const std::vector<double> rates = find(expected, name).to_vector<double>();
    for (std::int64_t t = 0; t < steps; ++t)
      CHECK(s(t) == doctest::Approx(rates[static_cast<std::size_t>(t)]).epsilon(1e-10));
  };
  check("constant", schedule::constant(0.1), 25);
  check("step_5_half", schedule::step(0.1, 5, 0.5), 25);
  check("multistep_4_9_tenth", schedule::multistep(0.1, {4, 9}, 0.1), 25);
  check("exponential_0_9", schedule::exponential(0.1, 0.9), 25);
  check("cosine_20_min_0_01", schedule::cosine(0.1, 20, 0.01), 21);
  check("linear_0_1_to_1_in_5", schedule::linear(0.01, 0.1, 5), 25);
  check("warmup5_then_cosine15", schedule::joined({schedule::linear(0.01, 0.1, 5), schedule::cosine(0.1, 15)}, {5}),
        20);
  check("noam_d64_warm8", schedule::noam(64, 8, 0.1), 25);
}

TEST_CASE("a schedule keeps its last rate after its last step") {
  CHECK(schedule::cosine(0.1, 20, 0.01)(1000) == 0.01);
  CHECK(schedule::linear(0, 0.1, 5)(1000) == 0.1);
  const Schedule s = schedule::warmup_stable_decay(1, 4, 3, 2, 0.1);
  const double expected[] = {0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 0.55, 0.1, 0.1};
  for (int t = 0; t < 11; ++t) CHECK(s(t) == doctest::Approx(expected[t]));
  CHECK(schedule::inverse_square_root(0.5, 4)(3) == 0.5);
  CHECK(schedule::inverse_square_root(0.5, 4)(15) == 0.25);
}

TEST_CASE("schedules that make no sense are refused") {
  CHECK(contains(error_of([] { schedule::cosine(-1, 10); }), "cosine: a rate of -1"));
  CHECK(contains(error_of([] { schedule::cosine(1, 0); }), "cosine: 0 steps"));
  CHECK(contains(error_of([] { schedule::multistep(1, {5, 5}); }), "milestone 5 after 5"));
  CHECK(contains(error_of([] { schedule::joined({schedule::constant(1)}, {3}); }), "1 schedules and 1 milestones"));
}

TEST_CASE("clipping by norm scales as PyTorch does") {
  for (const auto& norm : {std::pair{"1.0", 1.0}, std::pair{"2.0", 2.0}, std::pair{"inf", infinity}}) {
    const std::string name = norm.first;
    const double p = norm.second;
    CAPTURE(name);
    const NamedTensors arrays = golden("clip_norm_" + name);
    Tensor a = zeros({3, 4}, DType::f64).requires_grad(true), b = zeros({5}, DType::f64).requires_grad(true);
    a.set_grad(find(arrays, "g0")), b.set_grad(copy_of(find(arrays, "g1")));
    const Clipped clipped = clip_by_norm({a, b}, 1.5, p);
    CHECK(clipped.norm == doctest::Approx(find(arrays, "norm").item()).epsilon(1e-12));
    check_close(a.grad(), find(arrays, "c0"));
    check_close(b.grad(), find(arrays, "c1"));
  }
}

TEST_CASE("the norm is measured in double: 1e20 in f32 and 1e200 in f64 do not overflow") {
  std::vector<Tensor> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(parameter(0, DType::f32));
    give_gradient(many.back(), 1e20);
  }
  const Clipped clipped = clip_by_norm(many, 1);
  CHECK(clipped.norm == doctest::Approx(1e21).epsilon(1e-6));
  for (const Tensor& p : many) CHECK(p.grad().item() == doctest::Approx(0.1).epsilon(1e-6));
  Tensor p = zeros({4}, DType::f64).requires_grad(true);
  give_gradient(p, 1e200);
  CHECK(clip_by_norm({p}, 1).norm == doctest::Approx(2e200));
  check_close(p.grad(), full({4}, 0.5, DType::f64));
}

TEST_CASE("a norm that is not finite leaves gradients alone and says whose it is") {
  for (const double bad : {not_a_number, infinity, -infinity}) {
    Tensor good = parameter(0), wrong = parameter(0);
    give_gradient(good, 5), give_gradient(wrong, bad);
    const Clipped clipped =
        clip_by_norm(std::vector<NamedParameter>{{"layers.0.weight", good}, {"layers.1.weight", wrong}}, 1);
    CHECK(!clipped.finite());
    CHECK(clipped.non_finite == "layers.1.weight");
    CHECK(!std::isfinite(clipped.norm));
    CHECK(good.grad().item() == 5);
  }
}

TEST_CASE("clipping refuses what would reverse gradients and keeps zeros") {
  Tensor p = parameter(0), without = parameter(0);
  give_gradient(p, 0);
  CHECK(clip_by_norm({p, without}, 1).norm == 0);
  CHECK(p.grad().item() == 0);
  CHECK(!without.grad().defined());
  CHECK(contains(error_of([&] { clip_by_norm({p}, -1); }), "max_norm -1 is negative"));
  CHECK(contains(error_of([&] { clip_by_norm({p}, 1, 3); }), "p is 3"));
  CHECK(contains(error_of([&] { clip_by_value({p}, -1); }), "limit -1 is negative"));
}

TEST_CASE("clipping by value clamps each element and keeps NaN") {
  Tensor p = zeros({4}).requires_grad(true);
  p.set_grad(tensor({-3, 0.5, 3, not_a_number}));
  clip_by_value({p}, 1);
  const std::vector<double> g = p.grad().to_vector<double>();
  CHECK(g[0] == -1);
  CHECK(g[1] == 0.5);
  CHECK(g[2] == 1);
  CHECK(std::isnan(g[3]));
}
