#pragma once
#include "study/language.hpp"
#include "study/term.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradus::study {

/// What a value is to the derivation.
enum class Role : std::uint8_t { input, parameter, constant, intermediate, result };
/// `input`, `parameter` (its gradient was asked for), `constant`, `intermediate`, `result`.
const char* to_string(Role role);

/// How a gradient compares with central differences of sum(result * cotangent) in f64: max|a - n| / max(|a|, |n|, 1e-3).
struct Verdict {
  double difference = 0;
  bool ok = false;  ///< the difference is at most 1e-6, or the point is a kink and the rule lies between both slopes
  std::string how;  ///< `every entry`, `8 directions`, `kink`, `not finite`
};

/// One value of the forward pass, with its gradient.
struct Quantity {
  std::string name;
  Tensor value;
  Tensor gradient;  ///< of sum(result * cotangent); undefined where it does not lead from the parameters to the result
  Role role = Role::intermediate;
  int made_by = -1;  ///< index into Derivation::forward; -1 for what was given
};

/// One op of the forward pass.
struct ForwardStep {
  int number = 0;  ///< from 1, as printed
  std::shared_ptr<const Application> op;
  std::vector<int> inputs;  ///< indices into quantities; -1 where an optional tensor was not given
  int output = 0;           ///< index into quantities
  TermPtr term;             ///< what it computes
  std::string line;         ///< `S = Q @ K.T / sqrt(4)`: a statement that evaluate accepts
};

/// One line of the backward pass.
struct BackwardStep {
  /// Where it comes from.
  enum class Kind : std::uint8_t {
    seed,   ///< the cotangent of the result
    rule,   ///< all of a gradient, by one op's rule
    part,   ///< one path's share of a gradient
    total,  ///< the sum over all paths
  };
  int number = 0;  ///< continues the forward numbers
  Kind kind = Kind::rule;
  std::string name;        ///< `d_S`; a part is `d_X_via_Q`
  int quantity = 0;        ///< whose gradient
  int through = -1;        ///< rule and part: index into forward of the op that is reversed
  int input = -1;          ///< rule and part: which of its inputs
  std::vector<int> parts;  ///< total: indices into backward
  std::string rule;        ///< the op's general rule for this input, LaTeX (OpInfo::rule); empty for seed and total
  TermPtr term;            ///< the rule in this graph's names
  std::string line;        ///< `d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))`: evaluate accepts it
  Tensor value;
  Verdict verdict;
};

/// A forward and a backward pass, step by step.
struct Derivation {
  std::vector<Quantity> quantities;
  std::vector<ForwardStep> forward;
  std::vector<BackwardStep> backward;
  std::vector<std::pair<std::string, int>> aliases;  ///< further names of a quantity
  int result = 0;
  std::vector<int> parameters;
  Tensor cotangent;
  bool cotangent_drawn = false;  ///< nobody gave it and the result is no single element

  /// The index of the quantity with that name or alias, or -1.
  int find(std::string_view name) const;
  /// The value called `S` or the gradient called `d_S` or `d_X_via_Q`; undefined when there is none.
  Tensor value_of(std::string_view name) const;
  /// How many backward steps have a cross.
  int crosses() const;
};

/// How to derive.
struct DeriveOptions {
  Tensor cotangent = {};   ///< of the result; without it: one for a single element, else drawn from `seed`
  std::uint64_t seed = 0;  ///< of a drawn cotangent and of random directions
  bool verify = true;      ///< compare with differences; without it verdicts are empty
};

/// The steps from `wrt` to `y`, on a graph made while a `Record` lives (errors without one, or when y was not made under
/// it). Everything is f64; f32 values are an error that says to cast.
Derivation derive(const Tensor& y, const std::vector<Tensor>& wrt, const DeriveOptions& options = {});

/// The same for the text of a program: `wrt` names variables of the scope or of the program. A variable `cotangent` of
/// the scope is the cotangent unless the options give one. After it the scope holds what the program assigned.
Derivation derive(std::string_view program, Scope& scope, const std::vector<std::string>& wrt,
                  const DeriveOptions& options = {});

}  // namespace gradus::study
