#pragma once
#include "study/derivation.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Lines of a derivation run again, on other values or with one op done wrong.
namespace gradus::study {

/// Values by name.
using Bindings = std::map<std::string, Tensor, std::less<>>;

/// Stands in for one op of a term.
struct Instead {
  const Term* at = nullptr;
  std::function<Tensor(const Application& op, const std::vector<Tensor>& x)> of = {};
};

/// The term computed again with other values for some of its names, and perhaps one op replaced. Error where the shapes
/// do not fit.
Tensor rerun(const TermPtr& term, const Bindings& bindings, const Instead* instead = nullptr);

/// Every part of a term, each once, from the top.
void each_part(const TermPtr& term, const std::function<void(const Term&)>& f);

/// The names that a term reads.
std::vector<std::string> names_read(const TermPtr& term);

/// Whether a name is one that derivations give to steps that nobody named: t1, t2, ...
bool is_numbered(std::string_view name);

/// Whether the term reads a name that is bound.
bool reads(const std::vector<std::string>& names, const Bindings& bindings);

}  // namespace gradus::study
