#include "study/program_function.hpp"

#include <algorithm>

#include "study/excerpt.hpp"

namespace gradus::study {
namespace {

/// What is drawn while it lives (by dropout and its like) is drawn again afterwards.
class SameDraws {
 public:
  SameDraws() = default;
  SameDraws(const SameDraws&) = delete;
  SameDraws& operator=(const SameDraws&) = delete;
  ~SameDraws() { default_generator() = saved_; }

 private:
  Generator saved_ = default_generator();
};

Tensor checked(const Value& value, const std::string& name, DType dtype) {
  const Tensor x = as_result(value, name, dtype).detach();
  if (x.dtype() != DType::f64) fail("{}: it is {}; only numbers in f64 have a Jacobian here", name, x.dtype());
  return copy_of(x);
}

}  // namespace

ProgramFunction::ProgramFunction(std::string_view program, const Scope& scope, std::string variable)
    : program_(program), scope_(scope), variable_(std::move(variable)) {
  const std::vector<std::string> assigned = assigned_names(program);
  const Value* const value = scope.find(variable_);
  given_ = value != nullptr;
  const auto times = std::count(assigned.begin(), assigned.end(), variable_) + given_;
  if (times > 1)
    fail("{0}: {0} gets {1} values one after the other; give each value a name of its own", variable_, times);
  if (times == 0) {
    std::vector<std::string> names = assigned;
    for (const auto& [name, v] : scope.variables()) names.push_back(name);
    const std::string near = nearest(variable_, names);
    fail("{}: no variable has that name; {}", study::shown(variable_),
         near.empty() ? "give it, or assign it in the program" : fmt::format("did you mean {}?", near));
  }
  if (given_) x_ = checked(*value, variable_, scope_.dtype);
  else run([this](Value& v) { x_ = checked(v, variable_, scope_.dtype); });
}

// `meet` sees the variable's value, and may replace it.
Value ProgramFunction::run(const std::function<void(Value&)>& meet) const {
  const SameDraws draws;
  Scope scope = scope_;
  if (given_) {
    Value value = *scope.find(variable_);
    meet(value);
    scope.set(variable_, value);
  }
  scope.assigned = [&](const std::string& name, Value& value) {
    if (name == variable_) meet(value);
  };
  return evaluate(program_, scope);
}

Tensor ProgramFunction::operator()(const Tensor& x) const {
  return as_result(run([&x](Value& value) { value = x; }), "the result", scope_.dtype);
}

}  // namespace gradus::study
