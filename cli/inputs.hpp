// What eval, derive, jacobian and check have in common: where their arrays come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "study/language.hpp"

namespace CLI {
class App;
}

namespace gradus::cli {

/// The options of a command that evaluates an expression.
struct Inputs {
  std::vector<std::string> files;  ///< --in: .npz files, later ones override
  std::vector<std::string> sets;   ///< --set: `name=expression`
  DType dtype = DType::f64;
  std::uint64_t seed = 0;
};

/// Adds --in, --set, --dtype and --seed.
void add_inputs(CLI::App& app, Inputs& inputs);

/// Adds --seed, a whole number from 0 on, which is `of_what`.
void add_seed(CLI::App& app, std::uint64_t& seed, const std::string& of_what);

/// Adds the required EXPR.
void add_program(CLI::App& app, std::string& program);

/// The text of EXPR: `-` stands for standard input.
std::string program_text(const std::string& program);

/// The variables that the options give, after seeding all random numbers: floats are of the dtype, integers i64, truth
/// values b8, and lists tensors. Arrays whose names are no identifiers are left out.
study::Scope scope_of(const Inputs& inputs);

/// The tensor that a variable stands for when its gradient is asked for: of the scope's dtype, a leaf. Error for
/// values without a gradient.
Tensor leaf_of(const Value& value, const std::string& name, DType dtype);

/// Error that names the nearest variable, unless `name` is given in the scope or among `assigned`.
void check_named(const std::string& option, const std::string& name, const study::Scope& scope,
                 const std::vector<std::string>& assigned);

}  // namespace gradus::cli
