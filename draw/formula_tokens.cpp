#include "draw/formula_tokens.hpp"

#include "core/error.hpp"
#include "draw/formula_symbols.hpp"
#include "draw/text.hpp"

#include <array>

namespace gradus::draw {
namespace {

using Kind = FormulaToken::Kind;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr std::array<std::string_view, 10> words{"text",   "textrm", "operatorname", "mathrm", "texttt",
                                                 "mathtt", "textbf", "mbox",         "begin",  "end"};

class Reader {
 public:
  explicit Reader(std::string_view latex) : text_(latex) {}

  std::vector<FormulaToken> all() {
    while (next()) {}
    return std::move(tokens_);
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  void add(Kind kind, std::string_view text, std::size_t position, std::string content = {}) {
    tokens_.push_back({kind, std::string(text), std::move(content), position, spaced_});
    spaced_ = false;
  }

  /// Reads one token; false at the end.
  bool next() {
    for (; peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '~'; ++at_) spaced_ = true;
    const std::size_t start = at_;
    if (at_end()) return add(Kind::end, {}, start), false;
    const char c = text_[at_];
    if (c == '\\') return command(), true;
    if (is_digit(c)) return number(), true;
    constexpr std::string_view marks = "{}_^\n&";
    constexpr std::array kinds{Kind::open, Kind::close, Kind::sub, Kind::sup, Kind::line, Kind::align};
    const std::size_t mark = marks.find(c);
    if (mark != std::string_view::npos) return ++at_, add(kinds[mark], text_.substr(start, 1), start), true;
    if (c == '$' || c == '%' || c == '#' || is_control(c))
      fail_in_formula(text_, start, fmt::format("\"{}\" means nothing here", printable(text_.substr(start, 1))),
                      c == '$' ? "write the formula without $" : "write words as \\text{...}");
    do ++at_;
    while ((static_cast<unsigned char>(peek()) & 0xc0) == 0x80);
    while (at_ < text_.size() && combining_at(at_) > 0) at_ += combining_at(at_);
    add(Kind::character, text_.substr(start, at_ - start), start);
    return true;
  }

  /// Bytes of the combining mark at that place, 0 when there is none.
  std::size_t combining_at(std::size_t place) const {
    if ((static_cast<unsigned char>(text_[place]) & 0xc0) != 0xc0) return 0;
    std::size_t end = place + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return display_width(text_.substr(place, end - place)) == 0 ? end - place : 0;
  }

  void number() {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
      for (++at_; is_digit(peek());) ++at_;
    add(Kind::number, text_.substr(start, at_ - start), start);
  }

  void command() {
    const std::size_t start = at_++;
    if (at_end()) fail_in_formula(text_, start, "a backslash without a command", "name the command");
    if (!is_letter(peek())) {
      if (peek() == '\\') return ++at_, add(Kind::line, "\\", start);
      if ((static_cast<unsigned char>(peek()) & 0x80) != 0 || is_control(peek()))
        fail_in_formula(text_, start, "a backslash without a command", "name the command");
      return ++at_, add(Kind::command, text_.substr(start + 1, 1), start);
    }
    while (is_letter(peek())) ++at_;
    const std::string_view name = text_.substr(start + 1, at_ - start - 1);
    if (std::find(words.begin(), words.end(), name) == words.end()) return add(Kind::command, name, start);
    add(Kind::word, name, start, content(name));
  }

  /// The words in braces behind a command; a backslash before a character stands for that character.
  std::string content(std::string_view name) {
    const std::size_t start = at_;
    while (peek() == ' ') ++at_;
    if (peek() == '*') ++at_;
    if (peek() != '{')
      fail_in_formula(text_, start, fmt::format("\\{} without braces", name), fmt::format("write \\{}{{...}}", name));
    std::string inside;
    int depth = 0;
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '{' && depth++ == 0) continue;
      if (c == '}' && --depth == 0) return ++at_, inside;
      if (c == '\\' && at_ + 1 < text_.size() && !is_letter(text_[at_ + 1])) ++at_;
      inside += text_[at_] == '\n' ? ' ' : text_[at_];
    }
    fail_in_formula(text_, start, fmt::format("the braces of \\{} do not close", name), "close them");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool spaced_ = false;
  std::vector<FormulaToken> tokens_;
};

/// Tells opening brackets their partners. Braces and line breaks separate what can match.
void match_brackets(std::vector<FormulaToken>& tokens) {
  struct Open {
    int token;
    char sort;  // '|' closes only with itself, '(' with any closing bracket, '{' is a brace
    std::string text;
  };
  std::vector<Open> open;
  int braces = 0;
  const auto drop_to_brace = [&](bool brace_too) {
    while (!open.empty() && open.back().sort != '{') open.pop_back();
    if (brace_too && !open.empty()) open.pop_back(), --braces;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    FormulaToken& t = tokens[i];
    const int here = static_cast<int>(i);
    const bool begins = t.kind == Kind::word && t.text == "begin", ends = t.kind == Kind::word && t.text == "end";
    if (t.kind == Kind::open || begins) open.push_back({here, '{', ""}), ++braces;
    if (t.kind == Kind::close || ends) drop_to_brace(true);
    const bool breaks = t.kind == Kind::line && (t.text == "\\" || braces == 0);
    if (breaks || t.kind == Kind::align) drop_to_brace(false);
    if (t.kind != Kind::character && t.kind != Kind::command) continue;
    const FormulaBracket* const bracket = find_formula_bracket(t.kind == Kind::command ? "\\" + t.text : t.text);
    if (!bracket) continue;
    if (bracket->closes) {
      std::size_t top = open.size();
      const bool bar = bracket->opens;
      while (top > 0 && open[top - 1].sort != '{' && !(bar && open[top - 1].sort == '(') &&
             (bar ? open[top - 1].text != bracket->text : open[top - 1].sort != '('))
        --top;
      if (top > 0 &&
          (bar ? open[top - 1].text == bracket->text && open[top - 1].sort == '|' : open[top - 1].sort == '(')) {
        tokens[static_cast<std::size_t>(open[top - 1].token)].partner = here;
        t.partner = FormulaToken::closing;
        open.resize(top - 1);
        continue;
      }
    }
    if (bracket->opens) open.push_back({here, bracket->closes ? '|' : '(', std::string(bracket->text)});
  }
}

}  // namespace

std::vector<FormulaToken> formula_tokens(std::string_view latex) {
  constexpr std::size_t longest = 10000;
  if (latex.size() > longest) fail("formula: {} bytes; split what is longer than {}", latex.size(), longest);
  std::vector<FormulaToken> tokens = Reader(latex).all();
  match_brackets(tokens);
  return tokens;
}

void fail_in_formula(std::string_view latex, std::size_t position, std::string_view what, std::string_view advice) {
  const std::size_t characters = decode_utf8(latex.substr(0, position)).size() + 1;
  constexpr std::size_t before = 30;
  std::size_t from = position > before ? position - before : 0;
  while (from > 0 && (static_cast<unsigned char>(latex[from]) & 0xc0) == 0x80) --from;
  const std::string shown = (from > 0 ? "…" : "") + clipped(printable(latex.substr(from, 300)), 70);
  fail("formula: {} at character {} of \"{}\"; {}", what, characters, shown, advice);
}

}  // namespace gradus::draw
