#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradus::study {

/// What a literal stands for: None, a truth value, a number, a string.
using Literal = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// One word of the language.
struct Token {
  enum class Kind : std::uint8_t {
    name,
    literal,    ///< a number or a string
    symbol,     ///< an operator or a bracket
    separator,  ///< `;` or a newline outside brackets
    end,
  };
  Kind kind = Kind::end;
  std::size_t at = 0;     ///< the byte where it starts; for `end`, where the last token ended
  std::string_view text;  ///< as it is written
  Literal literal;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

/// The words of a text, the last of them `end`. Error with a caret for what is no word.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace gradus::study
