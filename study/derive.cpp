#include "core/op.hpp"
#include "core/parallel.hpp"
#include "study/derivation.hpp"
#include "study/trace.hpp"
#include "study/unique_names.hpp"
#include "study/verify.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

namespace gradus::study {
namespace {

// The line of the rule's words that is about one input; ops on lists have one line for all.
std::string rule_line(const OpInfo& info, int input) {
  std::string_view rest = info.rule, last;
  for (int i = 0; !rest.empty(); ++i) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    last = rest.substr(0, end);
    if (i == input) return std::string(last);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(last);
}

class Deriver {
 public:
  Deriver(const Record& record, const Tensor& y, const std::vector<Tensor>& wrt, const DeriveOptions& options)
      : record_(record), y_(y), wrt_(wrt), options_(options), program_(program_of(record, y)) {
    for (const Tensor& x : wrt_) {
      if (!x.requires_grad())
        fail(
            "derive: a tensor of shape {} that gradients are asked for does not require grad; call requires_grad(true)",
            x.shape());
      parameters_.push_back(value_of_parameter(x));
    }
    for (const Tensor& x : program_.values)
      if (x.defined() && x.dtype() == DType::f32)
        fail("derive: a value of shape {} is f32; cast everything to f64, since differences in f32 prove nothing",
             x.shape());
    quantity_of_.assign(program_.values.size(), -1);
  }

  Derivation run() {
    choose_cotangent();
    name_values();
    list_quantities();
    forward();
    backward();
    if (options_.verify) verify();
    return std::move(d_);
  }

 private:
  // A leaf that nothing reads is a value of its own. A leaf made of an intermediate result is that result.
  int value_of_parameter(const Tensor& x) {
    int value = program_.identity.find(x);
    if (value < 0) {
      value = static_cast<int>(program_.values.size());
      program_.values.push_back(x);
      program_.made_by.push_back(-1);
    }
    program_.identity.set(x, value);
    return value;
  }
  bool is_parameter(int value) const { return std::count(parameters_.begin(), parameters_.end(), value) > 0; }
  bool is_made(int value) const { return program_.made_by[static_cast<std::size_t>(value)] >= 0; }

  void choose_cotangent() {
    const NoGrad guard;
    d_.cotangent = options_.cotangent;
    if (d_.cotangent.defined()) {
      if (d_.cotangent.shape() != y_.shape())
        fail("derive: the cotangent is {}, the result {}; give one of the result's shape", d_.cotangent.shape(),
             y_.shape());
      return;
    }
    // Of its own: the same seed gives the inputs, and a cotangent equal to one of them proves little.
    Generator generator(Generator(~options_.seed).bits());
    d_.cotangent_drawn = y_.numel() != 1;
    d_.cotangent = d_.cotangent_drawn ? drawn(generator) : ones(y_.shape(), DType::f64);
  }

  // 0 where the result is not finite: differences mean nothing there.
  Tensor drawn(Generator& generator) const {
    Tensor c = randn(y_.shape(), DType::f64, generator);
    const std::vector<double> y = y_.to_vector<double>();
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!std::isfinite(y[i])) c.mutable_data<double>()[i] = 0;
    return c;
  }

  void name_values() {
    names_.assign(program_.values.size(), "");
    for (const auto& [name, x] : record_.names()) {
      const int value = program_.identity.find(x);
      if (value < 0) continue;
      std::string& mine = names_[static_cast<std::size_t>(value)];
      if (mine.empty()) mine = unique_.take(name);
      else if (mine != name) aliases_.emplace_back(name, value);
    }
    const auto name_if_none = [&](int value, const std::string& stem, bool numbered) {
      std::string& mine = names_[static_cast<std::size_t>(value)];
      if (mine.empty()) mine = numbered ? unique_.numbered(stem) : unique_.take(stem);
    };
    name_if_none(program_.result, "result", false);
    for (const int value : parameters_) name_if_none(value, "x", true);
    for (const auto& made : program_.ops) name_if_none(made.output, "t", true);
    naming_.value = [this](int value) { return names_[static_cast<std::size_t>(value)]; };
    naming_.gradient = [this](int value) { return "d_" + names_[static_cast<std::size_t>(value)]; };
    naming_.constant = [this](const Tensor& x) { return name_constant(x); };
  }

