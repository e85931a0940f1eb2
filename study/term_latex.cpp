// Terms as LaTeX, in the subset that draw/formula.hpp reads.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "study/spelling.hpp"

namespace gradus::study {
namespace {

constexpr std::string_view greek[] = {"alpha", "beta",  "gamma", "delta", "epsilon", "theta", "lambda", "mu",
                                      "pi",    "sigma", "tau",   "phi",   "Phi",     "Sigma", "Delta"};

bool all_digits(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  }
  std::erase_if(parts, [](const std::string& p) { return p.empty(); });
  return parts;
}

// One word: a letter, a Greek letter, a number, or upright text.
std::string word(const std::string& w) {
  if (w.size() == 1 || all_digits(w)) return w;
  if (std::find(std::begin(greek), std::end(greek), w) != std::end(greek)) return "\\" + w;
  return "\\text{" + w + "}";
}

// `W_Q` as W_{Q}, `t1` as t_{1}, with a mark such as \bar over the letter.
std::string marked_name(const std::string& name, const std::string& mark) {
  std::vector<std::string> parts = split(name, '_');
  if (parts.empty()) parts.push_back(name);
  const std::size_t letters = parts[0].find_first_of("0123456789");
  if (letters != std::string::npos && letters > 0 && all_digits(parts[0].substr(letters))) {
    parts.insert(parts.begin() + 1, parts[0].substr(letters));
    parts[0].resize(letters);
  }
  std::string text = mark.empty() ? word(parts[0]) : mark + "{" + word(parts[0]) + "}";
  std::string below;
  for (std::size_t i = 1; i < parts.size(); ++i) below += (below.empty() ? "" : ", ") + word(parts[i]);
  return below.empty() ? text : text + "_{" + below + "}";
}

Spelled latex_number(double value) {
  Spelled s = spell_number(value);
  const auto root = [](const std::string& text) {
    const std::size_t at = text.find("sqrt(") + 5;
    return "\\sqrt{" + text.substr(at, text.find(')') - at) + "}";
  };
  const std::string sign = s.text.front() == '-' ? "-" : "";
  if (s.text.find("1 / sqrt(") != std::string::npos) return {sign + "\\frac{1}{" + root(s.text) + "}", Binding::sign};
  if (s.text.find("sqrt(") != std::string::npos) return {sign + root(s.text), s.binding};
  if (s.text == "inf" || s.text == "-inf") return {sign + "\\infty", s.binding};
  if (!std::isfinite(value)) return {"\\text{NaN}"};
  s.text = fmt::format("{:.6g}", value);
  if (const auto e = s.text.find('e'); e != std::string::npos)
    s = {s.text.substr(0, e) + " \\cdot 10^{" + fmt::format("{}", std::stoi(s.text.substr(e + 1))) + "}",
         Binding::product};
  return s;
}

bool is_scalar(const Term& t) { return t.value.numel() == 1; }

Spelled spell(const Term& term);

std::string in_brackets(const Spelled& s, Binding least) { return s.binding < least ? "(" + s.text + ")" : s.text; }

// What stands to the right of an operator: in brackets, too, when it begins with a minus.
std::string right_of(const Spelled& s, Binding least) {
  return s.text.starts_with('-') ? "(" + s.text + ")" : in_brackets(s, least);
}

// What takes an index ('_') or a power ('^'): in brackets when it has one already.
std::string base(const Spelled& s, char script) {
  int depth = 0;
  bool scripted = false;
  for (const char c : s.text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    scripted = scripted || (depth == 0 && c == script);
  }
  return scripted ? "(" + s.text + ")" : in_brackets(s, Binding::atom);
}

Spelled fraction(const Term& term) {
  return {"\\frac{" + spell(*term.inputs[0]).text + "}{" + spell(*term.inputs[1]).text + "}", Binding::sign};
}

// Two factors: a matrix product by juxtaposition, elementwise with \odot, a number with \cdot.
Spelled product(const Term& term, bool matrices) {
  const Term &a = *term.inputs[0], &b = *term.inputs[1];
  const char* const sign = matrices ? " " : is_scalar(a) || is_scalar(b) ? " \\cdot " : " \\odot ";
  return {in_brackets(spell(a), Binding::product) + sign + right_of(spell(b), Binding::sign), Binding::product};
}

std::string attribute_text(const Value& value) {
  std::string text;
  for (const char c : to_string(value)) text += c == '_' ? ' ' : c;
  return value.get_if<std::string>() ? "\\text{" + text.substr(1, text.size() - 2) + "}" : text;
}

// name_{attributes}(inputs)
Spelled call(const Term& term) {
  const std::vector<Argument> arguments = arguments_of(*term.op);
  std::string inputs, below;
  for (const Argument& a : arguments) {
    for (const int i : a.inputs)
      if (const TermPtr& t = term.inputs[static_cast<std::size_t>(i)])
        inputs += (inputs.empty() ? "" : ", ") + spell(*t).text;
    if (a.inputs.empty() && !a.is_default && a.param->name != "keepdim")
      below += (below.empty() ? "" : ", ") + attribute_text(a.value);
  }
  std::string name;
  for (const char* c = term.op->info().name; *c; ++c) name += *c == '_' ? std::string(" ") : std::string(1, *c);
  return {fmt::format("\\operatorname{{{}}}{}({})", name, below.empty() ? "" : "_{" + below + "}", inputs)};
}

Spelled constant(const Tensor& x) {
  if (x.rank() == 0 && x.dtype() != DType::b8) return latex_number(x.item());
  const std::vector<double> values = x.to_vector<double>();
  const bool uniform =
      !values.empty() && std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
  if (uniform && is_floating(x.dtype())) return latex_number(values[0]);
  return {"\\text{constant}"};
}

Spelled spell(const Term& term) {
  if (!term.name.empty()) return {latex_name(term.name)};
  if (!term.op) return constant(term.value);
  const std::string_view op = term.op->info().name;
  const auto input = [&](std::size_t i) { return spell(*term.inputs[i]); };
  if (op == "alias") return input(0);
  if (is_matrix_transpose(*term.op)) return {base(input(0), '^') + "^{T}", Binding::atom};
  if (const auto index = spell_index(*term.op))
    return {base(input(0), '_') + "_{" + index->substr(1, index->size() - 2) + "}"};
  if (op == "add" || op == "sub")
    return {in_brackets(input(0), Binding::addition) + (op == "add" ? " + " : " - ") +
                right_of(input(1), op == "add" ? Binding::addition : Binding::product),
            Binding::addition};
  if (op == "mul" || op == "local_product") return product(term, false);
  if (op == "matmul") return product(term, true);
  if (op == "div") return fraction(term);
  if (op == "neg") return {"-" + in_brackets(input(0), Binding::product), Binding::addition};
  if (op == "exp") return {"e^{" + input(0).text + "}", Binding::power};
  if (op == "sqrt") return {"\\sqrt{" + input(0).text + "}"};
  if (op == "pow") return {base(input(0), '^') + "^{" + input(1).text + "}", Binding::power};
  return call(term);
}

}  // namespace

std::string latex_name(const std::string& name) {
  if (name.substr(0, 2) != "d_" || name.size() == 2) return marked_name(name, "");
  const std::size_t via = name.find("_via_");
  if (via == std::string::npos || via == 1) return marked_name(name.substr(2), "\\bar");
  return marked_name(name.substr(2, via - 2), "\\bar") + "^{(" + marked_name(name.substr(via + 5), "") + ")}";
}

std::string to_latex(const Term& term) { return spell(term).text; }

}  // namespace gradus::study
