#include "draw/formula.hpp"

#include "draw/svg.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradus::draw {
namespace {

using Kind = Formula::Kind;

std::string element(const Formula& f);

constexpr std::string_view thin_space = R"(<mspace width="0.17em"/>)";

bool is_empty(const Formula& f) { return f.kind == Kind::row && f.parts.empty(); }

/// What decides about spaces: the base where there are indices.
const Formula& leading(const Formula& f) { return f.kind == Kind::scripts ? leading(f.parts.front()) : f; }

bool is_large(const Formula& f) { return f.kind == Kind::limits && (f.text == "Σ" || f.text == "Π" || f.text == "∫"); }

bool is_word(Kind kind) { return kind == Kind::function || kind == Kind::limits || kind == Kind::name; }

/// Whether what follows is applied to it, or multiplied with it.
bool is_operand(const Formula& f) {
  const Kind kind = leading(f).kind;
  return kind != Kind::op && kind != Kind::space && kind != Kind::function && kind != Kind::limits && !is_empty(f);
}

/// LaTeX sets a thin space between a word and a neighbour that is no bracket.
bool needs_space(const Formula& left, const Formula& right) {
  const Kind before = leading(left).kind, after = leading(right).kind;
  if (before == Kind::op || before == Kind::space || after == Kind::op || after == Kind::space) return false;
  if (is_large(leading(left)) || is_large(leading(right))) return false;  // these bring their own
  return (is_word(before) && after != Kind::fence) || is_word(after);
}

/// The sign of an operator; `sign` when nothing stands to its left that it could join.
std::string operator_element(const Formula& f, bool sign) {
  const std::string_view text = f.text == "-" ? "−" : f.text == "*" ? "∗" : std::string_view(f.text);
  if (text == "/") return R"(<mo lspace="0.08em" rspace="0.08em">/</mo>)";
  const bool bracket =
      text == "(" || text == ")" || text == "[" || text == "]" || text == "|" || text == "{" || text == "}";
  if (bracket) return fmt::format(R"(<mo stretchy="false" lspace="0" rspace="0">{}</mo>)", text);
  return fmt::format("<mo{}>{}</mo>", sign ? R"( form="prefix")" : "", escaped(text));
}

std::string side_by_side(const std::vector<Formula>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Formula* const left = i > 0 ? &parts[i - 1] : nullptr;
    if (left && needs_space(*left, parts[i])) out += thin_space;
    const bool sign = parts[i].kind == Kind::op && (!left || !is_operand(*left));
    out += parts[i].kind == Kind::op ? operator_element(parts[i], sign) : element(parts[i]);
  }
  return out;
}

/// One element, whatever the parts.
std::string single(const Formula& f) {
  if (f.kind == Kind::row && f.parts.size() == 1) return single(f.parts.front());
  return f.kind == Kind::row ? "<mrow>" + side_by_side(f.parts) + "</mrow>" : element(f);
}

std::string limits_element(const Formula& f) {
  if (is_large(f)) return fmt::format("<mo>{}</mo>", f.text == "Σ" ? "∑" : f.text == "Π" ? "∏" : "∫");
  return fmt::format(R"(<mo form="prefix" movablelimits="true" lspace="0" rspace="0">{}</mo>)", escaped(f.text));
}

std::string word_element(std::string_view text) {
  const bool one = decode_utf8(text).size() == 1;
  return fmt::format("<mi{}>{}</mi>", one ? R"( mathvariant="normal")" : "", escaped(text));
}

/// Words keep the spaces at their ends.
std::string text_element(std::string_view text) {
  std::string kept(text);
  if (!kept.empty() && kept.front() == ' ') kept.replace(0, 1, "\u00a0");
  if (!kept.empty() && kept.back() == ' ') kept.replace(kept.size() - 1, 1, "\u00a0");
  return "<mtext>" + escaped(kept) + "</mtext>";
}

std::string accent_element(const Formula& f) {
  const Formula& base = f.parts.front();
  const bool wide = base.kind == Kind::row || base.kind == Kind::name || base.kind == Kind::text;
  const std::string_view mark = f.text == "hat"     ? "^"
                                : f.text == "tilde" ? "~"
                                : f.text == "dot"   ? "˙"
                                : f.text == "ddot"  ? "¨"
                                : f.text == "vec"   ? "→"
                                                    : "‾";
  return fmt::format(R"(<mover accent="true">{}<mo stretchy="{}">{}</mo></mover>)", single(base), wide, mark);
}

