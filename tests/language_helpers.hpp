#pragma once
#include "study/language.hpp"

#include <string>
#include <string_view>

// What the tests of the expression language share.

namespace gradus::test {

using study::LanguageError;
using study::Scope;

/// The printed result of a program, tensors as NumPy prints them.
inline std::string shown(std::string_view text, Scope& scope) {
  const Value v = evaluate(text, scope);
  if (const auto* t = v.get_if<Tensor>()) return to_string(*t);
  return to_string(v);
}

inline std::string shown(std::string_view text) {
  Scope scope;
  scope.set("A", tensor({{1, 2}, {3, 4}}, DType::f64));
  scope.set("x", tensor({1, 2, 3}, DType::f64));
  return shown(text, scope);
}

struct Fault {
  std::string text, excerpt;
};

inline Fault fault_of(std::string_view text, Scope& scope) {
  try {
    evaluate(text, scope);
  } catch (const LanguageError& error) { return {error.what(), error.excerpt()}; }
  return {"no error", ""};
}

inline Fault fault_of(std::string_view text) {
  Scope scope;
  scope.set("A", tensor({{1, 2}, {3, 4}}, DType::f64));
  scope.set("x", tensor({1, 2, 3}, DType::f64));
  return fault_of(text, scope);
}

}  // namespace gradus::test
