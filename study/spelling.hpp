#pragma once
#include "core/registry.hpp"
#include "study/term.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

// What the ways to write a term (the expression language, NumPy, LaTeX) have in common: how tightly a piece binds, which
// ops are operators, and how an op that ran reads as a call of its public function.
namespace gradus::study {

/// How tightly a piece of text binds, loosest first, as in Python.
enum class Binding : int { comparison = 1, addition = 4, product = 5, sign = 6, power = 7, atom = 8 };

/// A piece of text and how tightly it binds.
struct Spelled {
  std::string text;
  Binding binding = Binding::atom;
  /// In round brackets when it binds looser than `least`.
  std::string at_least(Binding least) const { return binding < least ? "(" + text + ")" : text; }
};

/// `a + b`, `a @ b`, ... with brackets where they are needed; nothing for an op that is no operator.
std::optional<Spelled> spell_operator(std::string_view op, const std::vector<Spelled>& operands);

/// One argument of a call, as the registry knows the op.
struct Argument {
  const Param* param = nullptr;
  std::vector<int> inputs;  ///< which of the application's inputs (several for a list); empty for an attribute
  Value value;              ///< of an attribute
  bool is_default = false;
};
/// The arguments with which the op's public function does what the application did, in the order of its parameters.
/// Error for an op without a registry entry.
std::vector<Argument> arguments_of(const Application& op);

/// A number so that reading it gives the same double: `0.5`, `sqrt(8)`, `1 / sqrt(8)`.
Spelled spell_number(double value);

/// The bracket of `x[:, 0:3]` or `x[0]` for the ops select and slice; nothing for others.
std::optional<std::string> spell_index(const Application& op);

/// True for ops that swap the last two axes of their input.
bool is_matrix_transpose(const Application& op);

/// Whether a constant is written out in expressions: a number, all elements equal, or few of them.
bool is_literal(const Tensor& constant);

}  // namespace gradus::study
