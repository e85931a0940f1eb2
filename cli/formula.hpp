// The formulas of OpInfo for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace gradus::cli {

/// The LaTeX of an op's words as plain text: `\bar x \odot e^{x_i}` becomes `x̄ ⊙ e^(x_i)`. Commands that it does not
/// know stand as they are.
std::string formula_text(std::string_view latex);

}  // namespace gradus::cli