  std::string name_constant(const Tensor& x) {
    if (const int known = constants_.find(x); known >= 0) return d_.quantities[static_cast<std::size_t>(known)].name;
    constants_.set(x, static_cast<int>(d_.quantities.size()));
    d_.quantities.push_back(
        {.name = unique_.numbered("c"), .value = x, .gradient = {}, .role = Role::constant, .made_by = -1});
    return d_.quantities.back().name;
  }

  void list_quantities() {
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const int value = static_cast<int>(i);
      const bool used = is_made(value) || value == program_.result || is_parameter(value) || is_read(value);
      if (!used || names_[i].empty()) continue;
      quantity_of_[i] = static_cast<int>(d_.quantities.size());
      const Role role = is_parameter(value) && !is_made(value) ? Role::parameter
                        : value == program_.result             ? Role::result
                        : is_made(value)                       ? Role::intermediate
                                                               : Role::input;
      d_.quantities.push_back({.name = names_[i],
                               .value = program_.values[i].detach(),
                               .gradient = {},
                               .role = role,
                               .made_by = program_.made_by[i]});
    }
    for (const auto& [name, value] : aliases_)
      if (quantity(value) >= 0) d_.aliases.emplace_back(name, quantity(value));
    for (const int value : parameters_) d_.parameters.push_back(quantity(value));
    d_.result = quantity(program_.result);
  }
  bool is_read(int value) const {
    return std::any_of(program_.ops.begin(), program_.ops.end(), [&](const RecordedProgram::Made& made) {
      return std::count(made.inputs.begin(), made.inputs.end(), value) > 0;
    });
  }
  int quantity(int value) const { return quantity_of_[static_cast<std::size_t>(value)]; }
  const std::string& name(int value) const { return names_[static_cast<std::size_t>(value)]; }

  void forward() {
    for (std::size_t i = 0; i < program_.ops.size(); ++i) {
      const RecordedProgram::Made& made = program_.ops[i];
      ForwardStep step{.number = static_cast<int>(i) + 1,
                       .op = made.op,
                       .inputs = {},
                       .output = quantity(made.output),
                       .term = term_of(program_, static_cast<int>(i), naming_),
                       .line = {}};
      for (const int input : made.inputs) step.inputs.push_back(input < 0 ? -1 : quantity(input));
      step.line = name(made.output) + " = " + to_expression(*step.term);
      d_.forward.push_back(std::move(step));
    }
  }

  void backward() {
    const Trace trace = trace_backward(program_, y_, wrt_, d_.cotangent, naming_);
    for (std::size_t i = 0; i < trace.gradients.size(); ++i)
      if (quantity_of_[i] >= 0) d_.quantities[static_cast<std::size_t>(quantity_of_[i])].gradient = trace.gradients[i];
    add_seed();
    std::vector<int> paths(program_.values.size(), 0), seen(program_.values.size(), 0);
    const auto target = [&](const Contribution& c) {
      return program_.ops[static_cast<std::size_t>(c.op)].inputs[static_cast<std::size_t>(c.input)];
    };
    paths[static_cast<std::size_t>(program_.result)] = 0;
    for (const Contribution& c : trace.contributions) ++paths[static_cast<std::size_t>(target(c))];
    for (const Contribution& c : trace.contributions) {
      const auto value = static_cast<std::size_t>(target(c));
      add_rule(c, target(c), paths[value] > 1);
      if (++seen[value] == paths[value] && paths[value] > 1) add_total(target(c));
    }
    for (const int value : parameters_)
      if (paths[static_cast<std::size_t>(value)] == 0 && value != program_.result) add_zero(value);
  }

  BackwardStep& add(BackwardStep step) {
    step.number = static_cast<int>(d_.forward.size() + d_.backward.size()) + 1;
    step.line = step.name + " = " + to_expression(*step.term);
    d_.backward.push_back(std::move(step));
    return d_.backward.back();
  }
  static TermPtr named(const std::string& name, const Tensor& value) {
    return std::make_shared<const Term>(Term{name, nullptr, {}, value});
  }

  void add_seed() {
    const bool is_one = y_.numel() == 1 && d_.cotangent.item() == 1 && !options_.cotangent.defined();
    add({.kind = BackwardStep::Kind::seed,
         .name = naming_.gradient(program_.result),
         .quantity = d_.result,
         .parts = {},
         .rule = {},
         .term = named(is_one ? "" : "cotangent", d_.cotangent),
         .line = {},
         .value = d_.cotangent,
         .verdict = {}});
  }

