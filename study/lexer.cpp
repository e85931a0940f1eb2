#include "study/lexer.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "draw/text.hpp"
#include "study/excerpt.hpp"

namespace gradus::study {
namespace {

using Kind = Token::Kind;

constexpr std::size_t longest_text = std::size_t{1} << 24, longest_string = 1000;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors begin files with it

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

// What people type or paste, and how it is written here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> elsewhere{{
    {"//", "/ divides, with a fraction"},
    {"&&", "write & for masks and truth values"},
    {"||", "write | for masks and truth values"},
    {"^", "write ** for powers"},
    {"%", "there is no remainder"},
    {"!", "write ~ for the opposite of a mask, != for unequal"},
    {"{", "write [...] for a list"},
    {"}", "write [...] for a list"},
    {"\\", "a statement goes on over lines inside brackets"},
    {"×", "write * (elementwise) or @ (matrix product)"},
    {"·", "write * (elementwise) or @ (matrix product)"},
    {"⋅", "write * (elementwise) or @ (matrix product)"},
    {"⊙", "write *"},
    {"∘", "write *"},
    {"÷", "write /"},
    {"−", "write -"},
    {"–", "write -"},
    {"ᵀ", "write .T"},
    {"²", "write ** 2"},
    {"√", "write sqrt(...)"},
    {"π", "write pi"},
    {"∞", "write inf"},
    {"≤", "write <="},
    {"≥", "write >="},
    {"≠", "write !="},
    {"“", "write straight quotes"},
    {"”", "write straight quotes"},
}};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    if (text_.size() > longest_text)
      fail_at(text_, longest_text, "the text is longer than 16 MB; put numbers into an .npz file");
    if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) at_ = byte_order_mark.size();
    while (skip(), at_ < text_.size()) next();
    add(Kind::end, tokens_.empty() ? 0 : tokens_.back().at + tokens_.back().text.size(), 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void add(Kind kind, std::size_t at, std::size_t size, Literal literal = {}) {
    tokens_.push_back({kind, at, text_.substr(at, size), std::move(literal)});
  }

  // Blanks, comments, and newlines inside brackets.
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      else if (c != ' ' && c != '\t' && c != '\r' && (c != '\n' || open_ == 0)) return;
    }
  }

  void next() {
    const char c = peek();
    if (c == ';' || c == '\n') {
      add(Kind::separator, at_, 1);
      ++at_;
    } else if (starts_name(c)) {
      const std::size_t start = at_;
      while (continues_name(peek())) ++at_;
      add(Kind::name, start, at_ - start);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      symbol();
    }
  }

  void number() {
    const std::size_t start = at_;
    bool whole = true;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      whole = false;
      for (++at_; is_digit(peek());) ++at_;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      whole = false;
      for (at_ += 1 + sign; is_digit(peek());) ++at_;
    }
    if (continues_name(peek()))
      fail_at(text_, at_,
              fmt::format("a number is followed by {}; write an operator between", shown(text_.substr(at_, 1))));
    add(Kind::literal, start, at_ - start, value_of(text_.substr(start, at_ - start), whole));
  }

  // Whole numbers beyond 63 bits are numbers with a fraction's precision.
  static Literal value_of(std::string_view digits, bool whole) {
    std::int64_t value = 0;
    for (const char c : digits)
      whole = whole && !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, c - '0', &value);
    if (whole) return value;
    return std::strtod(std::string(digits).c_str(), nullptr);
  }

  void string(char quote) {
    const std::size_t start = at_++;
    std::string content;
    for (; peek() != quote; ++at_) {
      if (at_ >= text_.size() || peek() == '\n')
        fail_at(text_, start, fmt::format("the string does not end on its line; close it with {}", quote));
      if (content.size() == longest_string)
        fail_at(text_, start, fmt::format("the string is longer than {} characters; shorten it", longest_string));
      content += peek() == '\\' ? escaped() : peek();
    }
    ++at_;
    add(Kind::literal, start, at_ - start, std::move(content));
  }

  char escaped() {
    const char c = peek(1);
    if (c != '\\' && c != '"' && c != '\'' && c != 'n' && c != 't')
      fail_at(text_, at_, "after \\ in a string stands \\, a quote, n or t; write \\\\ for a backslash");
    ++at_;
    return c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }

  void symbol() {
    for (const auto& [sign, advice] : elsewhere)
      if (text_.substr(at_, sign.size()) == sign && !(sign == "!" && peek(1) == '='))
        fail_at(text_, at_, fmt::format("{} is not part of the language; {}", sign, advice));
    constexpr std::string_view known[] = {"...", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "@", "&",
                                          "|",   "~",  "<",  ">",  "=",  "(",  ")", "[", "]", ",", ":", "."};
    for (const std::string_view sign : known) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      if (sign == "(" || sign == "[") ++open_;
      if ((sign == ")" || sign == "]") && open_ > 0) --open_;
      add(Kind::symbol, at_, sign.size());
      at_ += sign.size();
      return;
    }
    const std::u32string rest = draw::decode_utf8(text_.substr(at_, 4));
    fail_at(text_, at_, fmt::format("{} is not part of the language; leave it out", shown(draw::encode_utf8(rest[0]))));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int open_ = 0;  // brackets
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace gradus::study
