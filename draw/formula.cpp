#include "draw/formula.hpp"

#include "core/error.hpp"
#include "draw/formula_symbols.hpp"
#include "draw/formula_tokens.hpp"

#include <algorithm>
#include <utility>

namespace gradus::draw {
namespace {

using Kind = Formula::Kind;
using Token = FormulaToken;

constexpr std::pair<std::string_view, std::string_view> accents[] = {
    {"bar", "bar"},         {"overline", "bar"}, {"hat", "hat"},   {"widehat", "hat"}, {"tilde", "tilde"},
    {"widetilde", "tilde"}, {"dot", "dot"},      {"ddot", "ddot"}, {"vec", "vec"},
};

struct Matrix {
  std::string_view name, opening, closing;
};
constexpr Matrix matrices[] = {
    {"pmatrix", "(", ")"}, {"bmatrix", "[", "]"}, {"vmatrix", "|", "|"}, {"matrix", "", ""}, {"cases", "{", ""}};

// What only changes how LaTeX sets what follows.
constexpr std::string_view styles[] = {"!",      "displaystyle", "textstyle", "limits",  "nolimits",
                                       "mathbf", "boldsymbol",   "mathit",    "mathcal", "mathsf"};

bool is_letter(std::string_view text) {
  const char c = text.front();
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80) != 0;
}

class Parser {
 public:
  explicit Parser(std::string_view latex) : latex_(latex), tokens_(formula_tokens(latex)) {}

  Formula all() {
    Formula lines{.kind = Kind::lines};
    while (true) {
      Formula line = row(end_of_line);
      if (!line.parts.empty()) lines.parts.push_back(std::move(line));
      if (peek().kind == Token::Kind::end) break;
      if (peek().kind == Token::Kind::close) fail_here("a closing brace without an opening one", "remove it");
      if (peek().kind == Token::Kind::align) fail_here("& outside a matrix", "begin one with \\begin{pmatrix}");
      if (peek().kind == Token::Kind::word) fail_here("\\end without \\begin", "remove it");
      ++at_;
    }
    if (lines.parts.empty()) return {};
    return lines.parts.size() == 1 ? std::move(lines.parts.front()) : std::move(lines);
  }

 private:
  static constexpr int end_of_line = -1, inside = -2;
  static constexpr int deepest = 100;

  const Token& peek() const { return tokens_[at_]; }
  [[noreturn]] void fail_here(std::string_view what, std::string_view advice) const {
    fail_in_formula(latex_, peek().position, what, advice);
  }

  /// Parts side by side up to the end of the group, line or cell, or to the token `stop`.
  Formula row(int stop) {
    if (++depth_ > deepest) fail_here(fmt::format("nested more than {} deep", deepest), "write it flatter");
    Formula row;
    for (; static_cast<int>(at_) != stop;) {
      const Token& t = peek();
      if (t.kind == Token::Kind::line && t.text == "\n" && stop != end_of_line) {
        ++at_;
        continue;
      }
      if (t.kind == Token::Kind::end || t.kind == Token::Kind::close || t.kind == Token::Kind::line ||
          t.kind == Token::Kind::align || (t.kind == Token::Kind::word && t.text == "end"))
        break;
      if (!skipped()) row.parts.push_back(with_scripts());
    }
    --depth_;
    return row;
  }

  /// Whether the next token shows nothing: it is read.
  bool skipped() {
    const Token& t = peek();
    if (t.kind != Token::Kind::command) return false;
    const bool bracket_size = t.text == "left" || t.text == "right";
    if (!bracket_size && std::find(std::begin(styles), std::end(styles), t.text) == std::end(styles)) return false;
    tokens_[at_ + 1].spaced = t.spaced;
    ++at_;
    if (bracket_size && peek().text == ".") ++at_;
    return true;
  }

