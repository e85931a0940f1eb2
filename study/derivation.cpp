#include "study/derivation.hpp"

#include <algorithm>

namespace gradus::study {

const char* to_string(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::parameter: return "parameter";
    case Role::constant: return "constant";
    case Role::intermediate: return "intermediate";
    case Role::result: return "result";
  }
  return "";
}

int Derivation::find(std::string_view name) const {
  for (std::size_t i = 0; i < quantities.size(); ++i)
    if (quantities[i].name == name) return static_cast<int>(i);
  for (const auto& [alias, quantity] : aliases)
    if (alias == name) return quantity;
  return -1;
}

Tensor Derivation::value_of(std::string_view name) const {
  if (const int i = find(name); i >= 0) return quantities[static_cast<std::size_t>(i)].value;
  if (name == "cotangent") return cotangent;
  for (const BackwardStep& step : backward)
    if (step.name == name) return step.value;
  if (name.substr(0, 2) == "d_")
    if (const int i = find(name.substr(2)); i >= 0) return quantities[static_cast<std::size_t>(i)].gradient;
  return {};
}

int Derivation::crosses() const {
  return static_cast<int>(
      std::count_if(backward.begin(), backward.end(), [](const BackwardStep& s) { return !s.verdict.ok; }));
}

}  // namespace gradus::study
