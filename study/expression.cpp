// Terms in the expression language.
#include <fmt/format.h>

#include "core/parameter_dtype.hpp"
#include "study/printer.hpp"

namespace gradus::study {
namespace {

class ExpressionPrinter final : public Printer {
  Spelled number(double value) override { return spell_number(value); }

  Spelled constant(const Tensor& x) override {
    if (is_floating(x.dtype()))
      if (const auto value = uniform_value(x)) return {filled(to_string(Value(x.shape())), *value)};
    return {nested_list(x, [&](double v) {
      return x.dtype() == DType::b8 ? std::string(v != 0 ? "True" : "False") : spell_number(v).text;
    })};
  }

  static std::string filled(const std::string& shape, double value) {
    if (value == 0) return fmt::format("zeros({})", shape);
    if (value == 1) return fmt::format("ones({})", shape);
    return fmt::format("full({}, {})", shape, spell_number(value).text);
  }

  Spelled transposed(const Spelled& x, int) override { return {x.at_least(Binding::atom) + ".T"}; }

  const char* where() const override { return "where"; }

  // name(x, required, defaulted=value)
  Spelled call(const Term& term) override {
    const std::vector<Argument> arguments = arguments_of(*term.op);
    std::string text;
    bool keywords = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Argument& a = arguments[i];
      keywords = keywords || a.is_default;
      if (a.is_default) continue;
      std::string value = argument(a, i, term);
      if (a.param->list && i + 1 < arguments.size()) value = "[" + value + "]";  // as the last one it takes the rest
      if (keywords || !a.param->required) value = fmt::format("{}={}", a.param->name, value), keywords = true;
      text += (text.empty() ? "" : ", ") + value;
    }
    return {fmt::format("{}({})", term.op->info().name, text)};
  }

  std::string argument(const Argument& a, std::size_t place, const Term& term) {
    if (a.inputs.empty() && !a.param->list) return to_string(a.value);
    std::string text;
    for (const int i : a.inputs) text += (text.empty() ? "" : ", ") + input(term, static_cast<std::size_t>(i), place);
    return text;
  }
  // Written-out integers are read as f64, unless the function takes nothing but integers there.
  std::string input(const Term& term, std::size_t i, std::size_t place) {
    if (!term.inputs[i]) return "None";
    const Term& x = *term.inputs[i];
    const std::string text = spell(x).text;
    const bool is_integer = x.name.empty() && !x.op && x.value.dtype() == DType::i64;
    if (!is_integer || parameter_dtype(*find_op(term.op->info().name), place) == DType::i64) return text;
    return fmt::format("cast({}, \"i64\")", text);
  }
};

}  // namespace

std::string to_expression(const Term& term) { return ExpressionPrinter().spell(term).text; }

}  // namespace gradus::study
