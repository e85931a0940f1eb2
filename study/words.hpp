#pragma once
#include <cstdint>
#include <string>
#include <string_view>

// The connecting words of derivations, in every language that they can be read in. Formulas are the same in all.
namespace gradus::study {

enum class Role : std::uint8_t;

/// The language of the words between the formulas.
enum class Language : std::uint8_t { en, zh };

/// `en` or `zh`. Error naming both for anything else.
Language parse_language(std::string_view code);

/// What can be said. `{}` in a text stands for a number or a name: see `say`.
enum class Word : std::uint8_t {
  // headings, as a title is written
  derivation_of,
  program,
  given,
  forward,
  backward,
  graph,
  all_steps,
  // parts of a step, inside a line
  general_rule,
  rule_here,
  expression,
  shape,
  shapes,
  cotangent,
  went_in,
  came_out,
  via,
  // roles
  input,
  parameter,
  constant,
  intermediate,
  result,
  // kinds of steps
  forward_step,
  backward_step,
  seed_step,
  part_step,
  sum_over_paths,
  // verdicts
  every_entry,
  directions,
  kink,
  difference,
  agrees,
  disagrees,
  all_agree,
  one_disagrees,
  some_disagree,
  none_checked,
  cotangent_given,
  cotangent_one,
  cotangent_drawn,
  // the page
  first,
  previous,
  next,
  last,
  play,
  pause,
  copy,
  copied,
  step_of,
  keys_hint,
  entry_hint,
  too_large_for_entries,
  entry_not_prepared,
  no_sum_for_this,
  showing_corner,
  showing_block,
  empty_tensor,
  part_of,
  count,  ///< how many there are; no word
};

/// The text of a word; `{}` where a value goes.
const char* word(Language language, Word word);

/// The text of a word with the values in the places of `{}`, in order.
std::string say(Language language, Word word, std::string_view first, std::string_view second = {},
                std::string_view third = {});

/// Verdict::how (`every entry`, `8 directions`, `kink`) in a language.
std::string say_how(Language language, const std::string& how);

/// The word for what a value is to a derivation.
Word word_of(Role role);

}  // namespace gradus::study