  Formula with_scripts() {
    const bool spaced = peek().spaced;
    Formula base;
    if (peek().kind != Token::Kind::sub && peek().kind != Token::Kind::sup) base = atom();
    Formula index, power;
    bool has_index = false, has_power = false;
    for (;;) {
      const Token& t = peek();
      if (t.kind == Token::Kind::sub) {
        if (has_index) fail_here("a second index", "put both into one pair of braces");
        has_index = true, ++at_, index = argument("_");
      } else if (t.kind == Token::Kind::sup) {
        if (has_power) fail_here("a second power", "put both into one pair of braces");
        has_power = true, ++at_;
        Formula more = argument("^");
        if (power.parts.empty()) power = std::move(more);
        else power.parts.push_back(std::move(more));
      } else if (t.kind == Token::Kind::character && t.text == "'") {
        ++at_, power.parts.push_back({.kind = Kind::identifier, .text = "′"});
      } else break;
    }
    const auto empty = [](const Formula& f) { return f.kind == Kind::row && f.parts.empty(); };
    if (empty(index) && empty(power)) return base.spaced = spaced, base;
    Formula scripts{.kind = Kind::scripts, .spaced = spaced};
    for (Formula* part : {&base, &index, &power}) scripts.parts.push_back(std::move(*part));
    return scripts;
  }

  /// What stands in braces, or the next symbol.
  Formula argument(std::string_view of) {
    Token& t = tokens_[at_];
    using enum Token::Kind;
    if (t.kind == end || t.kind == close || t.kind == line || t.kind == align || t.kind == sub || t.kind == sup ||
        t.partner == Token::closing || (t.kind == word && t.text == "end"))
      fail_here(fmt::format("{} without what it applies to", of), fmt::format("write {}{{...}}", of));
    if (t.kind == number && t.text.size() > 1) {  // as in LaTeX, x^12 is x^{1}2
      Formula digit{.kind = Kind::number, .text = t.text.substr(0, 1)};
      t.text.erase(0, 1), t.spaced = false, ++t.position;
      return digit;
    }
    t.partner = -1;
    if (++depth_ > deepest) fail_here(fmt::format("nested more than {} deep", deepest), "write it flatter");
    Formula found = atom();
    --depth_;
    return found;
  }

  Formula atom() {
    const Token& t = peek();
    switch (t.kind) {
      case Token::Kind::open: return group();
      case Token::Kind::word: return word();
      case Token::Kind::command: return command();
      case Token::Kind::number: return ++at_, Formula{.kind = Kind::number, .text = t.text};
      default: return character();
    }
  }

  Formula group() {
    const std::size_t opening = at_++;
    Formula inside_braces = row(inside);
    if (peek().kind != Token::Kind::close) {
      at_ = opening;
      fail_here("a brace that does not close", "close it");
    }
    ++at_;
    if (inside_braces.parts.size() == 1) return std::move(inside_braces.parts.front());
    return inside_braces;
  }

  Formula character() {
    const Token& t = tokens_[at_];
    if (t.partner >= 0) return fence();
    ++at_;
    const auto* const known = std::find_if(std::begin(formula_symbols), std::end(formula_symbols),
                                           [&](const FormulaSymbol& s) { return s.text == t.text; });
    if (known != std::end(formula_symbols)) return {.kind = known->kind, .text = t.text};
    return {.kind = is_letter(t.text) ? Kind::identifier : Kind::op, .text = t.text};
  }

  Formula fence() {
    const int closing = tokens_[at_].partner;
    const auto shown = [&](const Token& t) {
      return std::string(find_formula_bracket(t.kind == Token::Kind::command ? "\\" + t.text : t.text)->text);
    };
    Formula fence{.kind = Kind::fence, .text = shown(tokens_[at_])};
    ++at_;
    fence.parts.push_back(row(closing));
    if (static_cast<int>(at_) != closing) fail_here("brackets that do not nest", "close the inner ones first");
    fence.closing = shown(tokens_[at_++]);
    return fence;
  }

