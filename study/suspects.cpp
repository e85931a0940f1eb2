#include "study/suspects.hpp"

#include "core/error.hpp"
#include "core/op.hpp"
#include "ops/ops.hpp"
#include "study/faults.hpp"
#include "study/path_through_mean.hpp"

#include <algorithm>
#include <set>

namespace gradus::study {
namespace {

constexpr std::int64_t most_work = 300'000'000;  // for one kind of slip, in elements: about a third of a second

/// What running a line takes: its elements, ten multiplications of a product counted as one, and a share for each op.
std::int64_t work_of(const BackwardStep& step) {
  std::int64_t work = 0;
  each_part(step.term, [&](const Term& t) {
    if (!t.op) return;
    const bool product = t.op->info().name == std::string_view("matmul") && t.inputs[0]->value.rank() > 0;
    work += 1000 + t.value.numel() * (product ? 1 + t.inputs[0]->value.size(-1) / 10 : 1);
  });
  return work;
}

/// The factor that a product or quotient with a constant of one element applies.
void collect_constants(const Derivation& d, SlipContext& context) {
  for (const ForwardStep& step : d.forward) {
    const std::string_view op = step.op->info().name;
    if (op != "mul" && op != "div") continue;
    for (std::size_t i = 0; i < step.op->inputs.size(); ++i) {
      const Tensor& x = step.op->inputs[i];
      const int quantity = step.inputs.at(i);
      const bool constant = quantity < 0 || d.quantities.at(static_cast<std::size_t>(quantity)).role == Role::constant;
      if (constant && x.defined() && x.numel() == 1) context.constants.push_back(x.item());
    }
  }
}

/// Extents with the names of up to three values that have them: those of a last axis and with a name first.
void collect_extents(const Derivation& d, SlipContext& context) {
  std::map<std::int64_t, std::vector<std::string>> owners;
  for (const bool numbered : {false, true})
    for (const bool last : {true, false})
      for (const Quantity& q : d.quantities)
        for (int axis = 0; axis < q.value.rank() && is_numbered(q.name) == numbered; ++axis) {
          std::vector<std::string>& names = owners[q.value.shape()[axis]];
          if ((axis + 1 == q.value.rank()) == last && names.size() < 3 &&
              std::find(names.begin(), names.end(), q.name) == names.end())
            names.push_back(q.name);
        }
  for (const auto& [n, names] : owners)
    context.extents.push_back({n, fmt::format("{} is an extent of {}", n, fmt::join(names, ", "))});
}

void collect_softmaxes(const Derivation& d, SlipContext& context) {
  for (const ForwardStep& step : d.forward) {
    const std::string_view op = step.op->info().name;
    if (op != "softmax" && op != "log_softmax") continue;
    const Quantity& y = d.quantities.at(static_cast<std::size_t>(step.output));
    const int axis = static_cast<int>(as_int(step.op->attributes().at(0), {"softmax", "axis"}));
    if (op == "softmax") context.softmaxes.push_back({y.name, y.value.detach(), axis});
    else context.softmaxes.push_back({"exp(" + y.name + ")", exp(y.value.detach()), axis});
  }
}

}  // namespace

Suspects::Suspects(const Derivation& derivation, int step, Bindings given)
    : derivation_(&derivation), given_(std::move(given)) {
  std::map<std::string, int, std::less<>> line_of;
  for (std::size_t i = 0; i < derivation.backward.size(); ++i)
    line_of[derivation.backward[i].name] = static_cast<int>(i);
  std::set<int> way;
  std::vector<int> open{step};
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    if (!way.insert(i).second) continue;
    names_[i] = names_read(derivation.backward.at(static_cast<std::size_t>(i)).term);
    work_of_[i] = work_of(derivation.backward.at(static_cast<std::size_t>(i)));
    for (const std::string& name : names_[i])
      if (const auto found = line_of.find(name); found != line_of.end()) open.push_back(found->second);
  }
  way_.assign(way.rbegin(), way.rend());  // lines depend on earlier ones alone: the claimed one is the last
}

/// The claimed gradient when line `from` gave `value` and all later lines are right.
Tensor Suspects::carried_on(int from, const Tensor& value, std::int64_t& work) const {
  Bindings altered = given_;
  altered[derivation_->backward[static_cast<std::size_t>(from)].name] = value;
  Tensor last = value;
  for (auto i = way_.rbegin(); i != way_.rend(); ++i) {
    if (*i <= from) continue;
    if (!reads(names_.at(*i), altered)) continue;
    const BackwardStep& step = derivation_->backward[static_cast<std::size_t>(*i)];
    last = rerun(step.term, altered);
    work += work_of_.at(*i);
    altered[step.name] = last;
  }
  return last;
}

