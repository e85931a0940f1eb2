#pragma once
#include "study/derivation.hpp"
#include "study/words.hpp"

#include <map>

// The steps of a derivation as a page or a document says them: forward first, then backward, all of one form.
namespace gradus::study {

/// Where a name's numbers come from.
struct Place {
  int step = 0;         ///< the number of the step that made it; 0 for what was given
  int quantity = 0;     ///< index into Derivation::quantities: the value, or whose gradient it is
  bool forward = true;  ///< a value, not a gradient
  Tensor value;
};

using Places = std::map<std::string, Place, std::less<>>;

/// All names of a derivation, aliases too, with their places.
Places places_of(const Derivation& derivation);

/// One step, forward or backward.
struct StepView {
  int number = 0;
  bool forward = true;
  bool asked = false;   ///< the gradient of a parameter
  std::string name;     ///< of what it makes: `S`, `d_S`, `d_X_via_Q`
  std::string kind;     ///< `forward · softmax`, `sum over paths`: in the language asked for
  std::string premise;  ///< LaTeX of the formula of the op that is reversed; empty forward, for seed and total
  std::string general;  ///< LaTeX of the op's formula or rule; empty for seed and total
  TermPtr term;         ///< null for the seed
  std::string line;     ///< the same as a statement that evaluate accepts
  Tensor value;
  const Verdict* verdict = nullptr;        ///< null forward, and where nothing was compared
  std::vector<std::string> operands;       ///< the names that the term reads, each once, in its order
  std::vector<std::string> parts;          ///< total: the names that it adds up
  std::string total;                       ///< part: the name of the sum that it is part of
  int quantity = 0;                        ///< whose value or gradient it is
  std::vector<std::pair<int, int>> edges;  ///< of the graph, from quantity to quantity, along which it goes

  /// `\bar S = ...` in LaTeX; the name alone for the seed.
  std::string latex() const;
};

/// All steps in the order of their numbers.
std::vector<StepView> steps_of(const Derivation& derivation, Language language);

/// The title of a page that was given none: which gradients are derived.
std::string title_of(const Derivation& derivation, Language language);

/// Whether any step was compared with differences.
bool compared(const Derivation& derivation);

/// What the head of a page says: where the cotangent came from, and how many steps agree.
std::string cotangent_sentence(const Derivation& derivation, Language language);
std::string verdict_sentence(const Derivation& derivation, Language language);

/// `difference 3.1e-10, every entry`.
std::string verdict_text(const Verdict& verdict, Language language);

}  // namespace gradus::study
