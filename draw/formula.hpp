#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Formulas: one parser for the subset of LaTeX in which the words of ops and derivations are written, and what shows
// them: plain text for a terminal, MathML for a page.
namespace gradus::draw {

/// A formula as a tree.
struct Formula {
  /// What `text` and `parts` mean.
  enum class Kind : std::uint8_t {
    row,         ///< parts side by side; nothing at all when there are none
    lines,       ///< parts below each other
    identifier,  ///< one letter or sign: x, δ, ∞
    name,        ///< an upright word: hidden
    number,      ///< 0.044715
    function,    ///< an upright word that is applied to what follows: log, sign
    limits,      ///< the same, with its index below: max, and the large operators Σ and ∏
    op,          ///< an operator, a relation or a comma
    text,        ///< words
    space,       ///< a wide space
    fence,       ///< parts[0] between `text` and `closing`
    accent,      ///< the mark `text` over parts[0]: bar, hat, tilde, dot, ddot, vec
    fraction,    ///< parts[0] over parts[1]
    root,        ///< of parts[0]; of degree parts[1] where there are two
    scripts,     ///< parts[0] with the index parts[1] and the power parts[2]; an empty row where there is none
    matrix,      ///< parts in rows of `columns`, between `text` and `closing`
  };
  Kind kind = Kind::row;
  std::string text = {};
  std::string closing = {};
  std::vector<Formula> parts = {};
  int columns = 0;
  bool spaced = false;  ///< a space stood before it
};

/// Reads LaTeX: letters, numbers, operators, brackets that need not match, `_` and `^`, accents, \frac, \sqrt, \sum,
/// \operatorname{...}, \text{...}, Greek letters, functions, pmatrix and its like; lines end with a line break or `\\`.
/// Error naming an unknown command, or what is missing, and its place.
Formula parse_formula(std::string_view latex);

/// On one line of a terminal, `\bar x \odot e^{x_i}` as `x̄ ⊙ e^(x_i)`; lines are separated by line breaks.
std::string to_unicode(const Formula& formula);
/// The same for the text of a formula. Error as parse_formula.
std::string formula_to_unicode(std::string_view latex);

/// A `<math>` element of MathML Core; `block` sets it on a line of its own with its sums in display style. It is
/// well-formed XML, for an HTML page.
std::string to_mathml(const Formula& formula, bool block);
/// The same for the text of a formula. Error as parse_formula.
std::string formula_to_mathml(std::string_view latex, bool block);

}  // namespace gradus::draw
