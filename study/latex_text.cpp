#include "study/latex_text.hpp"

#include "draw/text.hpp"

#include <fmt/format.h>

namespace gradus::study {

namespace {

// From α and from Α; omicron and the capitals that look Latin are written as Latin letters.
constexpr const char* small_greek[] = {
    "alpha", "beta", "gamma", "delta", "epsilon",  "zeta",  "eta", "theta",   "iota", "kappa", "lambda", "mu",   "nu",
    "xi",    "o",    "pi",    "rho",   "varsigma", "sigma", "tau", "upsilon", "phi",  "chi",   "psi",    "omega"};
constexpr const char* capital_greek[] = {"A",     "B",      "Gamma",   "Delta", "E",  "Z",   "H",    "Theta", "I",
                                         "K",     "Lambda", "M",       "N",     "Xi", "O",   "Pi",   "P",     "",
                                         "Sigma", "T",      "Upsilon", "Phi",   "X",  "Psi", "Omega"};

// A character beyond ASCII in a formula: a letter of Greek, or nothing.
std::string greek(char32_t c) {
  std::string name;
  if (c >= U'α' && c <= U'ω') name = small_greek[c - U'α'];
  if (c >= U'Α' && c <= U'Ω') name = capital_greek[c - U'Α'];
  if (name.empty()) return {};
  return name.size() == 1 ? name : fmt::format("\\{} ", name);
}

// A character of ASCII that means something to LaTeX, or that its text fonts draw as another.
std::string special(char32_t c) {
  switch (c) {
    case U'\\': return "$\\backslash$";
    case U'~': return "\\textasciitilde{}";
    case U'^': return "\\textasciicircum{}";
    case U'<':
    case U'>':
    case U'|': return {'$', static_cast<char>(c), '$'};
    case U'"': return "''";
    case U'·': return "$\\cdot$";
    case U'{':
    case U'}':
    case U'$':
    case U'&':
    case U'#':
    case U'_':
    case U'%': return {'\\', static_cast<char>(c)};
    default: return {};
  }
}

std::string by_number(char32_t c) { return fmt::format("[U+{:04X}]", static_cast<std::uint32_t>(c)); }

std::string character(char32_t c, Engine engine) {
  if (const std::string text = special(c); !text.empty()) return text;
  if (c < 0x20 || c == 0x7f) return " ";
  if (c < 0x80 || engine == Engine::xelatex) return draw::encode_utf8(c);
  const std::string letter = greek(c);
  return letter.empty() ? by_number(c) : fmt::format("\\ensuremath{{{}}}", letter);
}

}  // namespace

std::string latex_text(std::string_view text, Engine engine) {
  std::string latex;
  for (const char32_t c : draw::decode_utf8(text)) latex += character(c, engine);
  return latex;
}

std::string latex_code(std::string_view text, Engine engine) {
  std::string latex;
  for (const char32_t c : draw::decode_utf8(text)) {
    latex += special(c).empty() ? character(c, engine) : fmt::format("\\char{} ", static_cast<std::uint32_t>(c));
    if (c == U'(' || c == U',' || c == U'[' || c == U'_') latex += "\\allowbreak{}";
  }
  return fmt::format("\\texttt{{{}}}", latex);
}

std::string breakable(std::string_view formula) {
  std::string latex;
  int depth = 0;
  for (const char c : formula) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    latex += c;
    if (depth == 0 && (c == ',' || c == '(')) latex += "\\allowbreak ";
  }
  return latex;
}

}  // namespace gradus::study
