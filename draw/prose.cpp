#include "draw/prose.hpp"

#include "draw/formula.hpp"
#include "draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace gradus::draw {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_punctuation(char c) { return c == '.' || c == ',' || c == ';' || c == ':' || c == '?'; }
bool among(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

enum class Sort : std::uint8_t {
  prose,
  formula,  // wherever it stands
  number,   // part of a formula beside one
  joint,    // an operator: part of a formula between two
  article,  // `a` or `A`
};

/// A word: text between spaces outside braces.
struct Word {
  std::string text;
  Sort sort = Sort::prose;
  bool breaks = false;  // a sentence or clause ends behind it
};

int open_brackets(std::string_view text) {
  int open = 0;
  for (const char c : text) open += among(c, "([") ? 1 : among(c, ")]") ? -1 : 0;
  return open;
}

bool only_operators(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return among(c, "=+-*/<>|?:!"); });
}

/// Numbers, single letters and signs, with nothing that a word would have.
bool is_symbolic(std::string_view text) {
  if (text.empty() || text.front() == '\'') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool beside_letter = i + 1 < text.size() && (is_letter(text[i + 1]) || is_digit(text[i + 1]));
    if (is_letter(c) && beside_letter) return false;
    if (is_digit(c) && i + 1 < text.size() && is_letter(text[i + 1])) return false;
    if (c == '\'' && beside_letter) return false;
    if (!is_letter(c) && !is_digit(c) && !among(c, "=+-*/<>|?:!()[]'.,")) return false;
  }
  return true;
}

/// `x_i`, but not `log_target`: an index behind a single letter or a bracket.
bool has_index(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '_' &&
        (among(text[i - 1], ")]}") || (is_letter(text[i - 1]) && (i == 1 || !is_letter(text[i - 2])))))
      return true;
  return false;
}

Sort sort_of(std::string_view text) {
  if (text.find('\\') != std::string_view::npos) return Sort::formula;
  if (text.find('^') != std::string_view::npos || has_index(text)) return Sort::formula;
  if (text == "a" || text == "A") return Sort::article;
  if (only_operators(text)) return Sort::joint;
  if (!is_symbolic(text)) return Sort::prose;
  return std::any_of(text.begin(), text.end(), is_letter) ? Sort::formula : Sort::number;
}

/// Without the marks that belong to the sentence: closing punctuation, brackets without a partner.
std::string_view core_of(std::string_view text) {
  int open = open_brackets(text);
  while (!text.empty()) {
    if (is_punctuation(text.back()) && text.size() > 1) text.remove_suffix(1);
    else if (among(text.back(), ")]") && open < 0) text.remove_suffix(1), ++open;
    else if (among(text.front(), "([") && open > 0) text.remove_prefix(1), --open;
    else break;
  }
  return text;
}

/// Whether an `a` or `A` names something: a capital within a sentence, or what no article stands before.
bool is_variable(const std::vector<Word>& words, std::size_t i) {
  constexpr std::string_view no_nouns[] = {"and", "or", "is", "are", "has", "with"};
  const bool starts = i == 0 || (words[i - 1].text.size() > 1 && among(words[i - 1].text.back(), ".:;"));
  if (core_of(words[i].text) == "A" && !starts) return true;
  if (words[i].breaks || i + 1 == words.size()) return true;
  return std::find(std::begin(no_nouns), std::end(no_nouns), words[i + 1].text) != std::end(no_nouns);
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::string word;
  int depth = 0;
  const auto finish = [&] {
    if (word.empty()) return;
    words.push_back({word});
    word.clear();
  };
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' && depth > 0 ? -1 : 0;
    const bool space = c == ' ' || c == '\n' || c == '\t';
    // `sqrt(sum(x * x))` is one word
    const bool call = space && depth == 0 && word.size() > 2 && is_letter(word[0]) && is_letter(word[1]) &&
                      open_brackets(word) > 0 && sort_of(core_of(word)) == Sort::prose;
    if (space && depth == 0 && !call) finish();
    else word += space ? ' ' : c;
  }
  finish();
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word& w = words[i];
    w.sort = sort_of(core_of(w.text));
    w.breaks = w.text.size() > 1 && is_punctuation(w.text.back());
    if (w.sort == Sort::article && is_variable(words, i)) w.sort = Sort::formula;
  }
  return words;
}

