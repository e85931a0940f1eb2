// The letters, commands and brackets of a formula, before they become a tree.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::draw {

/// A piece of a formula's text.
struct FormulaToken {
  /// `word` is a command with words in braces (\text{if}), `line` a line break, `align` the & of a matrix.
  enum class Kind : std::uint8_t { end, command, word, character, number, open, close, sub, sup, line, align };
  Kind kind = Kind::end;
  std::string text = {};     ///< the character or number; of a command its name without the backslash
  std::string content = {};  ///< of a word
  std::size_t position = 0;  ///< in bytes
  bool spaced = false;       ///< a space stands before it
  int partner = -1;          ///< of a bracket: the token that closes it, or -1; `closing` for that one

  static constexpr int closing = -2;
};

/// The tokens of a formula, one of kind `end` behind them. Brackets that match know their partners. Error for a word
/// whose braces do not close, and for a lone backslash.
std::vector<FormulaToken> formula_tokens(std::string_view latex);

/// Fails with `formula: WHAT at character N of "..."; ADVICE`.
[[noreturn]] void fail_in_formula(std::string_view latex, std::size_t position, std::string_view what,
                                  std::string_view advice);

}  // namespace gradus::draw
