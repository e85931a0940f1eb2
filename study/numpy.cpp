#include "study/numpy.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "study/numpy_helpers.hpp"
#include "study/printer.hpp"

namespace gradus::study {
namespace {

constexpr std::string_view reserved[] = {
    "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",   "del",     "elif",
    "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",    "is",      "lambda",
    "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with",  "yield",   "np",
    "math",     "sys",    "arrays",  "range", "float", "print",  "tuple", "list",     "slice", "compare", "worst"};

std::string python_number(double v) {
  if (std::isnan(v)) return "np.nan";
  if (std::isinf(v)) return v > 0 ? "np.inf" : "-np.inf";
  return fmt::format("{}", v);
}

const char* python_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32: return "np.float32";
    case DType::f64: return "float";
    case DType::i64: return "int";
    case DType::b8: return "bool";
  }
  return "";
}

std::string python_value(const Value& value, std::string_view param) {
  if (const auto* const d = value.get_if<double>()) return python_number(*d);
  std::string text = to_string(value);
  if (param == "dtype") return python_dtype(dtype_from_name(*value.get_if<std::string>()));
  if (param == "axis" && value.get_if<Value::List>()) {  // NumPy takes several axes as a tuple
    text.front() = '(';
    text.back() = ')';
    if (value.get_if<Value::List>()->size() == 1) text.insert(text.size() - 1, ",");
  }
  return text;
}

class NumpyPrinter final : public Printer {
 public:
  explicit NumpyPrinter(std::set<std::string>& helpers) : helpers_(helpers) {}

 private:
  std::string name(const std::string& name) override { return numpy_name(name); }

  Spelled number(double value) override {
    Spelled s = spell_number(value);
    if (!std::isfinite(value)) return {python_number(value), value < 0 ? Binding::sign : Binding::atom};
    if (const auto root = s.text.find("sqrt"); root != std::string::npos) s.text.insert(root, "np.");
    return s;
  }

  Spelled constant(const Tensor& x) override {
    if (is_floating(x.dtype()))
      if (const auto value = uniform_value(x)) return {filled(to_string(Value(x.shape())), *value)};
    const auto entry = [&](double v) {
      return x.dtype() == DType::b8 ? std::string(v != 0 ? "True" : "False") : python_number(v);
    };
    return {fmt::format("np.array({}, dtype={})", nested_list(x, entry), python_dtype(x.dtype()))};
  }

  std::string filled(const std::string& shape, double value) {
    if (value == 0) return fmt::format("np.zeros({})", shape);
    if (value == 1) return fmt::format("np.ones({})", shape);
    return fmt::format("np.full({}, {}, dtype=float)", shape, number(value).text);
  }

  Spelled transposed(const Spelled& x, int rank) override {
    return rank == 2 ? Spelled{x.at_least(Binding::atom) + ".T"} : Spelled{"np.swapaxes(" + x.text + ", -1, -2)"};
  }

  const char* where() const override { return "np.where"; }

  // The op's words with its arguments in place of {name}.
  Spelled call(const Term& term) override {
    const std::vector<Argument> arguments = arguments_of(*term.op);
    const std::string_view words = term.op->info().numpy;
    std::string text;
    for (std::size_t i = 0; i < words.size();) {
      const std::size_t end = words[i] == '{' ? words.find('}', i) : std::string_view::npos;
      if (end == std::string_view::npos) {
        text += words[i++];
        continue;
      }
      text += argument(words.substr(i + 1, end - i - 1), arguments, term);
      i = end + 1;
    }
    const std::string function(words.substr(0, words.find('(')));
    if (is_numpy_helper(function)) helpers_.insert(function);
    const bool one_call = function.find_first_of(" {(*+-/[") == std::string::npos && text.back() == ')';
    return {text, one_call ? Binding::atom : Binding::comparison};
  }

