// Terms in the expression language.
#include "study/spelling.hpp"

#include <fmt/format.h>

namespace gradus::study {
namespace {

std::string literal_entry(const Tensor& x, double v) {
  if (x.dtype() == DType::b8) return v != 0 ? "True" : "False";
  return spell_number(v).text;
}

std::string shape_text(const Shape& shape) { return to_string(Value(shape)); }

std::string nested(const Tensor& x, const std::vector<double>& values, int axis, std::size_t& at) {
  if (axis == x.rank()) return literal_entry(x, values[at++]);
  std::string text = "[";
  for (std::int64_t i = 0; i < x.shape()[axis]; ++i) text += (i ? ", " : "") + nested(x, values, axis + 1, at);
  return text + "]";
}

// A constant so that the language reads it as the same tensor.
Spelled literal(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  if (x.rank() == 0 && x.dtype() != DType::b8) return spell_number(values[0]);
  if (x.rank() == 0) return {literal_entry(x, values[0])};
  if (is_floating(x.dtype())) {
    bool equal = !values.empty();
    for (const double v : values) equal = equal && v == values[0];
    if (values.empty()) return {fmt::format("zeros({})", shape_text(x.shape()))};
    if (equal && values[0] == 0) return {fmt::format("zeros({})", shape_text(x.shape()))};
    if (equal && values[0] == 1) return {fmt::format("ones({})", shape_text(x.shape()))};
    if (equal) return {fmt::format("full({}, {})", shape_text(x.shape()), spell_number(values[0]).text)};
  }
  std::size_t at = 0;
  return {nested(x, values, 0, at)};
}

Spelled spell(const Term& term);

std::string argument_text(const Argument& a, const Term& term) {
  const auto input = [&](int i) {
    const TermPtr& t = term.inputs[static_cast<std::size_t>(i)];
    return t ? spell(*t).text : std::string("None");
  };
  if (a.inputs.empty() && !a.param->list) return to_string(a.value);
  if (!a.param->list) return input(a.inputs[0]);
  std::string text;
  for (const int i : a.inputs) text += (text.empty() ? "" : ", ") + input(i);
  return text;
}

// name(x, required, defaulted=value)
std::string call(const Term& term) {
  const std::vector<Argument> arguments = arguments_of(*term.op);
  std::string text = std::string(term.op->info().name) + "(";
  bool first = true, keywords = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (a.is_default) {
      keywords = true;
      continue;
    }
    std::string value = argument_text(a, term);
    if (a.param->list && i + 1 < arguments.size()) value = "[" + value + "]";  // only as the last one it takes the rest
    if (keywords || !a.param->required) value = fmt::format("{}={}", a.param->name, value), keywords = true;
    text += (first ? "" : ", ") + value;
    first = false;
  }
  return text + ")";
}

Spelled spell(const Term& term) {
  if (!term.name.empty()) return {term.name};
  if (!term.op) return literal(term.value);
  const std::string_view op = term.op->info().name;
  const auto first = [&] { return spell(*term.inputs[0]); };
  if (op == "alias") return first();
  if (is_matrix_transpose(*term.op)) return {first().at_least(Binding::atom) + ".T"};
  if (const auto index = spell_index(*term.op)) return {first().at_least(Binding::atom) + *index};
  std::vector<Spelled> operands;
  for (const TermPtr& t : term.inputs) operands.push_back(t ? spell(*t) : Spelled{"None"});
  if (const auto spelled = spell_operator(op, operands)) return *spelled;
  return {call(term)};
}

}  // namespace

std::string to_expression(const Term& term) { return spell(term).text; }

}  // namespace gradus::study
