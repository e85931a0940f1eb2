#pragma once
#include "study/program.hpp"
#include "study/term.hpp"

#include <functional>

namespace gradus::study {

/// One contribution of one rule to one gradient, as the chain rule made it.
struct Contribution {
  int op = 0;     ///< index into the program's ops: whose rule
  int input = 0;  ///< of that op
  TermPtr term;   ///< the rule, in names
  Tensor dx;
};

/// What the chain rule did, in its order.
struct Trace {
  std::vector<Contribution> contributions;
  std::vector<Tensor> gradients;  ///< for each value of the program; undefined where none was computed
};

/// How terms call values: the name of a value and of its gradient, and a name for a constant that nobody named and that is
/// too long to write out.
struct Naming {
  std::function<std::string(int value)> value;     ///< empty: written out as a literal
  std::function<std::string(int value)> gradient;  ///< `d_S`
  std::function<std::string(const Tensor&)> constant;
};

/// The term of a program's op in names: what a forward step computes.
TermPtr term_of(const RecordedProgram& program, int op, const Naming& naming);

/// `a + b + c`, added from the left as the engine does.
TermPtr sum_of(const std::vector<TermPtr>& terms);

/// Runs the chain rule from the result to `wrt` with the composite rules, and takes down every rule in names.
Trace trace_backward(const RecordedProgram& program, const Tensor& y, const std::vector<Tensor>& wrt,
                     const Tensor& cotangent, const Naming& naming);

}  // namespace gradus::study
