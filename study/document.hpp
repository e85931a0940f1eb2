#pragma once
#include "study/page.hpp"

namespace gradus::study {

/// A derivation as a LaTeX document: what is given, the forward and the backward steps, each with the general rule, the
/// rule in this graph's names, shapes, small matrices and verdict. English compiles with pdflatex and the base packages,
/// Chinese with xelatex and ctex, as its first line says.
std::string to_latex_document(const Derivation& derivation, const PageOptions& options = {});

}  // namespace gradus::study
