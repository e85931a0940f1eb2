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

/// The id of a figure: `v-4` for what step 4 made, `g-2` for the given quantity 2.
std::string figure_id(const Place& place);

/// A tensor as tables with coloured cells, and a sentence where it is shown in part.
std::string figure(const std::string& name, const Place& place, Language language);

/// A formula in LaTeX as MathML, on a line of its own or within one; one that is not of the subset that draw/formula.hpp reads, as it is.
std::string formula(const std::string& latex, bool block);

/// One step as a section with its formulas, links to what went in, figure, and verdict.
std::string section(const StepView& step, const std::map<std::string, Place, std::less<>>& places, Language language);

/// The numbers of all figures, the sums behind their entries and the words of the script, as JSON that is safe between
/// script tags.
std::string data(const Derivation& derivation, const std::vector<StepView>& steps,
                 const std::map<std::string, Place, std::less<>>& places, Language language);

}  // namespace gradus::study::page
