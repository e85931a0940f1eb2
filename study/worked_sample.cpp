#include "study/worked_sample.hpp"

#include "core/derivatives.hpp"
#include "core/differences.hpp"
#include "core/mode.hpp"
#include "ops/ops.hpp"
#include "study/derivation.hpp"
#include "study/spelling.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::study {
namespace {

/// The thread's generator goes on afterwards as if nothing had been drawn.
class KeptGenerator {
 public:
  KeptGenerator() : kept_(default_generator()) { seed(7); }
  ~KeptGenerator() { default_generator() = kept_; }
  KeptGenerator(const KeptGenerator&) = delete;
  KeptGenerator& operator=(const KeptGenerator&) = delete;

 private:
  Generator kept_;
};

/// To what extents are cut: `width` is what the last extent of the first tensor becomes, `length` what others become.
/// Equal extents stay equal. Zeros: nothing is cut.
struct Cut {
  std::int64_t width = 0, length = 0;
};

/// The last extent of the first tensor that has one.
std::int64_t width_of(const Value& value) {
  if (const Tensor* const t = value.get_if<Tensor>()) return t->defined() && t->rank() > 0 ? t->size(-1) : 0;
  if (const Value::List* const list = value.get_if<Value::List>())
    for (const Value& v : *list)
      if (const std::int64_t width = width_of(v)) return width;
  return 0;
}

Value cut(const Value& value, std::int64_t width, const Cut& to) {
  if (const Tensor* const t = value.get_if<Tensor>(); t && t->defined()) {
    Tensor x = *t;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const std::int64_t most = x.size(axis) == width ? to.width : to.length;
      if (x.size(axis) > most) x = slice(x, axis, 0, most, 1);
    }
    return contiguous(x);
  }
  if (const Value::List* const list = value.get_if<Value::List>()) {
    Value::List all;
    for (const Value& v : *list) all.push_back(cut(v, width, to));
    return Value(std::move(all));
  }
  return value;
}

/// Calls f(name, tensor) with every defined tensor among the arguments, also inside lists.
template <class F>
void for_tensors(const OpEntry& op, std::vector<Value>& arguments, F&& f) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name(op.params[i].name);
    if (Tensor* const t = arguments[i].get_if<Tensor>(); t && t->defined()) f(name, *t);
    Value::List* const list = arguments[i].get_if<Value::List>();
    for (std::size_t k = 0; list && k < list->size(); ++k)
      if (Tensor* const t = (*list)[k].get_if<Tensor>()) f(fmt::format("{}_{}", name, k + 1), *t);
  }
}

/// An op with arguments, as a function of its tensors.
struct Call {
  const OpEntry* op = nullptr;
  std::vector<Value> arguments;
  double tolerance = 0;
  std::vector<std::string> names = {};
  std::vector<Tensor> inputs = {};
  Tensor output = {};

  /// The same call on other tensors; random ops draw the same numbers each time.
  Tensor run(const std::vector<Tensor>& tensors) const {
    std::vector<Value> values = arguments;
    std::size_t next = 0;
    for_tensors(*op, values, [&](const std::string&, Tensor& t) { t = tensors[next++]; });
    const KeptGenerator kept;
    return op->call(std::move(values));
  }
};

/// The sample cut; nothing when that is an error.
std::optional<Call> call_of(const OpEntry& op, const Sample& sample, const Cut& to) {
  const NoGrad no_grad;
  try {
    Call call{.op = &op, .arguments = sample.arguments, .tolerance = sample.tolerance};
    const std::int64_t width = width_of(Value(sample.arguments));
    if (to.width > 0)
      for (Value& v : call.arguments) v = cut(v, width, to);
    for_tensors(op, call.arguments, [&](const std::string& name, const Tensor& t) {
      call.names.push_back(name);
      call.inputs.push_back(t);
    });
    call.output = call.run(call.inputs);
    return call;
  } catch (const Error&) { return {}; }
}

bool is_finite(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Derivatives to show, and whether the application can be shown at all.
std::int64_t derivatives(const Call& a) {
  std::int64_t count = 0;
  for (const Tensor& x : a.inputs)
    if (x.defined() && x.dtype() == DType::f64) count += x.numel() * a.output.numel();
  return count;
}

/// Whether all is finite, and all that is differentiated f64.
bool can_be_shown(const Call& a) {
  constexpr std::int64_t most = 2500;
  if (a.output.numel() == 0 || a.output.numel() > most || derivatives(a) > most) return false;
  for (const Tensor& x : a.inputs)
    if (x.defined() && (x.dtype() == DType::f32 || !is_finite(x))) return false;
  return is_finite(a.output);
}

/// Whether it has derivatives that differences in f64 can confirm.
bool can_be_compared(const Call& a) { return a.output.dtype() == DType::f64 && derivatives(a) > 0; }

bool is_small(const Call& a) {
  constexpr std::int64_t most = 6;
  std::int64_t entries = 0;
  for (const Tensor& x : a.inputs) {
    if (!x.defined()) continue;
    entries += x.numel();
    if (x.numel() > most) return false;
  }
  return a.output.numel() <= most && entries + a.output.numel() >= 3;
}

std::string text_of(const Value& value, const std::string& name, bool rest = false) {
  if (value.get_if<Tensor>()) return name;
  if (const double* const number = value.get_if<double>()) return spell_number(*number).text;
  const Value::List* const list = value.get_if<Value::List>();
  if (!list) return to_string(value);
  std::string text;
  for (std::size_t i = 0; i < list->size(); ++i)
    text += (i > 0 ? ", " : "") + text_of((*list)[i], fmt::format("{}_{}", name, i + 1));
  return rest ? text : "[" + text + "]";
}

/// `attention(q, k, v, causal=True)`: what is at its default is left out.
std::string text_of(const Call& call) {
  const OpEntry& op = *call.op;
  const std::vector<Value>& arguments = call.arguments;
  std::string text;
  bool gap = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Param& p = op.params[i];
    if (!p.required && to_string(arguments[i]) == to_string(p.fallback)) {
      gap = true;
      continue;
    }
    const bool by_name = gap || !(p.required || arguments[i].get_if<Tensor>());
    text += (text.empty() ? "" : ", ") + (by_name ? std::string(p.name) + "=" : "") +
            text_of(arguments[i], std::string(p.name), p.list && i + 1 == op.params.size());
  }
  return fmt::format("{}({})", op.name(), text);
}

