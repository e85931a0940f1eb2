#pragma once
#include <string>
#include <string_view>
#include <vector>

// Sentences with formulas in them, without marks between the two: the derivations and reasons of ops, such as
// `Along one row \partial y_i / \partial x_j = y_i (\delta_{i j} - y_j), so ...`.
namespace gradus::draw {

/// A stretch of a sentence: words as they stand, or the LaTeX of a formula.
struct ProsePart {
  std::string text;
  bool formula = false;
};

/// Tells words and formulas apart. A formula is what holds a command, an index or a power, a single letter, or an
/// operation on numbers and single letters; the articles `a` and `A` are words where no operator stands beside them.
/// Line breaks count as spaces. The parts in order are the whole text.
std::vector<ProsePart> prose_parts(std::string_view text);

/// For a terminal: formulas as to_unicode writes them. Error as parse_formula.
std::string prose_to_unicode(std::string_view text);
/// For an HTML page: words escaped, formulas as inline `<math>`. Error as parse_formula.
std::string prose_to_html(std::string_view text);
/// For a Markdown page or a LaTeX document: formulas between dollars, words escaped for it.
std::string prose_to_markdown(std::string_view text);
std::string prose_to_latex(std::string_view text);

}  // namespace gradus::draw
