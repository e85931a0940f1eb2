#include "study/operators.hpp"

#include "study/excerpt.hpp"

namespace gradus::study {

int precedence(const Token& token) {
  if (token.kind != Token::Kind::symbol) return no_operator;
  const std::string_view s = token.text;
  if (s == "==" || s == "!=" || s == "<" || s == "<=" || s == ">" || s == ">=") return comparison;
  if (s == "|") return 2;
  if (s == "&") return 3;
  if (s == "+" || s == "-") return 4;
  if (s == "*" || s == "/" || s == "@") return 5;
  return no_operator;
}

void fail_after_statement(std::string_view text, const Token& token) {
  const auto fail_here = [&](std::string_view message) { fail_at(text, token.at, message); };
  if (token.is("=")) fail_here("only a name can be assigned to, as in A = softmax(S); compare with ==");
  if (token.is(")") || token.is("]")) fail_here(fmt::format("{} closes nothing; leave it out", token.text));
  if (token.is("(")) fail_here("only a function's name can be called; write * for a product");
  if (token.is(",")) fail_here("a comma stands only inside brackets; write [a, b] for a list, ; between statements");
  fail_at(text, token.at,
          fmt::format("{} follows a complete expression; write an operator before it, or ; between statements",
                      shown(token.text)));
}

void fail_no_value(std::string_view text, const Token* before, const Token& token) {
  const auto fail_here = [&](std::string_view message) { fail_at(text, token.at, message); };
  if (token.kind == Token::Kind::end || token.kind == Token::Kind::separator)
    fail_here("the expression ends where a value is expected; complete it");
  if (token.is("=") && before && precedence(*before) != no_operator)
    fail_here(fmt::format("there is no {0}=; write x = x {0} y", before->text));
  if (token.is("...") || token.is(":"))
    fail_here(fmt::format("{} stands only in an index, as in x[..., 0:3]", token.text));
  fail_at(text, token.at, fmt::format("{} stands where a value is expected; write one before it", shown(token.text)));
}

}  // namespace gradus::study
