#include "study/printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradus::study {
namespace {

std::string nested(const Tensor& x, const std::vector<double>& values, const std::function<std::string(double)>& entry,
                   int axis, std::size_t& at) {
  if (axis == x.rank()) return entry(values[at++]);
  std::string text = "[";
  for (std::int64_t i = 0; i < x.shape()[axis]; ++i) text += (i ? ", " : "") + nested(x, values, entry, axis + 1, at);
  return text + "]";
}

}  // namespace

Spelled Printer::spell(const Term& term) {
  if (!term.name.empty()) return {name(term.name)};
  if (!term.op)
    return term.value.rank() == 0 && term.value.dtype() != DType::b8 ? number(term.value.item()) : constant(term.value);
  const std::string_view op = term.op->info().name;
  const auto first = [&] { return spell(*term.inputs[0]); };
  if (op == "alias") return first();
  if (op == "local_product") return local_product(term);
  if (is_matrix_transpose(*term.op)) return transposed(first(), term.value.rank());
  if (const auto index = spell_index(*term.op)) return {first().at_least(Binding::atom) + *index};
  std::vector<Spelled> operands;
  for (const TermPtr& t : term.inputs) operands.push_back(t ? spell(*t) : Spelled{"None"});
  if (auto spelled = spell_operator(op, operands)) return *std::move(spelled);
  return call(term);
}

// g * derivative, which is 0 where g is 0, also where the derivative is not finite.
Spelled Printer::local_product(const Term& term) {
  const Spelled g = spell(*term.inputs[0]);
  const Spelled product = *spell_operator("mul", {g, spell(*term.inputs[1])});
  const std::vector<double> derivative = term.inputs[1]->value.to_vector<double>();
  const bool finite = std::all_of(derivative.begin(), derivative.end(), [](double v) { return std::isfinite(v); });
  if (finite) return product;
  return {fmt::format("{}({} == 0, 0, {})", where(), g.at_least(Binding::addition), product.text)};
}

std::optional<double> uniform_value(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  for (const double v : values)
    if (v != values[0]) return {};
  return values.empty() ? 0 : values[0];
}

std::string nested_list(const Tensor& x, const std::function<std::string(double)>& entry) {
  const std::vector<double> values = x.to_vector<double>();
  std::size_t at = 0;
  return nested(x, values, entry, 0, at);
}

}  // namespace gradus::study
