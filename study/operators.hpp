#pragma once
#include "study/lexer.hpp"

namespace gradus::study {

/// How tightly a binary operator other than ** binds: comparisons, |, &, + -, * / @, from loose to tight.
enum Precedence : int { no_operator = 0, comparison = 1 };
/// `no_operator` for other tokens.
int precedence(const Token& token);

/// Throws what is wrong with a token that follows a complete statement.
[[noreturn]] void fail_after_statement(std::string_view text, const Token& token);

/// Throws what is wrong with a token that stands where a value should; `before` is the one before it, or null.
[[noreturn]] void fail_no_value(std::string_view text, const Token* before, const Token& token);

}  // namespace gradus::study
