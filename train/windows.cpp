#include "train/windows.hpp"

#include <algorithm>
#include <span>

#include "core/error.hpp"
#include "core/random.hpp"
#include "train/hash.hpp"

namespace gradus::train {
namespace {

void check_context(std::int64_t context) {
  if (context < 1) fail("text: a context of {} tokens; give 1 or more", context);
}

// Targets are the inputs one token later.
TextExample row(std::span<const Token> piece, std::int64_t begin, std::int64_t context) {
  const std::int64_t length = std::min(context, std::ssize(piece) - 1 - begin);
  const auto from = piece.begin() + begin;
  return {.inputs = {from, from + length}, .targets = {from + 1, from + 1 + length}};
}

}  // namespace

Windows::Windows(const Pieces& pieces, std::int64_t context) : pieces_(&pieces), context_(context) {
  check_context(context);
  if (pieces.count() == 0) fail("text: no pieces to draw windows from; give a split text");
  for (std::int64_t i = 0; i < pieces.count(); ++i) {
    bounds_.push_back(bounds_.back() + std::max<std::int64_t>(1, std::ssize(pieces.piece(i)) - context));
  }
}

TextExample Windows::at(std::int64_t i) const {
  const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), i);
  const std::int64_t piece = after - bounds_.begin() - 1;
  return row(pieces_->piece(piece), i - *(after - 1), context_);
}

std::vector<TextExample> Windows::training(std::uint64_t seed, std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0) { fail("text: {} training examples from number {}; give 0 or more", count, first); }
  const std::uint64_t stream = hash(seed, "windows");
  std::vector<TextExample> examples;
  examples.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = first; i < first + count; ++i) {
    Generator generator(hash(stream, static_cast<std::uint64_t>(i)));
    examples.push_back(at(generator.integer(0, this->count())));
  }
  return examples;
}

std::vector<TextExample> cover(const Pieces& pieces, std::int64_t context) {
  check_context(context);
  std::vector<TextExample> rows;
  for (std::int64_t i = 0; i < pieces.count(); ++i) {
    const std::span<const Token> piece = pieces.piece(i);
    for (std::int64_t begin = 0; begin < std::ssize(piece) - 1; begin += context) {
      rows.push_back(row(piece, begin, context));
    }
  }
  return rows;
}

}  // namespace gradus::train
