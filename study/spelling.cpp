#include "study/spelling.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradus::study {
namespace {

struct Operator {
  std::string_view op, symbol;
  Binding binding;
};
constexpr Operator operators[] = {
    {"add", "+", Binding::addition},   {"sub", "-", Binding::addition},   {"mul", "*", Binding::product},
    {"div", "/", Binding::product},    {"matmul", "@", Binding::product}, {"local_product", "*", Binding::product},
    {"eq", "==", Binding::comparison}, {"ne", "!=", Binding::comparison}, {"lt", "<", Binding::comparison},
    {"le", "<=", Binding::comparison}, {"gt", ">", Binding::comparison},  {"ge", ">=", Binding::comparison}};

Binding tighter(Binding b) { return b == Binding::comparison ? Binding::addition : Binding(static_cast<int>(b) + 1); }

// A last axis is counted from the end: that is how people write it.
Value friendly_axis(const Value& value, const Param& param, int rank) {
  const auto* const axis = value.get_if<std::int64_t>();
  const bool is_last = axis && *axis == rank - 1;
  const bool is_usual = rank > 1 || (!param.required && to_string(param.fallback) == "-1");
  return is_last && is_usual ? Value(std::int64_t{-1}) : value;
}

constexpr std::int64_t longest_literal = 64;

bool all_equal(const Tensor& x) {
  const auto values = x.to_vector<double>();
  for (const double v : values)
    if (v != values[0] && !(std::isnan(v) && std::isnan(values[0]))) return false;
  return true;
}

}  // namespace

std::optional<Spelled> spell_operator(std::string_view op, const std::vector<Spelled>& operands) {
  if (op == "neg") return Spelled{"-" + operands[0].at_least(Binding::sign), Binding::sign};
  if (op == "pow")
    return Spelled{operands[0].at_least(Binding::atom) + " ** " + operands[1].at_least(Binding::sign), Binding::power};
  for (const Operator& o : operators)
    if (o.op == op)
      return Spelled{
          fmt::format("{} {} {}", operands[0].at_least(o.binding), o.symbol, operands[1].at_least(tighter(o.binding))),
          o.binding};
  return {};
}

std::vector<Argument> arguments_of(const Application& op) {
  const OpEntry* const entry = find_op(op.info().name);
  if (!entry) fail("{}: this op has no registry entry, so it cannot be written as a call", op.info().name);
  const std::vector<Value> attributes = op.attributes();
  std::vector<Argument> arguments;
  std::size_t attribute = 0;
  int input = 0;
  const int lists = static_cast<int>(op.inputs.size());
  for (const Param& p : entry->params) {
    Argument a{.param = &p, .inputs = {}, .value = {}, .is_default = false};
    if (p.list) {
      while (input < lists) a.inputs.push_back(input++);
    } else if ((p.tensor || p.number) && input < lists) {
      a.is_default = !op.inputs[static_cast<std::size_t>(input)].defined();
      a.inputs.push_back(input++);
    } else if (attribute < attributes.size()) {
      a.value = attributes[attribute++];
      const bool is_new = std::string_view(op.info().name) == "stack";  // its axis is one of the output
      if (p.name == "axis" && lists > 0)
        a.value = friendly_axis(a.value, p, (is_new ? op.output : op.inputs[0]).rank());
      a.is_default = !p.required && to_string(a.value) == to_string(p.fallback);
    } else {
      a.is_default = true;
    }
    arguments.push_back(std::move(a));
  }
  return arguments;
}

Spelled spell_number(double value) {
  if (std::isnan(value)) return {"(inf - inf)"};
  if (std::isinf(value)) return value > 0 ? Spelled{"inf"} : Spelled{"-inf", Binding::sign};
  if (std::signbit(value)) return {"-" + spell_number(-value).text, Binding::sign};
  const auto root_of = [](double v) {
    const double square = std::round(v * v);
    const bool is_root = square > 1 && square < 1e6 && std::sqrt(square) == v && v != std::round(v);
    return is_root ? square : 0;
  };
  if (value != std::round(value)) {
    if (const double n = root_of(value)) return {fmt::format("sqrt({})", n)};
    if (const double n = root_of(1 / value); n && 1 / std::sqrt(n) == value)
      return {fmt::format("1 / sqrt({})", n), Binding::product};
  }
  return {fmt::format("{}", value)};
}

std::optional<std::string> spell_index(const Application& op) {
  const std::string_view name = op.info().name;
  if (name != "select" && name != "slice") return {};
  const std::vector<Value> a = op.attributes();
  const auto at = [&](std::size_t i) { return *a[i].get_if<std::int64_t>(); };
  std::string text = "[";
  for (std::int64_t i = 0; i < at(0); ++i) text += ":, ";
  if (name == "select") return text + fmt::format("{}]", at(1));
  const std::int64_t n = op.inputs[0].shape()[static_cast<int>(at(0))];
  if (at(1) != 0) text += fmt::format("{}", at(1));
  text += ":";
  if (at(2) != n) text += fmt::format("{}", at(2));
  if (at(3) != 1) text += fmt::format(":{}", at(3));
  return text + "]";
}

bool is_matrix_transpose(const Application& op) {
  const int rank = op.output.rank();
  if (rank < 2) return false;
  const std::vector<Value> a = op.attributes();
  if (std::string_view(op.info().name) == "transpose") {
    const auto first = *a[0].get_if<std::int64_t>(), second = *a[1].get_if<std::int64_t>();
    return std::min(first, second) == rank - 2 && std::max(first, second) == rank - 1;
  }
  if (std::string_view(op.info().name) != "permute") return false;
  const auto* const axes = a[0].get_if<Value::List>();
  for (int i = 0; i < rank; ++i) {
    const std::int64_t expected = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (*(*axes)[static_cast<std::size_t>(i)].get_if<std::int64_t>() != expected) return false;
  }
  return true;
}

bool is_literal(const Tensor& constant) {
  if (constant.numel() == 0 && !is_floating(constant.dtype())) return false;  // its shape would be lost
  return constant.numel() <= longest_literal || (is_floating(constant.dtype()) && all_equal(constant));
}

}  // namespace gradus::study
