// The rows that a language model reads: windows over the pieces of a text.
#pragma once

#include <cstdint>
#include <vector>

#include "train/text.hpp"

namespace gradus::train {

/// A row for a language model: `targets[t]` is the token that follows `inputs[t]`. Rows of a list
/// differ in length.
struct TextExample {
  std::vector<Token> inputs;
  std::vector<Token> targets;
};

/// The windows of up to `context` tokens over pieces, to train on. A window stays inside its piece;
/// a piece shorter than the context is one window; every window is equally likely. The pieces must
/// outlive it.
class Windows final {
 public:
  /// Errors: a context below 1, no pieces.
  Windows(const Pieces& pieces, std::int64_t context);

  /// The number of different windows.
  std::int64_t count() const { return bounds_.back(); }

  /// Window number i, of 0 to count() - 1.
  TextExample at(std::int64_t i) const;

  /// Training examples number `first` to `first + count - 1`. Example i depends on the seed and i
  /// alone: a run that resumes needs no other state than its position. Errors: a negative number.
  std::vector<TextExample> training(std::uint64_t seed, std::int64_t first, std::int64_t count) const;

 private:
  const Pieces* pieces_;
  std::int64_t context_;
  std::vector<std::int64_t> bounds_ = {0};  // piece p has the windows bounds_[p] to bounds_[p + 1]
};

/// Rows of up to `context` tokens that predict every token of the pieces exactly once, to validate
/// on: the sum of their losses over `pieces.predicted()` is the mean per character. Errors: a
/// context below 1.
std::vector<TextExample> cover(const Pieces& pieces, std::int64_t context);

}  // namespace gradus::train
