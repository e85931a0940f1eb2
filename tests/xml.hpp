// Whether text is well-formed XML: tags that close in order, attributes in quotes, known entities.
#pragma once
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gradus_test {

/// What is wrong with the XML, or nothing. One root element; comments and declarations are not expected.
inline std::string xml_fault(std::string_view text) {
  std::vector<std::string> open;
  int roots = 0;
  const auto text_fault = [](std::string_view words) -> std::string {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == '>') return "a bare >";
      if (words[i] != '&') continue;
      const std::size_t end = words.find(';', i);
      const std::string entity(words.substr(i, end == words.npos ? 1 : end - i + 1));
      static const std::set<std::string> known{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (!known.count(entity)) return "a bare & or an unknown entity: " + entity;
    }
    return "";
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t tag = std::min(text.find('<', at), text.size());
    const std::string_view words = text.substr(at, tag - at);
    if (const std::string fault = text_fault(words); !fault.empty()) return fault;
    if (open.empty() && words.find_first_not_of(" \n") != words.npos) return "text outside the root";
    if (tag == text.size()) break;
    std::size_t end = tag + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a < within a tag";
    }
    if (end == text.size()) return "a tag that does not end";
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (!inside.empty() && inside.front() == '/') {
      if (open.empty() || open.back() != inside.substr(1))
        return "</" + std::string(inside.substr(1)) + "> closes nothing";
      open.pop_back();
      continue;
    }
    const bool empty = !inside.empty() && inside.back() == '/';
    if (empty) inside.remove_suffix(1);
    const std::size_t name_end = std::min(inside.find_first_of(" \n"), inside.size());
    const std::string name(inside.substr(0, name_end));
    if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) return "a tag without a name";
    if (open.empty() && roots++ > 0) return "a second root";
    std::set<std::string> names;
    for (std::size_t i = name_end; i < inside.size();) {
      while (i < inside.size() && (inside[i] == ' ' || inside[i] == '\n')) ++i;
      if (i == inside.size()) break;
      const std::size_t equals = inside.find('=', i);
      if (equals == inside.npos || equals + 1 >= inside.size() || inside[equals + 1] != '"')
        return "an attribute without quotes in <" + name + ">";
      if (!names.insert(std::string(inside.substr(i, equals - i))).second)
        return "an attribute twice in <" + name + ">";
      const std::size_t close = inside.find('"', equals + 2);
      if (close == inside.npos) return "quotes that do not close in <" + name + ">";
      if (const std::string fault = text_fault(inside.substr(equals + 2, close - equals - 2)); !fault.empty())
        return fault;
      i = close + 1;
    }
    if (!empty) open.push_back(name);
  }
  if (!open.empty()) return "<" + open.back() + "> does not close";
  return roots == 1 ? "" : "no root";
}

}  // namespace gradus_test
