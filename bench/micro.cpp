// Google Benchmark cases: the engine's overhead; some ops at a size that training has, each on one thread and on all,
// with both rules; and every op's samples marked for it. A case is named op/what: forward, backward (the fused rule,
// where there is one) or composite (the rule in differentiable ops, recorded).
#include "core/node.hpp"
#include "core/parallel.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

using namespace gradus;

namespace {

// Forward and backward on one thread: time per op of a chain of 1,000 (x = x * b + a is two ops).
void overhead(benchmark::State& state) {
  set_threads(1);
  Tensor a = randn({state.range(0)}).requires_grad(true);
  Tensor b = uniform({state.range(0)}, 0.5, 0.9).requires_grad(true);
  for (auto _ : state) {
    a.zero_grad();
    b.zero_grad();
    Tensor x = a;
    for (int i = 0; i < 500; ++i) x = x * b + a;
    backward(sum(x));
  }
  state.counters["per_op"] =
      benchmark::Counter(1000, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(overhead)->ArgName("elements")->Arg(1)->Arg(64)->Unit(benchmark::kMicrosecond);

// An op without recording: what inference pays.
void overhead_no_grad(benchmark::State& state) {
  set_threads(1);
  const NoGrad guard;
  const Tensor a = randn({64}), b = randn({64});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(overhead_no_grad);

using Inputs = const std::vector<Tensor>&;
using Function = std::function<Tensor(Inputs)>;

// The inputs that require grad, and the op's output from them.
struct Recorded {
  std::vector<Tensor> inputs, leaves;
  Recorded(Inputs given) : inputs(given) {
    for (Tensor& t : inputs)
      if (t.defined() && is_floating(t.dtype())) leaves.push_back(t = t.detach().requires_grad(true));
  }
};

void forward(benchmark::State& state, const Function& f, Inputs inputs, int thread_count) {
  set_threads(thread_count);
  const NoGrad guard;
  for (auto _ : state) benchmark::DoNotOptimize(f(inputs));
}

void backward_rule(benchmark::State& state, const Function& f, Inputs inputs, int thread_count, bool composite) {
  set_threads(thread_count);
  const Recorded r(inputs);
  const Tensor y = f(r.inputs);
  const Tensor g = randn(y.shape(), y.dtype());
  for (auto _ : state) benchmark::DoNotOptimize(grad(y, r.leaves, g, {.create_graph = composite}));
}

void register_cases(const std::string& name, const Function& f, const std::vector<Tensor>& inputs, int thread_count,
                    bool differentiable) {
  const auto add = [&](const std::string& what, auto body) {
    benchmark::RegisterBenchmark((name + "/" + what).c_str(), body)->UseRealTime();
  };
  const std::string suffix = "/threads:" + std::to_string(thread_count);
  add("forward" + suffix, [=](benchmark::State& s) { forward(s, f, inputs, thread_count); });
  if (!differentiable) return;
  add("backward" + suffix, [=](benchmark::State& s) { backward_rule(s, f, inputs, thread_count, false); });
  add("composite" + suffix, [=](benchmark::State& s) { backward_rule(s, f, inputs, thread_count, true); });
}

void register_large(int thread_count) {
  const auto add = [&](const char* name, const std::vector<Tensor>& inputs, const Function& f) {
    register_cases(name, f, inputs, thread_count, true);
  };
  const Tensor x = randn({1024, 1024}), vector = randn({1024}), classes = randint(0, 1024, {1024});
  const Tensor q = randn({4, 8, 256, 64}), w = randn({512, 512});
  add("softmax_1024x1024", {x}, [](Inputs i) { return softmax(i[0]); });
  add("log_softmax_1024x1024", {x}, [](Inputs i) { return log_softmax(i[0]); });
  add("layer_norm_1024x1024", {x, vector, vector}, [](Inputs i) { return layer_norm(i[0], i[1], i[2]); });
  add("rms_norm_1024x1024", {x, vector}, [](Inputs i) { return rms_norm(i[0], i[1]); });
  add("gelu_1024x1024", {x}, [](Inputs i) { return gelu(i[0]); });
  add("gelu_tanh_1024x1024", {x}, [](Inputs i) { return gelu_tanh(i[0]); });
  add("cross_entropy_1024x1024", {x, classes}, [](Inputs i) { return cross_entropy(i[0], i[1]); });
  add("sum_1024x1024", {x}, [](Inputs i) { return sum(i[0], -1); });
  add("matmul_512", {w, w}, [](Inputs i) { return matmul(i[0], i[1]); });
  add("linear_512", {w, w, randn({512})}, [](Inputs i) { return linear(i[0], i[1], i[2], Activation::gelu_tanh); });
  add("attention_4x8x256x64", {q, q, q}, [](Inputs i) { return attention(i[0], i[1], i[2], {}, {}, true); });
}

// Tensors among the arguments, and in lists of them.
void for_each_tensor(std::vector<Value>& values, const std::function<void(Value&)>& visit) {
  for (Value& v : values) {
    if (v.get_if<Tensor>()) visit(v);
    else if (auto* const list = v.get_if<Value::List>()) for_each_tensor(*list, visit);
  }
}

// The samples are small: what they time is mostly the overhead of each op.
void register_samples() {
  for (const OpEntry* op : all_ops()) {
    Samples samples;
    op->samples(samples);
    int number = 0;
    for (const Sample& sample : samples.good()) {
      if (!sample.benchmark) continue;
      std::vector<Tensor> inputs;
      std::vector<Value> arguments = sample.arguments;
      for_each_tensor(arguments, [&](Value& v) { inputs.push_back(*v.get_if<Tensor>()); });
      const Function f = [op, arguments](Inputs given) mutable {
        auto next = given.begin();
        for_each_tensor(arguments, [&](Value& v) { v = *next++; });
        return op->call(arguments);
      };
      register_cases(op->name() + "/" + std::to_string(number++), f, inputs, 1, op->differentiable);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int all = threads();
  register_large(1);
  if (all > 1) register_large(all);
  register_samples();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
