#include "train/tokenizer.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "train/utf8.hpp"

namespace gradus::train {
namespace {

constexpr std::array<std::string_view, 3> special_names{"<padding>", "<start>", "<end>"};

// What a message shows for a character: itself, unless it is invisible, and its code point.
std::string shown(char32_t c) {
  std::string bytes;
  append_utf8(bytes, c);
  const bool invisible = c <= 0x20 || (c >= 0x7f && c <= 0xa0);
  const auto code = static_cast<std::uint32_t>(c);
  return invisible ? fmt::format("U+{:04X}", code) : fmt::format("\"{}\" (U+{:04X})", bytes, code);
}

}  // namespace

Tokenizer::Tokenizer(std::string_view characters, Specials specials) : Tokenizer(decode_utf8(characters), specials) {}

Tokenizer::Tokenizer(std::u32string_view characters, Specials specials) : specials_(specials) {
  if (has_specials()) vocabulary_.assign(special_names.begin(), special_names.end());
  for (const char32_t c : characters) tokens_.try_emplace(c);
  std::u32string sorted;
  for (const auto& entry : tokens_) sorted += entry.first;
  std::sort(sorted.begin(), sorted.end());
  for (const char32_t c : sorted) {
    tokens_[c] = size();
    vocabulary_.push_back(encode_utf8({&c, 1}));
  }
}

Tokenizer Tokenizer::from_vocabulary(std::span<const std::string> vocabulary) {
  const bool special = vocabulary.size() >= special_names.size() &&
                       std::equal(special_names.begin(), special_names.end(), vocabulary.begin());
  Tokenizer tokenizer(std::u32string_view{}, special ? Specials::yes : Specials::no);
  for (std::size_t i = special ? special_names.size() : 0; i < vocabulary.size(); ++i) {
    const std::u32string character = decode_utf8(vocabulary[i]);
    if (character.size() != 1) {
      fail(
          "tokenizer: vocabulary entry {} is \"{}\", of {} characters; an entry is one character, "
          "or the first three are <padding>, <start>, <end>",
          i, vocabulary[i], character.size());
    }
    if (!tokenizer.tokens_.try_emplace(character[0], tokenizer.size()).second) {
      fail("tokenizer: vocabulary entry {}, {}, occurs twice; remove one", i, shown(character[0]));
    }
    tokenizer.vocabulary_.push_back(vocabulary[i]);
  }
  return tokenizer;
}

std::vector<Token> Tokenizer::encode(std::string_view text) const { return encode(decode_utf8(text)); }

std::vector<Token> Tokenizer::encode(std::u32string_view text) const {
  std::vector<Token> tokens;
  tokens.reserve(text.size());
  for (const char32_t c : text) {
    const auto found = tokens_.find(c);
    if (found == tokens_.end()) {
      fail(
          "tokenizer: character {} at position {} is not among the {} characters of the "
          "vocabulary; leave it out, or train on a text that has it",
          shown(c), tokens.size(), tokens_.size());
    }
    tokens.push_back(found->second);
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token token = tokens[i];
    if (token < 0 || token >= size()) {
      fail("tokenizer: token {} at position {} is outside the vocabulary of {}; use 0 to {}", token, i, size(),
           size() - 1);
    }
    if (has_specials() && token == end) break;
    if (has_specials() && (token == padding || token == start)) continue;
    text += vocabulary_[static_cast<std::size_t>(token)];
  }
  return text;
}

}  // namespace gradus::train
