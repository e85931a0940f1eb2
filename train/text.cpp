#include "train/text.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"
#include "train/hash.hpp"
#include "train/text_file.hpp"

namespace gradus::train {
namespace {

constexpr std::int64_t block_length = 1024;
constexpr std::int64_t fewest = 10;  // of lines or blocks: a tenth must be at least one
constexpr std::size_t longest_average_line = 200;
constexpr std::size_t one_blank_in = 100;

using Lines = std::vector<std::u32string_view>;

bool blank(std::u32string_view line) { return line.find_first_not_of(U" \t") == std::u32string_view::npos; }

Lines lines_of(std::u32string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(U'\n'), text.size());
    lines.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

// Fisher and Yates; std::shuffle differs between libraries.
void shuffle(std::vector<std::size_t>& order, Generator& generator) {
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(generator.integer(0, static_cast<std::int64_t>(i)))]);
  }
}

std::vector<std::size_t> counting(std::size_t n) {
  std::vector<std::size_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

std::size_t tenth(std::size_t n) { return (n + 5) / 10; }

// For each line whether it is held out. Equal lines are drawn together, as a group; a group that
// would exceed the tenth is passed over. Of ten groups or more the smallest never exceeds it, so at
// least one line is held out.
std::vector<bool> draw_lines(const Lines& lines, Generator& generator, std::string_view name) {
  std::vector<std::size_t> sorted = counting(lines.size());
  std::sort(sorted.begin(), sorted.end(),
            [&lines](std::size_t a, std::size_t b) { return lines[a] != lines[b] ? lines[a] < lines[b] : a < b; });
  std::vector<std::size_t> bounds;  // group i is sorted[bounds[i]] to sorted[bounds[i + 1]]
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || lines[sorted[i]] != lines[sorted[i - 1]]) bounds.push_back(i);
  }
  std::vector<std::size_t> groups = counting(bounds.size());
  if (std::ssize(groups) < fewest) {
    fail(
        "text: {} has only {} different lines, and a tenth of them is to be held out; give at "
        "least {}, or a running text of at least {} characters",
        name, groups.size(), fewest, fewest * block_length);
  }
  bounds.push_back(sorted.size());
  shuffle(groups, generator);
  std::vector<bool> held(lines.size(), false);
  std::size_t left = tenth(lines.size());
  for (const std::size_t group : groups) {
    const std::size_t size = bounds[group + 1] - bounds[group];
    if (size > left) continue;
    left -= size;
    for (std::size_t i = bounds[group]; i < bounds[group + 1]; ++i) held[sorted[i]] = true;
  }
  return held;
}

void split_lines(Text& split, std::u32string_view text, Generator& generator, std::string_view name) {
  Lines lines = lines_of(text);
  lines.erase(std::remove_if(lines.begin(), lines.end(), blank), lines.end());
  const std::vector<bool> held = draw_lines(lines, generator, name);
  std::u32string piece;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    piece.assign(U"\n").append(lines[i]).append(U"\n");
    (held[i] ? split.validation : split.training).add(split.tokenizer.encode(piece));
  }
}

void split_blocks(Text& split, std::u32string_view text, Generator& generator, std::string_view name) {
  const std::size_t count = text.size() / block_length;
  if (static_cast<std::int64_t>(count) < fewest) {
    fail(
        "text: {} is a running text of only {} characters, and a tenth of its blocks of {} is to "
        "be held out; give at least {}, or a list of at least {} lines without blank lines",
        name, text.size(), block_length, fewest * block_length, fewest);
  }
  std::vector<std::size_t> order = counting(count);
  shuffle(order, generator);
  std::vector<bool> held(count, false);
  for (std::size_t i = 0; i < tenth(count); ++i) held[order[i]] = true;

  // The newline in front is what precedes the first block: character i of the text is all[i + 1].
  const std::vector<Token> tokens = split.tokenizer.encode(std::u32string(U"\n").append(text));
  const std::span<const Token> all(tokens);
  for (std::size_t block = 0; block < count;) {
    std::size_t next = block + 1;
    while (next < count && !held[block] && !held[next]) ++next;
    const std::size_t begin = block * block_length;
    const std::size_t end = next == count ? text.size() : next * block_length;
    if (held[block]) {
      split.validation.add(all.subspan(begin, end - begin + 1));
    } else {
      split.training.add(all.subspan(begin + 1, end - begin));
    }
    block = next;
  }
}

}  // namespace

std::span<const Token> Pieces::piece(std::int64_t i) const {
  const auto p = static_cast<std::size_t>(i);
  return std::span<const Token>(tokens).subspan(static_cast<std::size_t>(bounds[p]),
                                                static_cast<std::size_t>(bounds[p + 1] - bounds[p]));
}

void Pieces::add(std::span<const Token> piece) {
  tokens.insert(tokens.end(), piece.begin(), piece.end());
  bounds.push_back(std::ssize(tokens));
}

HeldOut kind_of_text(std::u32string_view text) {
  std::size_t lines = 0;
  std::size_t blanks = 0;
  std::size_t characters = 0;
  std::size_t trailing = 0;
  for (const std::u32string_view line : lines_of(text)) {
    if (blank(line)) {
      trailing += lines > 0;
      continue;
    }
    blanks += trailing;
    lines += trailing + 1;
    trailing = 0;
    characters += line.size();
  }
  const bool list = characters <= longest_average_line * (lines - blanks) && blanks * one_blank_in < lines;
  return list ? HeldOut::lines : HeldOut::blocks;
}

Text split_text(std::u32string_view text, std::uint64_t seed, HeldOut held_out, std::string_view name) {
  std::u32string characters(text);
  characters += U'\n';
  Text split{.held_out = held_out == HeldOut::automatic ? kind_of_text(text) : held_out,
             .tokenizer = Tokenizer(characters, Specials::no),
             .training = {},
             .validation = {}};
  Generator generator(hash(seed, "held-out text"));
  if (split.held_out == HeldOut::lines) {
    split_lines(split, text, generator, name);
  } else {
    split_blocks(split, text, generator, name);
  }
  return split;
}

Text load_text(const std::filesystem::path& path, std::uint64_t seed, HeldOut held_out) {
  return split_text(read_text(path), seed, held_out, path.string());
}

}  // namespace gradus::train
