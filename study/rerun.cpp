#include "study/rerun.hpp"

#include "core/op.hpp"

#include <algorithm>
#include <set>

namespace gradus::study {
namespace {

/// Terms are as deep as one rule, a few ops, so that recursion is safe.
struct Run {
  const Bindings& bindings;
  const Instead* instead;
  std::map<const Term*, Tensor> done = {};

  Tensor of(const TermPtr& term) {
    if (!term) return {};
    if (!term->op) {
      const auto found = term->name.empty() ? bindings.end() : bindings.find(term->name);
      return found == bindings.end() ? term->value : found->second;
    }
    if (const auto known = done.find(term.get()); known != done.end()) return known->second;
    std::vector<Tensor> x;
    for (const TermPtr& input : term->inputs) x.push_back(of(input));
    const bool replaced = instead && instead->at == term.get();
    return done[term.get()] = replaced ? instead->of(*term->op, x) : term->op->run(x);
  }
};

}  // namespace

Tensor rerun(const TermPtr& term, const Bindings& bindings, const Instead* instead) {
  return Run{bindings, instead}.of(term);
}

void each_part(const TermPtr& term, const std::function<void(const Term&)>& f) {
  std::set<const Term*> seen;
  std::vector<const Term*> open{term.get()};
  while (!open.empty()) {
    const Term* const t = open.back();
    open.pop_back();
    if (!t || !seen.insert(t).second) continue;
    f(*t);
    for (const TermPtr& input : t->inputs) open.push_back(input.get());
  }
}

std::vector<std::string> names_read(const TermPtr& term) {
  std::vector<std::string> names;
  each_part(term, [&](const Term& t) {
    if (!t.op && !t.name.empty()) names.push_back(t.name);
  });
  return names;
}

bool is_numbered(std::string_view name) {
  return name.size() > 1 && name[0] == 't' && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool reads(const std::vector<std::string>& names, const Bindings& bindings) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return bindings.count(n) != 0; });
}

}  // namespace gradus::study
