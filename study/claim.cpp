#include "study/claim.hpp"

#include "core/error.hpp"
#include "core/mode.hpp"
#include "ops/ops.hpp"
#include "study/rerun.hpp"
#include "study/suspects.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gradus::study {
namespace {

/// Something that can be claimed.
struct Known {
  Tensor value;
  int step = -1;
  std::string rule;
};

/// All that a derivation knows by name.
class Names {
 public:
  explicit Names(const Derivation& d) : derivation_(d) {
    for (std::size_t i = 0; i < d.backward.size(); ++i)
      add(d.backward[i].name, {d.backward[i].value.detach(), static_cast<int>(i), d.backward[i].line});
    for (const auto& [alias, quantity] : d.aliases)
      if (const Known* const k = find("d_" + d.quantities.at(static_cast<std::size_t>(quantity)).name))
        add("d_" + alias, Known(*k));
    for (const Quantity& q : d.quantities)
      add(q.name, {q.value.detach(), -1, q.made_by < 0 ? "" : d.forward.at(static_cast<std::size_t>(q.made_by)).line});
    for (const auto& [alias, quantity] : d.aliases)
      if (const Known* const k = find(d.quantities.at(static_cast<std::size_t>(quantity)).name)) add(alias, Known(*k));
  }

  const Known* find(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? nullptr : &found->second;
  }
  const std::vector<std::string>& in_order() const { return order_; }

  /// Error unless the name can be claimed.
  const Known& at(const std::string& name) const {
    if (const Known* const k = find(name)) return *k;
    if (name.rfind("d_", 0) == 0 && derivation_.find(name.substr(2)) >= 0)
      fail(
          "check: {0} is not on the way to what was asked for; add {1} to "
          "--wrt to claim it",
          name, name.substr(2));
    std::string all;
    for (const std::string& n : order_) all += (all.empty() ? "" : ", ") + n;
    fail("check: there is no {}; what can be claimed: {}", name, all);
  }

 private:
  void add(const std::string& name, Known known) {
    if (known.value.defined() && known_.emplace(name, std::move(known)).second) order_.push_back(name);
  }

  const Derivation& derivation_;
  std::map<std::string, Known> known_;
  std::vector<std::string> order_;
};

Tensor as_f64(const Tensor& x) { return x.dtype() == DType::f64 ? x.detach() : cast(x.detach(), DType::f64); }

JudgedClaim judged(const Derivation& derivation, const std::string& name, const Known& known, const Tensor& claimed) {
  const NoGrad no_grad;
  JudgedClaim j{
      .name = name, .claimed = as_f64(claimed), .value = as_f64(known.value), .step = known.step, .rule = known.rule};
  j.tolerance = 1e-6 * std::max(1.0, difference_of(j.value, j.value).size);
  if (j.claimed.shape() == j.value.shape()) {
    j.difference = difference_of(j.claimed, j.value);
    j.right = j.difference.largest <= j.tolerance;
  }
  if (!j.right) j.guess = find_slip(j.claimed, j.value, slip_context(derivation, j.step));
  return j;
}

/// The expression that should give `name` does not fit.
JudgedClaim misfit(const std::string& name, const Known& known, const LanguageError& error) {
  const NoGrad no_grad;
  JudgedClaim j{.name = name, .value = as_f64(known.value), .step = known.step, .rule = known.rule};
  j.guess = {Slip::shape, 0, error.what()};
  j.excerpt = error.excerpt();
  return j;
}

/// Judges the claims of one text.
class Text {
 public:
  Text(const Derivation& derivation, const Names& names, const Scope& outer, const std::string& text)
      : derivation_(derivation), names_(names), text_(text), assigned_(assigned_names(text)) {
    if (assigned_.empty())
      fail("check: `{}` names nothing; a claim is an assignment, `{} = ...`", text, names.in_order().front());
    names.at(assigned_.back());
    scope_.dtype = DType::f64;
    scope_.generator = outer.generator;
    scope_.set("cotangent", derivation.cotangent.detach());
    for (const auto& [name, value] : outer.variables()) reveal(name, value);
    for (const std::string& name : names.in_order()) reveal(name, names.find(name)->value);
  }

  void judge(std::vector<JudgedClaim>& all) {
    const NoGrad no_grad;
    scope_.assigned = [&](const std::string& name, Value& value) {
      if (const Known* const known = names_.find(name)) {
        all.push_back(judged(derivation_, name, *known, as_result(value, name, DType::f64)));
        value = known->value;
      }
      ++done_;
    };
    try {
      evaluate(text_, scope_);
    } catch (const LanguageError& error) {
      check_circle(error);
      if (!about_shapes(error)) throw;
      const std::string name = claim_after(done_);
      all.push_back(misfit(name, *names_.find(name), error));
    }
  }

 private:
  /// Lets the text name it, unless that is what it claims.
  void reveal(const std::string& name, const Value& value) {
    if (std::find(assigned_.begin(), assigned_.end(), name) == assigned_.end() || !names_.find(name))
      scope_.set(name, value);
  }

  /// Whether an op refused the shapes that it was given. Such errors name a
  /// shape.
  static bool about_shapes(const LanguageError& error) {
    const std::string_view text = error.what();
    return text.find("shape") != std::string_view::npos && text.find('[') != std::string_view::npos;
  }

  /// A clearer error when a claim reads the very name that it claims.
  void check_circle(const LanguageError& error) const {
    for (const std::string& name : assigned_)
      if (names_.find(name) && !scope_.find(name) &&
          std::string_view(error.what()).find(fmt::format("no variable is named {};", name)) != std::string_view::npos)
        throw LanguageError(fmt::format("check: {0} is what is claimed here, so it cannot be "
                                        "read before; give it in other names",
                                        name),
                            error.excerpt());
  }

  /// The claim that statement number `done` leads to.
  std::string claim_after(std::size_t done) const {
    for (std::size_t i = done; i < assigned_.size(); ++i)
      if (names_.find(assigned_[i])) return assigned_[i];
    return assigned_.back();
  }

  const Derivation& derivation_;
  const Names& names_;
  const std::string& text_;
  std::vector<std::string> assigned_;
  Scope scope_;
  std::size_t done_ = 0;  ///< assignments made
};

}  // namespace

std::vector<std::string> claimable_names(const Derivation& derivation) { return Names(derivation).in_order(); }

std::vector<std::string> rule_lines(const Derivation& derivation, int step) {
  std::vector<std::string> lines;
  std::set<std::string> wanted{derivation.backward.at(static_cast<std::size_t>(step)).name};
  for (int i = step; i >= 0; --i) {  // a line reads earlier ones alone
    const BackwardStep& line = derivation.backward[static_cast<std::size_t>(i)];
    if (!wanted.count(line.name)) continue;
    lines.push_back(line.line);
    for (const std::string& name : names_read(line.term)) {
      const std::size_t via = name.find("_via_");
      if (via != std::string::npos || (name.rfind("d_", 0) == 0 && is_numbered(name.substr(2)))) wanted.insert(name);
    }
  }
  return lines;
}

JudgedClaim judge_value(const Derivation& derivation, const std::string& name, const Tensor& claimed) {
  const Names names(derivation);
  return judged(derivation, name, names.at(name), claimed);
}

std::vector<JudgedClaim> judge(const Derivation& derivation, const Scope& scope,
                               const std::vector<std::string>& claims) {
  const Names names(derivation);
  std::vector<JudgedClaim> all;
  for (const std::string& text : claims) Text(derivation, names, scope, text).judge(all);
  return all;
}

}  // namespace gradus::study
