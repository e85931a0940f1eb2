#include "study/derivation.hpp"

#include <algorithm>

namespace gradus::study {
namespace {

// A leaf with the numbers of `value`, which must be a tensor or a (nested list of) number(s).
Tensor leaf_of(const Value& value, const std::string& name, DType dtype) {
  const Tensor x = as_result(value, name, dtype);
  if (!is_floating(x.dtype()))
    fail("derive: {} is {}; only a gradient with respect to f64 values can be asked for", name, x.dtype());
  return copy_of(x).requires_grad(true);
}

// Puts back the scope's own hook.
class Hook {
 public:
  Hook(Scope& scope, std::function<void(const std::string&, Value&)> hook)
      : scope_(scope), saved_(std::exchange(scope.assigned, std::move(hook))) {}
  ~Hook() { scope_.assigned = std::move(saved_); }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

 private:
  Scope& scope_;
  std::function<void(const std::string&, Value&)> saved_;
};

void check_names(std::string_view program, const Scope& scope, const std::vector<std::string>& wrt) {
  if (wrt.empty()) fail("derive: no name is given that gradients are asked for; name an input or an assigned value");
  const std::vector<std::string> assigned = assigned_names(program);
  for (const std::string& name : wrt) {
    if (scope.find(name) || std::count(assigned.begin(), assigned.end(), name)) continue;
    std::string known;
    for (const auto& [variable, value] : scope.variables()) known += (known.empty() ? "" : ", ") + variable;
    for (const std::string& variable : assigned) known += (known.empty() ? "" : ", ") + variable;
    fail("derive: there is no {}; name one of: {}", name, known.empty() ? "(nothing is given or assigned)" : known);
  }
}

}  // namespace

Derivation derive(std::string_view program, Scope& scope, const std::vector<std::string>& wrt,
                  const DeriveOptions& options) {
  check_names(program, scope, wrt);
  const auto asked = [&](const std::string& name) { return std::count(wrt.begin(), wrt.end(), name) > 0; };
  Record record;
  std::vector<std::pair<std::string, Tensor>> parameters;
  const auto variables = scope.variables();
  for (const auto& [name, value] : variables) {
    if (asked(name)) {
      parameters.emplace_back(name, leaf_of(value, name, scope.dtype));
      scope.set(name, parameters.back().second);
    }
    if (const Tensor* const x = scope.find(name)->get_if<Tensor>(); x && name != "cotangent") record.name(name, *x);
  }
  const Hook hook(scope, [&](const std::string& name, Value& value) {
    const bool is_new =
        std::none_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; });
    if (asked(name) && is_new) {
      const Tensor* const x = value.get_if<Tensor>();
      if (!x || !x->requires_grad()) value = leaf_of(value, name, scope.dtype);
      parameters.emplace_back(name, *value.get_if<Tensor>());
    }
    if (const Tensor* const x = value.get_if<Tensor>()) record.name(name, *x);
  });
  const Tensor y = as_result(evaluate(program, scope), "the result", scope.dtype);
  std::vector<Tensor> in_order;
  for (const std::string& name : wrt)
    in_order.push_back(
        std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; })->second);
  DeriveOptions with_cotangent = options;
  if (const Value* const c = scope.find("cotangent"); c && !options.cotangent.defined())
    with_cotangent.cotangent = as_result(*c, "cotangent", scope.dtype);
  if (!y.requires_grad())
    fail("derive: the result does not depend on {}, or only through ops without a gradient (indices, comparisons)",
         fmt::join(wrt, ", "));
  return derive(y, in_order, with_cotangent);
}

}  // namespace gradus::study
