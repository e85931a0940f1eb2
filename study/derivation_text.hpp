#pragma once
#include "study/derivation.hpp"
#include "study/words.hpp"

namespace gradus::study {

/// What the text of a derivation shows.
struct TextOptions {
  bool values = false;  ///< the matrices, too
  Language language = Language::en;
  int columns = 100;  ///< of the terminal: where things are aligned
};

/// The derivation as text: what is given, the numbered forward steps, and the numbered backward steps, each with the
/// general rule of its op, the rule in this graph's names, shape and verdict. The last line says whether all agree.
std::string to_text(const Derivation& derivation, const TextOptions& options = {});

/// One entry of the gradient of a parameter in scalar form, `W[0,1]`: the sum that made it, in symbols and numbers, then
/// the entries of other gradients that it was made of, back to the cotangent (at most `most` of them). Error for a
/// name or an index that does not exist.
std::string scalar_text(const Derivation& derivation, std::string_view entry, Language language = Language::en,
                        int most = 24);

}  // namespace gradus::study
