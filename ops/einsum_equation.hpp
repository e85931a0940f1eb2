#pragma once
#include "core/tensor_list.hpp"

#include <string>
#include <string_view>
#include <vector>

// Reading the equation of einsum: one letter per axis, spaces dropped, ellipses spelled out, the output always
// explicit.
namespace gradus::einsum_detail {

inline constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

inline bool holds(std::string_view letters, char c) { return letters.find(c) != std::string_view::npos; }

/// What stands for each operand's axes and for the result's.
struct Equation {
  std::vector<std::string> terms;
  std::string output;
  std::string text() const { return fmt::format("{}->{}", fmt::join(terms, ","), output); }
};

/// The equation as the user wrote it with the operands, for error messages.
struct Source {
  std::string text;
  TensorList operands;

  template <class... A>
  [[noreturn]] void refuse(fmt::format_string<A...> what, A&&... values) const {
    std::string shapes;
    for (const Tensor& x : operands) shapes += (shapes.empty() ? "" : ", ") + to_string(x.shape());
    fail("einsum: \"{}\" with shapes {}: {}", text, shapes, fmt::vformat(what, fmt::make_format_args(values...)));
  }
};

/// Terms between commas, "..." kept, spaces gone; `output` and whether "->" was there.
struct RawEquation {
  std::vector<std::string> terms;
  std::string output;
  bool is_explicit = false;
};

inline RawEquation split_equation(const Source& source) {
  RawEquation raw{{""}, "", false};
  for (std::size_t i = 0; i < source.text.size(); ++i) {
    const std::string_view rest = std::string_view(source.text).substr(i);
    std::string& term = raw.is_explicit ? raw.output : raw.terms.back();
    if (rest[0] == ' ') continue;
    if (holds(alphabet, rest[0])) term += rest[0];
    else if (rest[0] == ',' && !raw.is_explicit) raw.terms.emplace_back();
    else if (rest.starts_with("->") && !raw.is_explicit) raw.is_explicit = true, ++i;
    else if (rest.starts_with("...") && !holds(term, '.')) term += "...", i += 2;
    else
      source.refuse("'{}' at position {} is out of place; write letters, commas, one \"...\" a term and one \"->\"",
                    rest[0], i);
  }
  return raw;
}

/// Letters that the equation does not use, one for each axis under the longest ellipsis.
inline std::string ellipsis_letters(const Source& source, const RawEquation& raw) {
  std::size_t longest = 0;
  for (std::size_t k = 0; k < raw.terms.size(); ++k) {
    const bool dots = holds(raw.terms[k], '.');
    const std::size_t letters = raw.terms[k].size() - (dots ? 3 : 0);
    const auto rank = static_cast<std::size_t>(source.operands[k].rank());
    if (dots ? letters > rank : letters != rank)
      source.refuse("term \"{}\" names {} axes, operand {} has {}; name each axis once{}", raw.terms[k], letters, k,
                    rank, dots ? "" : ", or use \"...\"");
    if (dots) longest = std::max(longest, rank - letters);
  }
  std::string letters;
  for (const char c : alphabet) {
    if (letters.size() == longest) return letters;
    if (!holds(source.text, c)) letters += c;
  }
  if (letters.size() < longest) source.refuse("no letters are left for \"...\"; name those axes");
  return letters;
}

/// The term with its ellipsis replaced by the last `count` of `letters`.
inline std::string without_dots(std::string term, const std::string& letters, std::size_t count) {
  const std::size_t at = term.find("...");
  if (at != std::string::npos) term.replace(at, 3, letters.substr(letters.size() - count));
  return term;
}

/// NumPy's implicit output: the axes under "...", then the letters that occur once, in alphabetical order (capitals
/// first).
inline std::string implicit_output(const RawEquation& raw, const std::string& dots) {
  std::string all, once;
  for (const std::string& term : raw.terms) all += term;
  for (const char c : alphabet)
    if (std::count(all.begin(), all.end(), c) == 1) once += c;
  std::sort(once.begin(), once.end());
  return dots + once;
}

/// Each letter has one extent, wherever it stands: an axis of extent 1 is not repeated.
inline void check_extents(const Source& source, const Equation& equation) {
  struct Seen {
    std::int64_t n = -1;
    std::size_t operand = 0;
  };
  std::array<Seen, 128> seen{};
  for (std::size_t k = 0; k < equation.terms.size(); ++k)
    for (std::size_t i = 0; i < equation.terms[k].size(); ++i) {
      const char c = equation.terms[k][i];
      const std::int64_t n = source.operands[k].shape()[static_cast<int>(i)];
      Seen& first = seen[static_cast<std::size_t>(c)];
      if (first.n < 0) first = {n, k};
      if (first.n != n)
        source.refuse("{} has extent {} in operand {} and {} in operand {}; make them equal{}",
                      holds(source.text, c) ? fmt::format("index {}", c) : std::string("an axis under \"...\""),
                      first.n, first.operand, n, k,
                      n == 1 || first.n == 1 ? ", an extent of 1 is repeated by expand only" : "");
    }
}

inline void check_output(const Source& source, const Equation& equation) {
  for (std::size_t i = 0; i < equation.output.size(); ++i) {
    const char c = equation.output[i];
    if (equation.output.find(c) != i)
      source.refuse("index {} stands twice in the output; use diag for a diagonal matrix", c);
    bool known = false;
    for (const std::string& term : equation.terms) known = known || holds(term, c);
    if (!known) source.refuse("output index {} stands in no input; use expand for a new axis", c);
  }
}

/// Reads and checks the equation against the operands' shapes.
inline Equation read_equation(std::string_view text, TensorList operands) {
  const Source source{std::string(text), operands};
  const RawEquation raw = split_equation(source);
  if (raw.terms.size() != operands.size())
    source.refuse("{} terms for {} operands; write one term for each, with commas between", raw.terms.size(),
                  operands.size());
  const std::string dots = ellipsis_letters(source, raw);
  Equation equation;
  for (std::size_t k = 0; k < raw.terms.size(); ++k) {
    const std::string& term = raw.terms[k];
    const std::size_t named = term.size() - (holds(term, '.') ? 3 : 0);
    equation.terms.push_back(without_dots(term, dots, static_cast<std::size_t>(operands[k].rank()) - named));
  }
  if (raw.is_explicit && !dots.empty() && !holds(raw.output, '.'))
    source.refuse("the output lacks \"...\"; write it there, or name those axes to sum over them");
  equation.output = raw.is_explicit ? without_dots(raw.output, dots, dots.size()) : implicit_output(raw, dots);
  check_output(source, equation);
  check_extents(source, equation);
  return equation;
}

}  // namespace gradus::einsum_detail
