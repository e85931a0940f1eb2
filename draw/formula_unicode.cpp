#include "draw/formula.hpp"

#include "draw/text.hpp"

#include <algorithm>

namespace gradus::draw {
namespace {

using Kind = Formula::Kind;

std::string written(const Formula& f);

/// Brackets around what is more than a word.
std::string in_brackets(const std::string& text) {
  const bool word = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
  });
  return word ? text : "(" + text + ")";
}

bool ends_with_space(const std::string& text) { return text.empty() || text.back() == ' '; }

std::string side_by_side(const std::vector<Formula>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Formula& part = parts[i];
    const bool after_partial = i > 0 && parts[i - 1].kind == Kind::identifier && parts[i - 1].text == "∂";
    std::string text = written(part);
    if (part.kind == Kind::space && ends_with_space(out)) continue;
    const bool space = part.spaced && !after_partial && !ends_with_space(out) && text != " ";
    out += (space ? " " : "") + text;
  }
  return out;
}

/// The combining mark that an accent is on a terminal.
std::string_view combining(std::string_view accent) {
  if (accent == "hat") return "\u0302";
  if (accent == "tilde") return "\u0303";
  if (accent == "dot") return "\u0307";
  if (accent == "ddot") return "\u0308";
  return accent == "vec" ? "\u20d7" : "\u0304";
}

/// A mark over the first letter: `x̄_i`. Over a longer word it would be lost, so it stands over each letter.
std::string accented(const Formula& f) {
  const Formula& base = f.parts.front();
  const std::vector<std::string> letters = characters(written(base));
  const bool all = base.kind == Kind::name || base.kind == Kind::text || base.kind == Kind::function;
  const std::string_view mark = all && f.text == "bar" ? "\u0305" : combining(f.text);
  std::string out = letters.empty() ? std::string(mark) : "";
  for (std::size_t i = 0; i < letters.size(); ++i) out += letters[i] + (i == 0 || all ? std::string(mark) : "");
  return out;
}

std::string scripts(const Formula& f) {
  const std::string index = written(f.parts[1]);
  std::string out = written(f.parts[0]);
  if (!index.empty()) out += "_" + in_brackets(index);
  std::string_view power = {};
  const std::string whole = written(f.parts[2]);
  power = whole;
  constexpr std::string_view prime = "′";
  for (; power.substr(0, prime.size()) == prime; power.remove_prefix(prime.size())) out += "'";
  if (!power.empty()) out += "^" + in_brackets(std::string(power));
  return out;
}

/// Row by row in square brackets, as the expression language writes a matrix.
std::string matrix(const Formula& f) {
  std::string out;
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    const bool first = i % static_cast<std::size_t>(f.columns) == 0;
    out += first ? (i == 0 ? "[" : "], [") : ", ";
    out += written(f.parts[i]);
  }
  out += "]";
  return f.parts.size() == static_cast<std::size_t>(f.columns) ? out : "[" + out + "]";
}

std::string written(const Formula& f) {
  switch (f.kind) {
    case Kind::row: return side_by_side(f.parts);
    case Kind::lines: {
      std::string out;
      for (const Formula& line : f.parts) out += (out.empty() ? "" : "\n") + written(line);
      return out;
    }
    case Kind::space: return " ";
    case Kind::fence: return f.text + written(f.parts[0]) + f.closing;
    case Kind::accent: return accented(f);
    case Kind::fraction: return in_brackets(written(f.parts[0])) + "/" + in_brackets(written(f.parts[1]));
    case Kind::root: {
      const std::string under = in_brackets(written(f.parts[0]));
      if (f.parts.size() == 1) return "√" + under;
      const std::string degree = written(f.parts[1]);
      return (degree == "3" ? "∛" : degree == "4" ? "∜" : in_brackets(degree) + "√") + under;
    }
    case Kind::scripts: return scripts(f);
    case Kind::matrix: return matrix(f);
    default: return f.text;
  }
}

}  // namespace

std::string to_unicode(const Formula& formula) {
  std::string out = written(formula);
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace gradus::draw
