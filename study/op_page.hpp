#pragma once
#include "core/registry.hpp"

#include <string>
#include <vector>

// One op, explained from its registry entry alone: formula, rule, derivation, what it keeps, and a worked sample.
namespace gradus::study {

/// For a terminal of that many columns. Matrices stand side by side where both fit.
std::string op_text(const OpEntry& op, int columns);

/// The reference of these ops as a Markdown page (of one: its section): formulas as $$ math, numbers with 4 decimals,
/// the same on every machine.
std::string ops_markdown(const std::vector<const OpEntry*>& ops);

}  // namespace gradus::study
