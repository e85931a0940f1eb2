#include "train/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/random.hpp"

namespace gradus::train {
namespace {

constexpr std::int64_t shortest = 3;
constexpr std::int64_t longest = 12;
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";

std::string draw_letters(Generator& generator) {
  std::string text(static_cast<std::size_t>(generator.integer(shortest, longest + 1)), ' ');
  for (char& c : text) { c = letters[static_cast<std::size_t>(generator.integer(0, std::ssize(letters)))]; }
  return text;
}

std::int64_t draw_number(Generator& generator) {
  switch (generator.integer(1, 4)) {
    case 1: return generator.integer(0, 10);
    case 2: return generator.integer(10, 100);
    default: return generator.integer(100, 1000);
  }
}

Drawn draw_copy(Generator& generator) {
  const std::string source = draw_letters(generator);
  return {.pair = {.source = source, .target = source}, .identity = source};
}

Drawn draw_reverse(Generator& generator) {
  const std::string source = draw_letters(generator);
  return {.pair = {.source = source, .target = {source.rbegin(), source.rend()}}, .identity = source};
}

Drawn draw_sort(Generator& generator) {
  const std::string source = draw_letters(generator);
  std::string target = source;
  std::sort(target.begin(), target.end());
  return {.pair = {.source = source, .target = target}, .identity = target};
}

Drawn draw_add(Generator& generator) {
  const std::int64_t a = draw_number(generator);
  const std::int64_t b = draw_number(generator);
  return {.pair = {.source = fmt::format("{}+{}", a, b), .target = fmt::format("{}", a + b)},
          .identity = fmt::format("{}+{}", std::min(a, b), std::max(a, b))};
}

PairTask letters_task(std::string name, std::string description, std::int64_t steps, Drawn (*draw)(Generator&)) {
  return {.name = std::move(name),
          .description = std::move(description),
          .source_alphabet = std::string(letters),
          .target_alphabet = std::string(letters),
          .longest_source = longest,
          .longest_target = longest,
          .target = 0.99,
          .defaults = {.steps = steps},
          .draw = draw};
}

}  // namespace

PairTask copy_task() { return letters_task("copy", "A word to itself: \"gradus\" to \"gradus\".", 400, draw_copy); }

PairTask reverse_task() {
  return letters_task("reverse", "A word to its reverse: \"gradus\" to \"sudarg\".", 1000, draw_reverse);
}

PairTask sort_task() {
  return letters_task("sort", "A word to its letters in order: \"gradus\" to \"adgrsu\".", 1200, draw_sort);
}

PairTask add_task() {
  return {.name = "add",
          .description = "Two numbers of up to three digits to their sum: \"37+485\" to \"522\".",
          .source_alphabet = "+0123456789",
          .target_alphabet = "0123456789",
          .longest_source = 7,
          .longest_target = 4,
          .target = 0.99,
          .defaults = {.steps = 3000, .learning_rate = 3e-3},
          .draw = draw_add};
}

}  // namespace gradus::train
