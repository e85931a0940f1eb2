#include "study/path_through_mean.hpp"

#include "core/op.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace gradus::study {
namespace {

/// Everything in the forward pass that depends on the outputs of these ops, the outputs included.
std::set<int> downstream(const Derivation& d, const std::set<int>& ops) {
  std::set<int> reached;
  for (std::size_t i = 0; i < d.forward.size(); ++i) {
    const ForwardStep& step = d.forward[i];
    const bool reads =
        std::any_of(step.inputs.begin(), step.inputs.end(), [&](int x) { return reached.count(x) != 0; });
    if (reads || ops.count(static_cast<int>(i))) reached.insert(step.output);
  }
  return reached;
}

/// The backward line that gives the whole gradient of a quantity, before line `line`; -1 when there is none.
int whole_gradient(const Derivation& d, int quantity, int line) {
  for (--line; line >= 0; --line) {
    const BackwardStep& step = d.backward[static_cast<std::size_t>(line)];
    if (step.quantity == quantity && step.kind != BackwardStep::Kind::part) return line;
  }
  return -1;
}

}  // namespace

bool comes_through_mean(const Derivation& d, const BackwardStep& total, int part) {
  const int first = d.backward.at(static_cast<std::size_t>(part)).through;
  std::set<int> others;
  for (const int p : total.parts)
    if (const int op = d.backward.at(static_cast<std::size_t>(p)).through; op != first) others.insert(op);
  const std::set<int> met = downstream(d, others);
  for (int line = part; line >= 0;) {
    const int op = d.backward.at(static_cast<std::size_t>(line)).through;
    if (op < 0) return false;
    const ForwardStep& forward = d.forward.at(static_cast<std::size_t>(op));
    if (met.count(forward.output)) return false;
    if (forward.op->info().name == std::string_view("mean")) return true;
    line = whole_gradient(d, forward.output, line);
  }
  return false;
}

}  // namespace gradus::study
