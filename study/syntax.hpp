#pragma once
#include "study/lexer.hpp"

#include <memory>
#include <string_view>
#include <vector>

// A program as a tree. Left-associative operators and suffixes are lists, not nests, so that the tree is as deep as its
// brackets alone, and may be walked by recursion.
namespace gradus::study {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

/// A part of an expression with what stands before it: an operator, a keyword, or nothing.
struct Part {
  ExpressionPtr value;    ///< null where it may be left out: in a slice, and for the suffix `.T`
  std::string_view sign;  ///< of the operator or suffix (`+`, `.T`, `[`), or the keyword of an argument
  std::size_t at = 0;     ///< where the sign stands
};

/// One node of the tree.
struct Expression {
  enum class Kind : std::uint8_t {
    literal,
    name,
    list,      ///< parts: the items
    call,      ///< parts: the arguments, with their keywords
    unary,     ///< part 0 with its operator
    binary,    ///< part 0, then each further part with the operator before it, from the left
    suffixes,  ///< part 0, then each further part: `.T`, or `[` with an `index`
    index,     ///< parts: what stands between the commas of [...]
    slice,     ///< parts: start, stop, step
    ellipsis,
  };
  Kind kind = Kind::literal;
  std::size_t at = 0;     ///< the byte where it starts
  std::string_view name;  ///< of a name or a function
  Literal literal;
  std::vector<Part> parts;
};

/// `name = expression`, or an expression alone.
struct Statement {
  std::string_view name;  ///< empty when nothing is assigned
  std::size_t at = 0;
  ExpressionPtr value;
};

/// The statements of a text, at least one. Error with a caret. Views into the text stay in the tree.
std::vector<Statement> parse(std::string_view text);

}  // namespace gradus::study