  Formula command() {
    const Token& t = tokens_[at_];
    if (t.partner >= 0) return fence();
    if (skipped()) return argument("\\" + t.text);
    ++at_;
    if (const FormulaSymbol* const known = find_formula_symbol(t.text))
      return {.kind = known->kind, .text = std::string(known->text)};
    if (const FormulaBracket* const bracket = find_formula_bracket("\\" + t.text))
      return {.kind = Kind::op, .text = std::string(bracket->text)};
    for (const auto& [name, mark] : accents)
      if (t.text == name) return {.kind = Kind::accent, .text = std::string(mark), .parts = {argument("\\" + t.text)}};
    if (t.text == "frac" || t.text == "dfrac" || t.text == "tfrac") {
      Formula fraction{.kind = Kind::fraction};
      for (int i = 0; i < 2; ++i) fraction.parts.push_back(argument("\\frac"));
      return fraction;
    }
    if (t.text == "sqrt") return root();
    if (std::string_view("_%#&$").find(t.text) != std::string_view::npos) return {.kind = Kind::op, .text = t.text};
    --at_;
    fail_here(fmt::format("unknown command \\{}", t.text),
              is_letter(t.text) ? fmt::format("for the name of a function write \\operatorname{{{}}}", t.text)
                                : "write the character without the backslash");
  }

  Formula root() {
    Formula root{.kind = Kind::root};
    if (peek().text != "[" || peek().partner < 0) return root.parts.push_back(argument("\\sqrt")), root;
    Formula degree = fence().parts.front();
    root.parts.push_back(argument("\\sqrt"));
    root.parts.push_back(std::move(degree));
    return root;
  }

  Formula word() {
    const Token& t = tokens_[at_];
    if (t.text == "begin") return matrix();
    ++at_;
    if (t.text == "operatorname") return {.kind = Kind::function, .text = t.content};
    const bool text = t.text == "text" || t.text == "textrm" || t.text == "mbox" || t.text == "textbf";
    return {.kind = text ? Kind::text : Kind::name, .text = t.content};
  }

  Formula matrix() {
    const std::string name = tokens_[at_].content;
    const auto* const sort =
        std::find_if(std::begin(matrices), std::end(matrices), [&](const Matrix& m) { return m.name == name; });
    if (sort == std::end(matrices))
      fail_here(fmt::format("unknown \\begin{{{}}}", name), "write pmatrix, bmatrix, vmatrix, matrix or cases");
    ++at_;
    std::vector<std::vector<Formula>> rows(1);
    while (true) {
      rows.back().push_back(row(inside));
      const Token& t = peek();
      if (t.kind == Token::Kind::word && t.content == name) break;
      if (t.kind != Token::Kind::align && t.kind != Token::Kind::line)
        fail_here(fmt::format("\\begin{{{}}} does not end", name), fmt::format("write \\end{{{}}}", name));
      if (t.kind == Token::Kind::line) rows.emplace_back();
      ++at_;
    }
    ++at_;
    if (rows.size() > 1 && rows.back().size() == 1 && rows.back().front().parts.empty()) rows.pop_back();
    Formula matrix{.kind = Kind::matrix, .text = std::string(sort->opening), .closing = std::string(sort->closing)};
    for (const auto& cells : rows) matrix.columns = std::max(matrix.columns, static_cast<int>(cells.size()));
    for (auto& cells : rows) {
      cells.resize(static_cast<std::size_t>(matrix.columns));
      std::move(cells.begin(), cells.end(), std::back_inserter(matrix.parts));
    }
    return matrix;
  }

  std::string_view latex_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Formula parse_formula(std::string_view latex) { return Parser(latex).all(); }

std::string formula_to_unicode(std::string_view latex) { return to_unicode(parse_formula(latex)); }

std::string formula_to_mathml(std::string_view latex, bool block) { return to_mathml(parse_formula(latex), block); }

}  // namespace gradus::draw
