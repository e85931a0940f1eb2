#include "study/language.hpp"

namespace gradus::study {

const Value* Scope::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &variables_[place->second].second;
}

void Scope::set(std::string_view name, Value value) {
  const auto [place, is_new] = places_.try_emplace(std::string(name), variables_.size());
  if (is_new) variables_.emplace_back(std::string(name), std::move(value));
  else variables_[place->second].second = std::move(value);
}

bool is_identifier(std::string_view name) {
  if (name.empty() || name == "True" || name == "False" || name == "None") return false;
  if (name[0] >= '0' && name[0] <= '9') return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}

Tensor as_result(const Value& value, std::string_view what, DType dtype) {
  if (const auto* t = value.get_if<Tensor>(); t && t->defined()) return *t;
  if (value.is_none() || value.get_if<Tensor>() || value.get_if<Mask>() || value.get_if<std::string>())
    fail("{}: it is {}; give a tensor, a number or a nested list of numbers", what, value.kind());
  return as_tensor(value, {what, "value"}, dtype);
}

}  // namespace gradus::study