Tensor matrix(const std::vector<double>& values, std::int64_t rows, std::int64_t columns) {
  return tensor(values, {rows, columns}, DType::f64);
}

/// The op as a function of one of its inputs.
std::function<Tensor(const Tensor&)> along(const Call& a, std::size_t input) {
  return [&a, input](const Tensor& x) {
    std::vector<Tensor> inputs = a.inputs;
    inputs[input] = x;
    return a.run(inputs);
  };
}

Tensor rule_jacobian(const Call& a, std::size_t input) {
  const std::vector<double> rule = jacobian(along(a, input), a.inputs[input]).to_vector<double>();
  return matrix(rule, a.output.numel(), a.inputs[input].numel());
}

/// Whether every derivative has an entry that 4 decimals show.
bool is_telling(const Call& a) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (!a.inputs[i].defined() || a.inputs[i].dtype() != DType::f64) continue;
    const std::vector<double> entries = rule_jacobian(a, i).to_vector<double>();
    if (std::none_of(entries.begin(), entries.end(), [](double v) { return std::abs(v) >= 0.01; })) return false;
  }
  return true;
}

/// The first small sample that tells something, cut as little as possible; else the first small one; else the smallest.
std::optional<Call> chosen(const OpEntry& op) {
  Samples samples;
  op.samples(samples);
  std::optional<Call> small, smallest;
  const auto size = [](const Call& x) { return derivatives(x) + x.output.numel(); };
  for (const Sample& sample : samples.good()) {
    if (sample.kink) continue;
    for (const Cut& to : {Cut{}, Cut{3, 2}, Cut{2, 2}}) {
      const std::optional<Call> a = call_of(op, sample, to);
      if (!a || !can_be_shown(*a)) continue;
      const bool compared = op.differentiable && can_be_compared(*a);
      if (is_small(*a) && (compared ? is_telling(*a) : !op.differentiable)) return a;
      if (is_small(*a) && (!small || (compared && !can_be_compared(*small)))) small = a;
      if (a->output.numel() > 1 && compared && (!smallest || size(*a) < size(*smallest))) smallest = a;
    }
  }
  return small ? small : smallest;
}

WorkedSample::Jacobian jacobian_of(const Call& a, std::size_t input, double tolerance) {
  const auto f = along(a, input);
  const Tensor& x = a.inputs[input];
  const std::int64_t rows = a.output.numel(), columns = x.numel();
  WorkedSample::Jacobian found{.input = {}, .by_rule = rule_jacobian(a, input), .by_differences = {}, .ok = true};
  const std::vector<double> rule = found.by_rule.to_vector<double>();
  std::vector<double> numeric;
  for (std::int64_t i = 0; i < rows; ++i) {
    Numbers weights(static_cast<std::size_t>(rows), 0);
    weights[static_cast<std::size_t>(i)] = 1;
    const Numbers row(rule.begin() + i * columns, rule.begin() + (i + 1) * columns);
    const Comparison c = compare_with_differences([&](const Tensor& moved) { return f(moved).to_vector<double>(); },
                                                  weights, x, row, {.tolerance = tolerance, .every_entry = columns});
    numeric.insert(numeric.end(), c.numeric.begin(), c.numeric.end());
    found.difference = std::max(found.difference, c.difference);
    found.ok = found.ok && c.ok;
  }
  found.by_differences = matrix(numeric, rows, columns);
  return found;
}

/// The steps of the composition that defines a fused op, on the same inputs.
std::vector<std::string> composition_of(const Call& a) {
  Record record;
  std::vector<Tensor> inputs, leaves;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    Tensor x = a.inputs[i].detach();
    if (x.dtype() == DType::f64) leaves.push_back(x.requires_grad(true));
    record.name(a.names[i], x);
    inputs.push_back(x);
  }
  const Tensor y = a.run(inputs);
  record.name("y", y);
  std::vector<std::string> lines;
  for (const ForwardStep& step : derive(y, leaves, {.verify = false}).forward) lines.push_back(step.line);
  return lines;
}

}  // namespace

std::optional<WorkedSample> worked_sample(const OpEntry& op) {
  Mode plain = mode();
  plain.grad = true;
  plain.reference = plain.anomaly = false;
  plain.observer = nullptr;
  const ModeGuard guard(plain);
  const std::optional<Call> call = chosen(op);
  if (!call) return {};
  WorkedSample sample{.call = text_of(*call), .inputs = {}, .output = call->output, .jacobians = {}, .composition = {}};
  for (std::size_t i = 0; i < call->inputs.size(); ++i) {
    sample.inputs.emplace_back(call->names[i], call->inputs[i]);
    if (!op.differentiable || !can_be_compared(*call) || call->inputs[i].dtype() != DType::f64) continue;
    sample.jacobians.push_back(jacobian_of(*call, i, call->tolerance));
    sample.jacobians.back().input = call->names[i];
  }
  if (op.has_reference) sample.composition = composition_of(*call);
  return sample;
}

}  // namespace gradus::study
