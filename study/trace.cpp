#include "study/trace.hpp"

#include "core/grad.hpp"
#include "core/node.hpp"
#include "study/spelling.hpp"

namespace gradus::study {
namespace {

TermPtr leaf(std::string name, const Tensor& value) {
  return std::make_shared<const Term>(Term{std::move(name), nullptr, {}, value.detach()});
}

TermPtr constant(const Tensor& x, const Naming& naming) {
  const Tensor plain = x.detach();
  return leaf(is_literal(plain) ? "" : naming.constant(plain), plain);
}

// Takes down the ops of the rule that runs, and makes terms of its contributions.
class Tracer final : public Observer {
 public:
  Tracer(const RecordedProgram& program, const Naming& naming, Trace& trace)
      : program_(program), naming_(naming), trace_(trace) {}

  void on_rule(const Node& node, const Tensor& g) override {
    const int value = program_.identity.find(node);
    if (value < 0) return;  // a pass inside a rule
    value_ = value;
    trace_.gradients[static_cast<std::size_t>(value)] = g.detach();
    names_ = {};
    terms_.clear();
    keep(g, leaf(naming_.gradient(value), g));
  }

  void on_op(const OpEvent& event) override {
    Application made{&event.type, event.type.copy(event.op), {}, event.output.detach()};
    std::vector<TermPtr> inputs;
    for (const Tensor& x : event.inputs) {
      inputs.push_back(x.defined() ? term_of_tensor(x) : nullptr);
      made.inputs.push_back(x.defined() ? x.detach() : Tensor{});
    }
    auto term = std::make_shared<Term>();
    term->op = std::make_shared<const Application>(std::move(made));
    term->inputs = std::move(inputs);
    term->value = event.output.detach();
    held_.push_back(event.output.detach());
    keep(event.output, std::move(term));
  }

  void on_contribution(const Node& node, int input, const Tensor& dx) override {
    const int value = program_.identity.find(node);
    if (value < 0 || value != value_) return;
    const int op = program_.made_by[static_cast<std::size_t>(value)];
    trace_.contributions.push_back({op, input, term_of_tensor(dx), dx.detach()});
  }

 private:
  void keep(const Tensor& x, TermPtr term) {
    names_.set(x, static_cast<int>(terms_.size()));
    terms_.push_back(std::move(term));
  }

  // What this rule computed, its cotangent, a value of the forward pass, or a constant.
  TermPtr term_of_tensor(const Tensor& x) {
    if (const int local = names_.find(x); local >= 0) return terms_[static_cast<std::size_t>(local)];
    if (const int value = program_.identity.find(x); value >= 0)
      if (const std::string name = naming_.value(value); !name.empty()) return leaf(name, x);
    return constant(x, naming_);
  }

  const RecordedProgram& program_;
  const Naming& naming_;
  Trace& trace_;
  int value_ = -1;
  Identity names_;
  std::vector<TermPtr> terms_;
  std::vector<Tensor> held_;  // alive until the end, so that no storage is used again under another name
};

}  // namespace

TermPtr term_of(const RecordedProgram& program, int op, const Naming& naming) {
  const RecordedProgram::Made& made = program.ops[static_cast<std::size_t>(op)];
  auto term = std::make_shared<Term>();
  term->op = made.op;
  term->value = made.op->output.detach();
  for (const int input : made.inputs) {
    if (input < 0) {
      term->inputs.push_back(nullptr);
      continue;
    }
    const Tensor& x = program.values[static_cast<std::size_t>(input)];
    std::string name = naming.value(input);
    term->inputs.push_back(name.empty() ? constant(x, naming) : leaf(std::move(name), x));
  }
  return term;
}

TermPtr sum_of(const std::vector<TermPtr>& terms) {
  const NoGrad guard;
  const Record record;
  TermPtr sum = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    Tensor value = sum->value + terms[i]->value;
    auto op = std::make_shared<const Application>(record.applications().back());
    sum = std::make_shared<const Term>(Term{"", std::move(op), {sum, terms[i]}, std::move(value)});
  }
  return sum;
}

Trace trace_backward(const RecordedProgram& program, const Tensor& y, const std::vector<Tensor>& wrt,
                     const Tensor& cotangent, const Naming& naming) {
  Trace trace;
  trace.gradients.resize(program.values.size());
  std::vector<Tensor> gradients;
  {
    Tracer tracer(program, naming, trace);
    Mode traced;
    traced.reference = true;
    traced.observer = &tracer;
    const ModeGuard guard(traced);
    gradients = grad(y, wrt, cotangent, {.create_graph = true});
  }
  for (std::size_t i = 0; i < wrt.size(); ++i)
    if (const int value = program.identity.find(wrt[i]); value >= 0)
      trace.gradients[static_cast<std::size_t>(value)] = gradients[i].detach();
  trace.gradients[static_cast<std::size_t>(program.result)] = cotangent.detach();
  return trace;
}

}  // namespace gradus::study
