#pragma once
#include "study/derivation.hpp"
#include "study/words.hpp"

namespace gradus::study {

/// What a page or a document says around the steps.
struct PageOptions {
  std::string title = {};    ///< without it: `Derivation of d_W_Q, d_W_K`
  std::string program = {};  ///< the text that was derived, shown as it is
  Language language = Language::en;
};

/// A derivation as one HTML page that opens from disk: the graph, and every step with its formulas, matrices and
/// verdict. With JavaScript one step at a time, by buttons, arrow keys or `#step-12`, and for an entry that is chosen
/// the sum that made it; without it the list of all steps. Matrices beyond 16 rows or columns, and tensors beyond 4
/// matrices, are shown in part and say so. It loads nothing: a content security policy forbids it.
std::string to_html(const Derivation& derivation, const PageOptions& options = {});

}  // namespace gradus::study
