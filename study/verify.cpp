#include "study/verify.hpp"

#include "core/differences.hpp"
#include "core/mode.hpp"
#include "core/op.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::study {
namespace {

constexpr double time_for_all = 5e8;  // nanoseconds, by the estimate below: the same on every machine
constexpr std::int64_t every_entry_up_to = 64;
constexpr int directions = 8;

double cost_of(const RecordedProgram::Made& made) {
  double elements = static_cast<double>(made.op->output.numel()), inner = 1;
  for (const Tensor& x : made.op->inputs)
    if (x.defined()) elements += static_cast<double>(x.numel());
  if (std::string_view(made.op->info().name) == "matmul") inner = static_cast<double>(made.op->inputs[0].size(-1));
  return 600 + elements * (1 + inner / 8);
}

}  // namespace

Verifier::Verifier(const RecordedProgram& program, const Tensor& cotangent, std::uint64_t seed, std::size_t lines)
    : program_(program),
      cotangent_(cotangent),
      seed_(seed),
      budget_(time_for_all / static_cast<double>(std::max<std::size_t>(lines, 1))) {}

Verdict Verifier::all_paths(int value, const Tensor& gradient) const { return compare(value, -1, -1, gradient); }

Verdict Verifier::one_path(int op, int input, const Tensor& gradient) const {
  return compare(program_.ops[static_cast<std::size_t>(op)].inputs[static_cast<std::size_t>(input)], op, input,
                 gradient);
}

// The ops to run again when `value` moves: all that depend on it, or only those behind `op`.
std::vector<int> Verifier::downstream(int value, int op) const {
  std::vector<bool> moved(program_.values.size(), false);
  if (op < 0) moved[static_cast<std::size_t>(value)] = true;
  std::vector<int> ops;
  for (std::size_t i = 0; i < program_.ops.size(); ++i) {
    const RecordedProgram::Made& made = program_.ops[i];
    const bool runs = static_cast<int>(i) == op || std::any_of(made.inputs.begin(), made.inputs.end(), [&](int input) {
                        return input >= 0 && moved[static_cast<std::size_t>(input)];
                      });
    if (!runs) continue;
    moved[static_cast<std::size_t>(made.output)] = true;
    ops.push_back(static_cast<int>(i));
  }
  return ops;
}

double Verifier::cost(const std::vector<int>& ops) const {
  double sum = 0;
  for (const int op : ops) sum += cost_of(program_.ops[static_cast<std::size_t>(op)]);
  return sum;
}

Verdict Verifier::compare(int value, int op, int input, const Tensor& gradient) const {
  const std::vector<int> again = downstream(value, op);
  std::vector<Tensor> values = program_.values;
  std::vector<Tensor> x;
  const auto f = [&](const Tensor& moved) {
    Mode plain;
    plain.grad = false;
    const ModeGuard guard(plain);
    if (op < 0) values[static_cast<std::size_t>(value)] = moved;
    for (const int index : again) {
      const RecordedProgram::Made& made = program_.ops[static_cast<std::size_t>(index)];
      x.clear();
      for (const int i : made.inputs) x.push_back(i < 0 ? Tensor{} : values[static_cast<std::size_t>(i)]);
      if (index == op) x[static_cast<std::size_t>(input)] = moved;
      values[static_cast<std::size_t>(made.output)] = made.op->run(x);
    }
    return values[static_cast<std::size_t>(program_.result)].to_vector<double>();
  };
  const Tensor at = program_.values[static_cast<std::size_t>(value)].detach();
  const double every_entry = 2 * static_cast<double>(at.numel()) * cost(again);
  const bool entries = at.numel() <= every_entry_up_to && (every_entry <= budget_ || at.numel() <= directions);
  const Comparison c = compare_with_differences(
      f, cotangent_.to_vector<double>(), copy_of(at), gradient.to_vector<double>(),
      {.key = seed_, .every_entry = entries ? every_entry_up_to : -1, .directions = directions});
  return {.difference = c.difference,
          .ok = c.ok || c.kink,
          .how = c.kink          ? "kink"
                 : c.every_entry ? "every entry"
                                 : fmt::format("{} directions", directions)};
}

}  // namespace gradus::study