  std::string argument(std::string_view name, const std::vector<Argument>& arguments, const Term& term) {
    const auto it =
        std::find_if(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.param->name == name; });
    if (it == arguments.end()) fail("{}: its NumPy words name {}, which is no parameter", term.op->info().name, name);
    if (it->inputs.empty() && !it->param->list) return python_value(it->value, name);
    std::string text;
    for (const int i : it->inputs) {
      const TermPtr& input = term.inputs[static_cast<std::size_t>(i)];
      if (it->param->list) text += (text.empty() ? "" : ", ") + spell(*input).text;
      else text = input ? spell(*input).at_least(Binding::atom) : "None";
    }
    return it->param->list ? "[" + text + "]" : text;
  }

  std::set<std::string>& helpers_;
};

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string comment_of(const BackwardStep& step) {
  switch (step.kind) {
    case BackwardStep::Kind::seed: return "";
    case BackwardStep::Kind::total:
      return step.parts.empty() ? "the result does not depend on it" : "the sum over all paths";
    default: return step.rule;
  }
}

}  // namespace

std::string to_numpy(const Term& term, std::set<std::string>& helpers) {
  return NumpyPrinter(helpers).spell(term).text;
}

std::string numpy_name(const std::string& name) {
  const bool hides = std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
  return hides || is_numpy_helper(name) ? name + "_" : name;
}

NamedTensors numpy_arrays(const Derivation& d) {
  NamedTensors arrays;
  for (const Quantity& q : d.quantities)
    if (q.made_by < 0) arrays.emplace_back(q.name, q.value);
  arrays.emplace_back("cotangent", d.cotangent);
  for (const BackwardStep& step : d.backward) arrays.emplace_back(step.name, step.value);
  return arrays;
}

std::string to_numpy_program(const Derivation& d, const std::string& title, const std::string& arrays) {
  std::set<std::string> helpers;
  std::string given, forward, backward, compared;
  for (const Quantity& q : d.quantities)
    if (q.made_by < 0) given += fmt::format("{} = arrays[\"{}\"]\n", numpy_name(q.name), q.name);
  for (const ForwardStep& step : d.forward) {
    const Quantity& q = d.quantities[static_cast<std::size_t>(step.output)];
    const std::string line = numpy_name(q.name) + " = " + to_numpy(*step.term, helpers);
    forward += fmt::format("{}  # {}\n", padded(line, 60), q.value.shape());
  }
  for (const BackwardStep& step : d.backward) {
    if (const std::string rule = comment_of(step); !rule.empty()) backward += fmt::format("# {}\n", rule);
    backward += fmt::format("{} = {}\n", numpy_name(step.name), to_numpy(*step.term, helpers));
    compared += fmt::format("compare(\"{}\", {})\n", step.name, numpy_name(step.name));
  }
  std::string about;
  for (const char c : title) about += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return fmt::format(R"(# {}
# The forward and the backward pass, a line for each step, written by gradus derive.
# Run: python3 THIS_FILE [ARRAYS.npz]
import math
import pathlib
import sys

import numpy as np
{}

arrays = np.load(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "{}")
np.set_printoptions(precision=4, suppress=True)

# ---- given
{}cotangent = arrays["cotangent"]

# ---- forward
{}
# ---- backward: d_x is the gradient of sum(result * cotangent) with respect to x
{}
# ---- compared with the gradients of Gradus
worst = 0.0


def compare(name, mine):
    global worst
    theirs = arrays[name]
    if np.shape(mine) != np.shape(theirs):
        sys.exit(f"{{name}}: shape {{np.shape(mine)}} here, {{np.shape(theirs)}} in Gradus")
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    gap = float(np.max(np.where(same, 0, np.abs(np.where(same, 0, mine) - np.where(same, 0, theirs))), initial=0.0))
    worst = max(worst, gap / max(1.0, float(np.max(np.abs(theirs), initial=0.0))))
    print(f"{{name}} = {{mine}}\n  largest difference to Gradus: {{gap:.1e}}")


{}
print("all agree" if worst <= 1e-9 else "they do not agree")
sys.exit(0 if worst <= 1e-9 else 1)
)",
                     about, numpy_helpers(helpers), arrays, given, forward, backward, compared);
}

}  // namespace gradus::study