/// The words [first, last) that belong to one formula beginning at `first`; empty when none does.
std::size_t end_of_formula(const std::vector<Word>& words, std::size_t first) {
  std::size_t last = first;
  int open = 0;
  while (last < words.size() && words[last].sort != Sort::prose) {
    open += open_brackets(words[last].text);
    if (words[last++].breaks && open <= 0) break;
  }
  const auto drop = [&](const Word& w) { return w.sort == Sort::joint || w.sort == Sort::article; };
  while (last > first && drop(words[last - 1]) &&
         !(words[last - 1].sort == Sort::article && last - first > 1 && words[last - 2].sort == Sort::joint))
    --last;
  const auto begins = words.begin() + static_cast<std::ptrdiff_t>(first);
  const auto ends = words.begin() + static_cast<std::ptrdiff_t>(last);
  const bool any = std::any_of(begins, ends, [](const Word& w) { return w.sort == Sort::formula; });
  const bool operation =
      last - first > 2 && std::any_of(begins, ends, [](const Word& w) { return w.sort == Sort::joint; });
  return any || operation ? last : first;
}

/// Whether a formula can begin with that word: an article only before an operator.
bool can_begin(const std::vector<Word>& words, std::size_t i) {
  if (words[i].sort == Sort::article) return i + 1 < words.size() && words[i + 1].sort == Sort::joint;
  return words[i].sort != Sort::prose;
}

void append(std::vector<ProsePart>& parts, std::string_view text, bool formula) {
  if (text.empty()) return;
  if (!parts.empty() && parts.back().formula == formula) parts.back().text += text;
  else parts.push_back({std::string(text), formula});
}

/// Splits what the sentence owns off both ends of a formula.
void append_formula(std::vector<ProsePart>& parts, std::string_view text) {
  const std::string_view core = core_of(text);
  const auto before = static_cast<std::size_t>(core.data() - text.data());
  append(parts, text.substr(0, before), false);
  append(parts, core, true);
  append(parts, text.substr(before + core.size()), false);
}

std::string escaped_words(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) out += among(c, special) ? std::string{'\\', c} : std::string(1, c);
  return out;
}

template <class Words, class Formulas>
std::string joined(std::string_view text, Words&& words, Formulas&& formulas) {
  std::string out;
  for (const ProsePart& part : prose_parts(text)) out += part.formula ? formulas(part.text) : words(part.text);
  return out;
}

}  // namespace

std::vector<ProsePart> prose_parts(std::string_view text) {
  const std::vector<Word> words = words_of(text);
  std::vector<ProsePart> parts;
  for (std::size_t i = 0; i < words.size();) {
    if (i > 0) append(parts, " ", false);
    const std::size_t end = can_begin(words, i) ? end_of_formula(words, i) : i;
    if (end == i) {
      append(parts, words[i++].text, false);
      continue;
    }
    std::string formula = words[i++].text;
    for (; i < end; ++i) formula += " " + words[i].text;
    append_formula(parts, formula);
  }
  return parts;
}

std::string prose_to_unicode(std::string_view text) {
  return joined(
      text, [](const std::string& words) { return words; },
      [](const std::string& latex) { return formula_to_unicode(latex); });
}

std::string prose_to_html(std::string_view text) {
  const std::vector<ProsePart> parts = prose_parts(text);
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& words = parts[i].text;
    if (!parts[i].formula) {
      out += escaped(words);
      continue;
    }
    const std::string math = formula_to_mathml(words, false);
    const std::string_view next = i + 1 < parts.size() ? std::string_view(parts[i + 1].text) : std::string_view();
    const std::size_t marks = std::min(next.find(' '), next.size());
    // A comma stays on the line of its formula.
    out += marks == 0
               ? math
               : fmt::format(R"(<span style="white-space:nowrap">{}{}</span>)", math, escaped(next.substr(0, marks)));
    if (marks > 0) out += escaped(parts[++i].text.substr(marks));
  }
  return out;
}

std::string prose_to_markdown(std::string_view text) {
  return joined(
      text, [](const std::string& words) { return escaped_words(words, "\\`*_<>$[]"); },
      [](const std::string& latex) { return "$" + latex + "$"; });
}

std::string prose_to_latex(std::string_view text) {
  return joined(
      text, [](const std::string& words) { return escaped_words(words, "_%&#${}"); },
      [](const std::string& latex) { return "$" + latex + "$"; });
}

}  // namespace gradus::draw
