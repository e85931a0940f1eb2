#pragma once
#include "study/language.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::study {

/// Throws LanguageError `column 7: MESSAGE`, with the line too where the text has several, and the excerpt with a caret
/// under byte `at`. Long lines are clipped around it.
[[noreturn]] void fail_at(std::string_view text, std::size_t at, std::string_view message);

/// The candidate that `name` was probably meant to be: few letters differ. Empty when none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// A piece of the text for a message: on one line, at most 40 columns.
std::string shown(std::string_view piece);

}  // namespace gradus::study
