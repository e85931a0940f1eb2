#include "study/op_words.hpp"

#include <algorithm>

namespace gradus::study {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

RuleLines rule_lines(const OpEntry& op) {
  RuleLines rule{lines_of(op.info->rule), {}};
  for (const Param& p : op.params)
    if (p.tensor || p.number || p.list) rule.names.emplace_back(p.name);
  if (rule.names.size() != rule.lines.size()) rule.names.clear();
  return rule;
}

bool says_none(const std::string& rule) { return rule == "\\text{none}"; }

std::string_view keeps_text(Keep keeps) {
  switch (keeps) {
    case Keep::nothing: return "neither inputs nor output";
    case Keep::inputs: return "its inputs";
    case Keep::output: return "its output";
    case Keep::both: return "inputs and output";
  }
  return "";
}

std::string numpy_text(const OpEntry& op) {
  std::string text = op.info->numpy;
  for (const Param& p : op.params) {
    const std::string name(p.name), braced = "{" + name + "}";
    for (std::size_t at = text.find(braced); at != std::string::npos; at = text.find(braced, at + name.size()))
      text.replace(at, braced.size(), name);
  }
  return text;
}

std::string shape_text(const Tensor& x) {
  std::string text = x.rank() == 0 ? "scalar" : to_string(x.shape());
  if (x.dtype() == DType::i64 || x.dtype() == DType::b8) text += fmt::format(" {}", x.dtype());
  return text;
}

}  // namespace gradus::study
