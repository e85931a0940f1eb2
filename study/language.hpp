#pragma once
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/value.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The expression language of `gradus eval`, `derive`, `jacobian` and `check`: statements `name = expression`, separated
// by `;` or newlines, `#` starts a comment. Precedence and associativity are Python's. Every registered op is a function
// of the language under its own name.
namespace gradus::study {

/// A mistake in the text of an expression: what() says what and what to do, `excerpt` shows where.
class LanguageError : public Error {
 public:
  LanguageError(const std::string& text, std::string excerpt) : Error(text), excerpt_(std::move(excerpt)) {}
  /// The faulty line, and below it a caret under the fault: two lines, each ending in a newline.
  const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

/// What an expression can name, and what it draws from. Functions have a name space of their own.
class Scope {
 public:
  DType dtype = DType::f64;  ///< of literals, builders and loaded floats
  Generator generator{0};    ///< what randn and its like draw from
  /// Called after each assignment with the name and the value, which it may replace (by a leaf, say).
  std::function<void(const std::string& name, Value& value)> assigned;

  /// The variable of that name, or null.
  const Value* find(std::string_view name) const;
  /// Adds or replaces a variable.
  void set(std::string_view name, Value value);
  /// In the order in which they were first set.
  const std::vector<std::pair<std::string, Value>>& variables() const { return variables_; }

 private:
  std::vector<std::pair<std::string, Value>> variables_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< where each name stands among them
};

/// Runs all statements; the value of the last one, assignment or not. Error: LanguageError with a caret, also around the
/// errors of the ops that are called. Ops run through the registry, so an observer sees them and graphs are recorded.
Value evaluate(std::string_view text, Scope& scope);

/// The names that the text assigns, in order, repeated where it assigns one again. Error as evaluate, for bad syntax.
std::vector<std::string> assigned_names(std::string_view text);

/// Whether a name can be a variable: a letter or underscore, then letters, digits, underscores; not True, False, None.
bool is_identifier(std::string_view name);

/// The value as a tensor of a scope's dtype: a tensor as it is, a number as one of rank 0, a nested list of numbers; true
/// and false as b8. Error naming `what` for anything else.
Tensor as_result(const Value& value, std::string_view what, DType dtype);

}  // namespace gradus::study