std::string scripts_element(const Formula& f) {
  const Formula &base = f.parts[0], &index = f.parts[1], &power = f.parts[2];
  const bool below = base.kind == Kind::limits && base.text != "∫";
  const std::string inner =
      single(base) + (is_empty(index) ? "" : single(index)) + (is_empty(power) ? "" : single(power));
  if (!is_empty(index) && !is_empty(power))
    return fmt::format("<{0}>{1}</{0}>", below ? "munderover" : "msubsup", inner);
  if (!is_empty(index)) return fmt::format("<{0}>{1}</{0}>", below ? "munder" : "msub", inner);
  return fmt::format("<{0}>{1}</{0}>", below ? "mover" : "msup", inner);
}

/// Whether brackets around it grow.
bool is_tall(const Formula& f) {
  if (f.kind == Kind::fraction || f.kind == Kind::matrix || f.kind == Kind::root || is_large(f)) return true;
  if (f.kind == Kind::scripts) return is_tall(f.parts.front());
  return f.kind != Kind::accent && std::any_of(f.parts.begin(), f.parts.end(), is_tall);
}

std::string bracket(std::string_view text, std::string_view form, bool tall) {
  if (text.empty()) return "";
  return fmt::format(R"(<mo fence="true" form="{}" stretchy="{}">{}</mo>)", form, tall, escaped(text));
}

std::string in_brackets(const Formula& f, const std::string& inside) {
  const bool tall = is_tall(f);
  return "<mrow>" + bracket(f.text, "prefix", tall) + inside + bracket(f.closing, "postfix", tall) + "</mrow>";
}

std::string table(const Formula& f, int columns, std::string_view attributes, std::string_view cell) {
  std::string out = fmt::format("<mtable{}>", attributes);
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    if (i % static_cast<std::size_t>(columns) == 0) out += i == 0 ? "<mtr>" : "</mtr><mtr>";
    out += fmt::format("<mtd{}>{}</mtd>", cell, single(f.parts[i]));
  }
  return out + "</mtr></mtable>";
}

std::string element(const Formula& f) {
  switch (f.kind) {
    case Kind::row: return single(f);
    case Kind::lines: return table(f, 1, R"( displaystyle="true")", R"( style="text-align:left")");
    case Kind::identifier: return "<mi>" + escaped(f.text) + "</mi>";
    case Kind::name:
    case Kind::function: return word_element(f.text);
    case Kind::number: return "<mn>" + escaped(f.text) + "</mn>";
    case Kind::limits: return limits_element(f);
    case Kind::op: return operator_element(f, false);
    case Kind::text: return text_element(f.text);
    case Kind::space: return fmt::format(R"(<mspace width="{}"/>)", f.text);
    case Kind::fence: return in_brackets(f, side_by_side(f.parts[0].parts));
    case Kind::accent: return accent_element(f);
    case Kind::fraction: return "<mfrac>" + single(f.parts[0]) + single(f.parts[1]) + "</mfrac>";
    case Kind::root:
      if (f.parts.size() == 1) return "<msqrt>" + single(f.parts[0]) + "</msqrt>";
      return "<mroot>" + single(f.parts[0]) + single(f.parts[1]) + "</mroot>";
    case Kind::scripts: return scripts_element(f);
    case Kind::matrix: return in_brackets(f, table(f, f.columns, "", ""));
  }
  return {};
}

/// With a wide space behind each comma that separates whole formulas: `y = x s, s = \sigma(x)`.
Formula apart(const Formula& f) {
  Formula out{.kind = f.kind};
  if (f.kind == Kind::lines)
    for (const Formula& line : f.parts) out.parts.push_back(apart(line));
  if (f.kind == Kind::lines) return out;
  if (f.kind != Kind::row) return f;
  for (const Formula& part : f.parts) {
    out.parts.push_back(part);
    if (part.kind == Kind::op && part.text == ",") out.parts.push_back({.kind = Kind::space, .text = "0.6em"});
  }
  return out;
}

}  // namespace

std::string to_mathml(const Formula& formula, bool block) {
  return fmt::format(R"(<math display="{}">{}</math>)", block ? "block" : "inline", single(apart(formula)));
}

}  // namespace gradus::draw
