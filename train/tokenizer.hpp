// Characters to numbers and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gradus::train {

/// A token: an index into the vocabulary.
using Token = std::int64_t;

/// Whether a tokenizer has the tokens padding, start and end, which stand for no character.
enum class Specials { no, yes };

/// A tokenizer whose tokens are characters (Unicode code points), numbered in ascending order,
/// after the special tokens where it has them.
class Tokenizer final {
 public:
  static constexpr Token padding = 0;  ///< fills a batch up to its longest row
  static constexpr Token start = 1;    ///< what a decoder reads before it has written anything
  static constexpr Token end = 2;      ///< what a decoder writes last

  /// A tokenizer for the characters that occur in `characters`, in whatever order and number.
  /// Errors: invalid UTF-8.
  Tokenizer(std::string_view characters, Specials specials);

  /// The same, from code points.
  Tokenizer(std::u32string_view characters, Specials specials);

  /// The tokenizer of a saved vocabulary. Errors: an entry that is not one character, an entry that
  /// occurs twice, special tokens that are not the first three.
  static Tokenizer from_vocabulary(std::span<const std::string> vocabulary);

  /// The text of every token in order, special tokens as "<padding>", "<start>", "<end>"; fit for a
  /// JSON list.
  const std::vector<std::string>& vocabulary() const { return vocabulary_; }

  /// The number of tokens, special ones included.
  std::int64_t size() const { return std::ssize(vocabulary_); }

  /// Whether padding, start and end are tokens here.
  bool has_specials() const { return specials_ == Specials::yes; }

  /// One token per character; adds no special tokens.
  /// Errors: invalid UTF-8 (names the byte), a character outside the vocabulary (names it and its
  /// position).
  std::vector<Token> encode(std::string_view text) const;

  /// The same, from code points.
  std::vector<Token> encode(std::u32string_view text) const;

  /// The text of tokens up to the first `end`; `padding` and `start` are left out.
  /// Errors: a token that is no index into the vocabulary.
  std::string decode(std::span<const Token> tokens) const;

 private:
  std::vector<std::string> vocabulary_;
  std::unordered_map<char32_t, Token> tokens_;
  Specials specials_;
};

}  // namespace gradus::train
