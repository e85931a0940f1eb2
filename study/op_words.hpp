// The words of an op, prepared for showing: what the text page and the Markdown page have in common.
#pragma once
#include "core/registry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradus::study {

/// The lines of a text.
std::vector<std::string> lines_of(std::string_view text);

/// The rule's lines, one for each input; `names` gives each input's name where there is a line for every one of them,
/// else it is empty.
struct RuleLines {
  std::vector<std::string> lines, names;
};
RuleLines rule_lines(const OpEntry& op);

/// Whether a line of a rule says that its input has no gradient.
bool says_none(const std::string& rule);

/// `its output`, `nothing`, ...
std::string_view keeps_text(Keep keeps);

/// The NumPy spelling with the parameters' names in place of `{x}`.
std::string numpy_text(const OpEntry& op);

/// `[2, 3]`, `scalar`, `[3] i64`.
std::string shape_text(const Tensor& x);

}  // namespace gradus::study