  void add_rule(const Contribution& c, int value, bool is_part) {
    const RecordedProgram::Made& made = program_.ops[static_cast<std::size_t>(c.op)];
    const std::string whole = naming_.gradient(value);
    add({.kind = is_part ? BackwardStep::Kind::part : BackwardStep::Kind::rule,
         .name = is_part ? unique_.take(whole + "_via_" + name(made.output)) : whole,
         .quantity = quantity(value),
         .through = c.op,
         .input = c.input,
         .parts = {},
         .rule = rule_line(made.op->info(), c.input),
         .term = c.term,
         .line = {},
         .value = c.dx,
         .verdict = {}});
  }

  // The sum over all paths, in the order in which the engine adds them.
  void add_total(int value) {
    std::vector<int> parts;
    for (std::size_t i = 0; i < d_.backward.size(); ++i)
      if (d_.backward[i].quantity == quantity(value) && d_.backward[i].kind == BackwardStep::Kind::part)
        parts.push_back(static_cast<int>(i));
    std::vector<TermPtr> terms;
    for (const int i : parts) {
      const BackwardStep& part = d_.backward[static_cast<std::size_t>(i)];
      terms.push_back(named(part.name, part.value));
    }
    add({.kind = BackwardStep::Kind::total,
         .name = naming_.gradient(value),
         .quantity = quantity(value),
         .parts = parts,
         .rule = {},
         .term = sum_of(terms),
         .line = {},
         .value = d_.quantities[static_cast<std::size_t>(quantity(value))].gradient,
         .verdict = {}});
  }

  // A parameter that the result does not depend on.
  void add_zero(int value) {
    const Tensor zero = zeros(program_.values[static_cast<std::size_t>(value)].shape(), DType::f64);
    add({.kind = BackwardStep::Kind::total,
         .name = naming_.gradient(value),
         .quantity = quantity(value),
         .parts = {},
         .rule = {},
         .term = named("", zero),
         .line = {},
         .value = zero,
         .verdict = {}});
  }

  void verify() {
    const Verifier verifier(program_, d_.cotangent, options_.seed + 1, d_.backward.size());
    std::vector<int> value_of(d_.quantities.size(), -1);
    for (std::size_t i = 0; i < quantity_of_.size(); ++i)
      if (quantity_of_[i] >= 0) value_of[static_cast<std::size_t>(quantity_of_[i])] = static_cast<int>(i);
    const auto verdict_on = [&](const BackwardStep& step) {
      return step.kind == BackwardStep::Kind::part
                 ? verifier.one_path(step.through, step.input, step.value)
                 : verifier.all_paths(value_of[static_cast<std::size_t>(step.quantity)], step.value);
    };
    std::vector<std::exception_ptr> failures(d_.backward.size());
    parallel_for(static_cast<std::int64_t>(d_.backward.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) try {
          d_.backward[i].verdict = verdict_on(d_.backward[i]);
        } catch (...) { failures[i] = std::current_exception(); }
    });
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

  const Record& record_;
  const Tensor y_;
  const std::vector<Tensor>& wrt_;
  const DeriveOptions& options_;
  RecordedProgram program_;
  std::vector<int> parameters_, quantity_of_;  // of values
  std::vector<std::string> names_;             // of values
  std::vector<std::pair<std::string, int>> aliases_;
  UniqueNames unique_;
  Naming naming_;
  Identity constants_;
  Derivation d_;
};

}  // namespace

Derivation derive(const Tensor& y, const std::vector<Tensor>& wrt, const DeriveOptions& options) {
  const Record* const record = Record::current();
  if (!record)
    fail(
        "derive: no study::Record lives, so the steps were not kept; make one before the forward pass and derive while "
        "it lives");
  if (!y.defined() || y.dtype() != DType::f64)
    fail("derive: the result is {}; compute it in f64", y.defined() ? name_of(y.dtype()) : "undefined");
  const Record& kept = *record;
  Mode outside = mode();
  outside.observer = nullptr;
  const ModeGuard guard(outside);
  return Deriver(kept, y, wrt, options).run();
}

}  // namespace gradus::study