/// Normalisation taken for elementwise: nothing of what comes through a mean of the row.
void Suspects::without_means(const SuspectVisitor& visit) const {
  Bindings altered = given_;
  std::string forgotten;
  for (auto i = way_.rbegin(); i != way_.rend(); ++i) {
    const BackwardStep& step = derivation_->backward[static_cast<std::size_t>(*i)];
    Tensor kept;
    for (const int part : step.parts) {
      const BackwardStep& p = derivation_->backward[static_cast<std::size_t>(part)];
      const auto found = altered.find(p.name);
      const Tensor value = found == altered.end() ? p.value : found->second;
      if (comes_through_mean(*derivation_, step, part)) forgotten += (forgotten.empty() ? "" : ", ") + p.name;
      else kept = kept.defined() ? kept + value : value;
    }
    if (kept.defined()) altered[step.name] = kept;
    else if (reads(names_.at(*i), altered)) altered[step.name] = rerun(step.term, altered);
  }
  if (!forgotten.empty())
    visit({altered[derivation_->backward[static_cast<std::size_t>(way_.front())].name],
           "elementwise, without what goes through the means of the row: " + forgotten + " missing"});
}

/// The same slip in the rule of every op of a type: a wrong rule is wrong in every layer and every head.
void Suspects::everywhere(Slip kind, const SuspectVisitor& visit) const {
  std::int64_t whole = 0;
  for (const auto& [line, work] : work_of_) whole += work;
  std::int64_t left = most_work;
  constexpr std::size_t most_faults = 4;  // a rule has few places to go wrong
  std::set<std::string_view> ops;
  for (const int i : way_) ops.insert(op_of(i));
  ops.erase("");
  for (const std::string_view op : ops)
    for (std::size_t k = 0; k < most_faults; ++k) {
      if ((left -= whole) < 0) return;
      const Suspect suspect = everywhere(kind, op, k);
      if (suspect.value.defined() && visit(suspect)) return;
    }
}

/// Fault number k in every line of that op; no value when there is one such line or none.
Suspect Suspects::everywhere(Slip kind, std::string_view op, std::size_t k) const {
  Bindings altered = given_;
  int count = 0;
  std::string why;
  try {
    for (auto i = way_.rbegin(); i != way_.rend(); ++i) {
      const BackwardStep& step = derivation_->backward[static_cast<std::size_t>(*i)];
      const auto faults = op_of(*i) == op ? faults_of(*derivation_, step, kind, altered) : std::vector<Fault>{};
      if (k < faults.size()) altered[step.name] = faults[k].value(), why = faults[k].why, ++count;
      else if (reads(names_.at(*i), altered)) altered[step.name] = rerun(step.term, altered);
    }
  } catch (const Error&) { return {}; }  // with this slip the shapes do not fit
  if (count < 2) return {};
  return {altered[derivation_->backward[static_cast<std::size_t>(way_.front())].name],
          fmt::format("{} times the same: {}", count, why)};
}

/// The op whose rule a backward line is; empty for sums and the seed.
std::string_view Suspects::op_of(int line) const {
  const int through = derivation_->backward.at(static_cast<std::size_t>(line)).through;
  return through < 0 ? "" : derivation_->forward.at(static_cast<std::size_t>(through)).op->info().name;
}

void Suspects::each(Slip kind, const SuspectVisitor& visit) const {
  std::int64_t work = 0;
  for (const int i : way_) {
    const BackwardStep& step = derivation_->backward[static_cast<std::size_t>(i)];
    for (const Fault& fault : faults_of(*derivation_, step, kind, given_)) {
      if (work > most_work) return;
      Suspect suspect{{}, fault.why};
      try {
        work += work_of_.at(i);
        suspect.value = carried_on(i, fault.value(), work);
      } catch (const Error&) { continue; }  // with this slip the shapes do not fit
      if (visit(suspect)) return;
    }
  }
  if (kind == Slip::row_sum) without_means(visit);
  if (kind == Slip::row_sum || kind == Slip::scale) everywhere(kind, visit);
}

SlipContext slip_context(const Derivation& derivation, int step, const Bindings& given) {
  const NoGrad no_grad;
  SlipContext context;
  collect_extents(derivation, context);
  collect_constants(derivation, context);
  collect_softmaxes(derivation, context);
  if (step < 0) return context;
  const BackwardStep& line = derivation.backward.at(static_cast<std::size_t>(step));
  const int reversed =
      line.parts.empty() ? line.through : derivation.backward.at(static_cast<std::size_t>(line.parts[0])).through;
  if (reversed >= 0) {
    const Quantity& y = derivation.quantities.at(
        static_cast<std::size_t>(derivation.forward.at(static_cast<std::size_t>(reversed)).output));
    context.cotangent = {"d_" + y.name, y.gradient};
  }
  for (const int part : line.parts) {
    const BackwardStep& p = derivation.backward.at(static_cast<std::size_t>(part));
    const auto bound = given.find(p.name);
    context.parts.push_back({p.name, bound == given.end() ? p.value : bound->second});
  }
  const auto suspects = std::make_shared<Suspects>(derivation, step, given);
  context.suspects = [suspects](Slip kind, const SuspectVisitor& visit) { suspects->each(kind, visit); };
  return context;
}

}  // namespace gradus::study
