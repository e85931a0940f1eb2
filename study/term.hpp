#pragma once
#include "study/record.hpp"

#include <memory>
#include <string>
#include <vector>

// An expression as a tree: what a step computes, in the names of the derivation. Terms come from ops that ran, never from
// text, so what is printed is what was computed.
namespace gradus::study {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

/// A named value, an unnamed constant, or an op applied to terms.
struct Term {
  std::string name;                       ///< of a named value; empty otherwise
  std::shared_ptr<const Application> op;  ///< of an application; null for a leaf
  std::vector<TermPtr> inputs;            ///< null where an optional tensor was not given
  Tensor value;                           ///< always there
};

/// As the expression language writes it: `A * (d_A - sum(d_A * A, axis=-1, keepdim=True))`. Constants are written out.
std::string to_expression(const Term& term);

/// As LaTeX: `A \odot (\bar A - \sum ...)`, names with a `d_` in front as cotangents with a bar.
std::string to_latex(const Term& term);

/// A name of the derivation as LaTeX: `W_Q` as W_{Q}, `d_S` as \bar S.
std::string latex_name(const std::string& name);

/// One entry of a term as a sum of products of entries.
struct ScalarForm {
  std::string symbols;  ///< `X[0,0]·d_Q[0,1] + X[1,0]·d_Q[1,1]`, or with Σ when the sum is long
  std::string numbers;  ///< the same with the numbers put in
  double value = 0;
  std::vector<std::pair<std::string, Shape>> entries;  ///< the named entries in it, in order, with repetitions
};

/// The entry at `index` of the term. Sums of more than `longest` terms are shown by their first and last.
ScalarForm scalar_form(const Term& term, const Shape& index, int longest = 8);

}  // namespace gradus::study
