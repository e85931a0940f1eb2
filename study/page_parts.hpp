#pragma once
#include "study/page.hpp"
#include "study/shown_part.hpp"
#include "study/step_view.hpp"

#include <string_view>

// The pieces that study/page.cpp puts together. The numbers of a tensor are on the page once, in the figure of the step
// that made it; the script copies that figure to wherever the tensor is read.
namespace gradus::study::page {

/// study/page/page.css and study/page/page.js, embedded by the build.
extern const std::string_view style, script;

/// What all pieces of one page read.
struct Context {
  const Derivation& derivation;
  Language language;
  std::vector<StepView> steps;
  Places places;
  std::int64_t most_rows;  ///< and columns of a matrix that are shown: 16, or fewer where there are many matrices

  Context(const Derivation& d, Language l);
  const Place& place(const std::string& name) const { return places.find(name)->second; }
  const char* say(Word what) const { return word(language, what); }
};

/// The id of a figure: `v-4` for what step 4 made, `g-2` for the given quantity 2.
std::string figure_id(const Place& place);

/// A tensor as tables with coloured cells, and a sentence where it is shown in part.
std::string figure(const Context& page, const std::string& name);

/// A formula in LaTeX as MathML, on a line of its own or within one; one that is not of the subset that
/// draw/formula.hpp reads, as it is.
std::string formula(const std::string& latex, bool block);

/// One step as a section with its formulas, links to what went in, figure, and verdict.
std::string section(const Context& page, const StepView& step);

/// The numbers of all figures, the sums behind their entries and the words of the script, as JSON that is safe between
/// script tags.
std::string data(const Context& page);

}  // namespace gradus::study::page
