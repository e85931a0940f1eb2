#include "cli/formula.hpp"

#include <algorithm>
#include <utility>

#include "draw/text.hpp"

namespace gradus::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> symbols[] = {
    {"sum", "Σ"},    {"prod", "Π"},      {"odot", "⊙"},   {"partial", "∂"}, {"pi", "π"},       {"mu", "μ"},
    {"sigma", "σ"},  {"delta", "δ"},     {"Phi", "Φ"},    {"varphi", "φ"},  {"phi", "φ"},      {"epsilon", "ε"},
    {"alpha", "α"},  {"beta", "β"},      {"lambda", "λ"}, {"theta", "θ"},   {"le", "≤"},       {"ge", "≥"},
    {"ne", "≠"},     {"cdot", "·"},      {"times", "×"},  {"dots", "…"},    {"ldots", "…"},    {"cdots", "…"},
    {"infty", "∞"},  {"in", "∈"},        {"top", "T"},    {"quad", "  "},   {"qquad", "    "}, {"to", "→"},
    {"mapsto", "↦"}, {"leftarrow", "←"}, {"lfloor", "⌊"}, {"rfloor", "⌋"},  {"Sigma", "Σ"},    {"left", ""},
    {"right", ""},   {"mathbf", ""},     {"mathrm", ""},  {"gamma", "γ"},   {"tau", "τ"},      {"neq", "≠"},
    {"Delta", "Δ"},  {"pm", "±"},        {"approx", "≈"}, {"leq", "≤"},     {"geq", "≥"},      {"circ", "∘"}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Reader {
 public:
  explicit Reader(std::string_view latex) : rest_(latex) {}

  std::string all() {
    std::string out;
    while (!rest_.empty()) out += next();
    return out;
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  /// The next symbol, group or command, as text.
  std::string next() {
    const char c = take();
    if (c == '\\') return command();
    if (c == '{') return group();
    if (c == '}') return "";
    if (c == '_' || c == '^') return c + in_brackets(argument());
    return std::string(1, c);
  }

  /// What stands between braces, the opening one being read.
  std::string group() {
    std::string out;
    while (!rest_.empty() && rest_.front() != '}') out += next();
    if (!rest_.empty()) take();
    return out;
  }

  /// What a command or an index applies to.
  std::string argument() {
    while (!rest_.empty() && rest_.front() == ' ') take();
    return rest_.empty() ? "" : next();
  }

  /// Brackets around what is more than a word.
  static std::string in_brackets(const std::string& text) {
    const bool word = std::all_of(text.begin(), text.end(), [](char c) {
      return is_letter(c) || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    });
    return word ? text : "(" + text + ")";
  }

  /// A combining mark goes behind the first character.
  static std::string marked(const std::string& text, std::string_view mark) {
    const auto letters = draw::characters(text);
    if (letters.empty()) return std::string(mark);
    return text.substr(0, letters.front().size()) + std::string(mark) + text.substr(letters.front().size());
  }

  std::string command() {
    if (rest_.empty()) return "\\";
    if (!is_letter(rest_.front())) {
      const char c = take();
      if (c == ',' || c == ';' || c == ':' || c == ' ') return " ";
      return c == '!' ? "" : std::string(1, c);
    }
    std::string name;
    while (!rest_.empty() && is_letter(rest_.front())) name += take();
    if (name == "bar") return marked(argument(), "\u0304");
    if (name == "hat") return marked(argument(), "\u0302");
    if (name == "text" || name == "operatorname") return argument();
    if (name == "sqrt") return "√" + in_brackets(argument());
    if (name == "frac") {
      const std::string above = in_brackets(argument());
      return above + "/" + in_brackets(argument());
    }
    for (const auto& [known, symbol] : symbols)
      if (known == name) return std::string(symbol);
    return name;  // \log, \exp, \max and their like read well as they are
  }

  std::string_view rest_;
};

}  // namespace

std::string formula_text(std::string_view latex) {
  std::string out = Reader(latex).all();
  std::string text;  // one space is enough
  for (const char c : out)
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  return text;
}

}  // namespace gradus::cli
