// Google Benchmark cases: the engine's overhead on 64 elements, and every op's samples marked for it (forward, fused
// and composite rule).
#include "core/node.hpp"
#include "core/parallel.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <benchmark/benchmark.h>

#include <string>

using namespace gradus;

namespace {

// One op forward and backward on 64 elements, one thread: time per op of a chain of 1,000 (x = x * b + a is two ops).
void overhead(benchmark::State& state) {
  set_threads(1);
  Tensor a = randn({64}).requires_grad(true), b = uniform({64}, 0.5, 0.9).requires_grad(true);
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
BENCHMARK(overhead)->Unit(benchmark::kMicrosecond);

// An op without recording: what inference pays.
void forward_only(benchmark::State& state) {
  set_threads(1);
  const NoGrad guard;
  const Tensor a = randn({64}), b = randn({64});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(forward_only);

void forward(benchmark::State& state, const OpEntry& op, const Sample& sample) {
  const NoGrad guard;
  for (auto _ : state) benchmark::DoNotOptimize(op.call(sample.arguments));
}

void backward_case(benchmark::State& state, const OpEntry& op, const Sample& sample, bool composite) {
  std::vector<Value> arguments = sample.arguments;
  std::vector<Tensor> leaves;
  for (Value& v : arguments)
    if (Tensor* const t = v.get_if<Tensor>(); t && t->defined() && is_floating(t->dtype()))
      leaves.push_back(*t = t->detach().requires_grad(true));
  const Tensor y = op.call(arguments);
  const Tensor g = randn(y.shape(), y.dtype());
  for (auto _ : state) benchmark::DoNotOptimize(grad(y, leaves, g, {.create_graph = composite}));
}

void register_ops() {
  for (const OpEntry* op : all_ops()) {
    Samples samples;
    op->samples(samples);
    int number = 0;
    for (const Sample& sample : samples.good()) {
      if (!sample.benchmark) continue;
      const std::string name = op->name() + "/" + std::to_string(number++);
      benchmark::RegisterBenchmark((name + "/forward").c_str(), [=](benchmark::State& s) { forward(s, *op, sample); });
      if (!op->differentiable) continue;
      benchmark::RegisterBenchmark((name + "/backward").c_str(),
                                   [=](benchmark::State& s) { backward_case(s, *op, sample, false); });
      benchmark::RegisterBenchmark((name + "/composite").c_str(),
                                   [=](benchmark::State& s) { backward_case(s, *op, sample, true); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_ops();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
