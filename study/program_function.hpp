#pragma once
#include "study/language.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gradus::study {

/// A program as a function of one of its variables. All else is held, random draws too: equal arguments give equal
/// results.
class ProgramFunction {
 public:
  /// `variable` is given in the scope, or assigned once by the program. Error for another name, one with two values, and
  /// values that have no gradient.
  ProgramFunction(std::string_view program, const Scope& scope, std::string variable);

  /// The variable's value in the program as it stands, f64 and without a graph.
  const Tensor& x() const { return x_; }
  /// The result of the program with `x` in the variable's place, as a tensor.
  Tensor operator()(const Tensor& x) const;

 private:
  Value run(const std::function<void(Value&)>& meet) const;

  std::string program_;
  Scope scope_;
  std::string variable_;
  bool given_;
  Tensor x_;
};

}  // namespace gradus::study
