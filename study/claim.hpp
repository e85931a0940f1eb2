#pragma once
#include "study/derivation.hpp"
#include "study/difference.hpp"
#include "study/slip.hpp"

#include <string>
#include <vector>

namespace gradus::study {

/// What somebody says a gradient (or a value) is, and what became of it.
struct JudgedClaim {
  std::string name;  ///< `d_S`, or `S` for a value of the forward pass
  bool right = false;
  Tensor claimed = {};         ///< undefined where the expression itself does not fit
  Tensor value = {};           ///< the right one
  int step = -1;               ///< index into Derivation::backward; -1 for a value of the forward pass
  std::string rule = {};       ///< the right line: `d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))`
  Difference difference = {};  ///< empty where the shapes do not fit
  double tolerance = 0;        ///< 1e-6 max(1, max|right|)
  Guess guess = {};
  std::string excerpt = {};  ///< where the expression does not fit: the faulty line and a caret
};

/// Judges claims, one or more to a text: `d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))`. In a text every
/// assigned name that is a value of the derivation or a gradient is a claim, and other names are its own; the last one
/// must be a claim. Every name stands for the right value, also those that an earlier claim got wrong; what a text
/// claims it cannot read before it has claimed it. `scope` holds what the expression could name besides: pass the scope
/// that the derivation was made in. An expression whose shapes do not fit is a wrong claim.
/// Error (LanguageError with a caret) for a syntax error, an unknown name, and a text that claims nothing, listing what
/// can be claimed.
std::vector<JudgedClaim> judge(const Derivation& derivation, const Scope& scope,
                               const std::vector<std::string>& claims);

/// What can be claimed, in the order of the derivation: gradients first, then values.
std::vector<std::string> claimable_names(const Derivation& derivation);

/// The line of backward step `step`, the paths that it adds up, and the lines of what it reads that nobody named:
/// `d_W = X.T @ d_t1`, `d_t1 = d_Y * (1 - Y * Y)`.
std::vector<std::string> rule_lines(const Derivation& derivation, int step);

/// Judges one value as if it had been claimed under that name. Error as judge when the name is unknown.
JudgedClaim judge_value(const Derivation& derivation, const std::string& name, const Tensor& claimed);

}  // namespace gradus::study
