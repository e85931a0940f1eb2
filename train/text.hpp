// A text to learn from, and the tenth of it that is only for validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "train/tokenizer.hpp"

namespace gradus::train {

/// What is drawn for validation: lines of a list, or blocks of 1,024 characters of a running text.
enum class HeldOut { automatic, lines, blocks };

/// Tokens in pieces that have nothing to do with each other. The first token of a piece is read,
/// never predicted.
struct Pieces {
  std::vector<Token> tokens;               ///< all pieces, one after the other
  std::vector<std::int64_t> bounds = {0};  ///< piece i is tokens bounds[i] to bounds[i + 1]

  /// The number of pieces.
  std::int64_t count() const { return std::ssize(bounds) - 1; }

  /// The number of tokens to predict: all but the first of each piece.
  std::int64_t predicted() const { return std::ssize(tokens) - count(); }

  /// Piece number i.
  std::span<const Token> piece(std::int64_t i) const;

  /// Appends a piece.
  void add(std::span<const Token> piece);
};

/// A text, split. In a list a piece is a newline (read) and a line with the newline that ends it
/// (predicted). In a running text a training piece is a stretch between held-out blocks, a
/// validation piece is the character before a block (read) and the block (predicted). No held-out
/// character is ever read or predicted in training.
struct Text {
  HeldOut held_out;     ///< lines or blocks
  Tokenizer tokenizer;  ///< the characters of the whole text, and the newline; no special tokens
  Pieces training;
  Pieces validation;
};

/// Whether a text is a list (`lines`) or a running text (`blocks`).
///
/// A list has lines of at most 200 characters on average, and fewer than one blank line in a
/// hundred. Blank lines mean that the lines around them belong together: verse and plays have short
/// lines and are no lists. Blank lines before the first and after the last line do not count.
HeldOut kind_of_text(std::u32string_view text);

/// Splits a text whose line ends are `\n`; `name` is what errors call it.
///
/// Lines: a tenth of the lines, drawn by the seed, blank ones left out; equal lines are on the same
/// side, so that a held-out line is an unseen line. Blocks: a tenth of the blocks of 1,024
/// characters, drawn by the seed (the last block takes the remainder too). Errors: fewer than ten
/// different lines, or fewer than ten blocks.
Text split_text(std::u32string_view text, std::uint64_t seed, HeldOut held_out = HeldOut::automatic,
                std::string_view name = "the text");

/// Reads a file (see read_text, with its errors) and splits it.
Text load_text(const std::filesystem::path& path, std::uint64_t seed, HeldOut held_out = HeldOut::automatic);

}  // namespace gradus::train
