#include "study/excerpt.hpp"

#include <algorithm>

#include "draw/text.hpp"

namespace gradus::study {
namespace {

constexpr std::size_t longest_line = 78, most_before = 50;  // code points that are shown, and before the fault

struct Line {
  std::size_t number = 1, start = 0, end = 0;
};

Line line_of(std::string_view text, std::size_t at) {
  Line line;
  for (std::size_t i = 0; i < at; ++i)
    if (text[i] == '\n') ++line.number, line.start = i + 1;
  line.end = std::min(text.find('\n', at), text.size());
  while (line.end > std::max(at, line.start) && text[line.end - 1] == '\r') --line.end;
  return line;
}

// As it is printed: one line, tabs as a space.
std::string plain(std::u32string_view code_points) {
  std::string text;
  for (const char32_t c : code_points) text += c == U'\t' || c == U'\r' ? " " : draw::encode_utf8(c);
  return draw::printable(text);
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string excerpt_of(std::u32string_view before, std::u32string_view after) {
  std::string left, right;
  if (before.size() + after.size() > longest_line && before.size() > most_before) {
    left = "…";
    before.remove_prefix(before.size() - most_before + 1);
  }
  if (before.size() + after.size() > longest_line) {
    right = "…";
    after = after.substr(0, longest_line - before.size() - 1);
  }
  left += plain(before);
  const int width = draw::display_width(left);
  return fmt::format("{}{}{}\n{}^\n", left, plain(after), right, std::string(static_cast<std::size_t>(width), ' '));
}

}  // namespace

void fail_at(std::string_view text, std::size_t at, std::string_view message) {
  at = std::min(at, text.size());
  const Line line = line_of(text, at);
  const std::u32string before = draw::decode_utf8(text.substr(line.start, at - line.start));
  const std::u32string after = draw::decode_utf8(text.substr(at, line.end - at));
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const bool several = last != std::string_view::npos && text.find('\n') < last;
  const std::string place = several ? fmt::format("line {}, column {}", line.number, before.size() + 1)
                                    : fmt::format("column {}", before.size() + 1);
  throw LanguageError(fmt::format("{}: {}", place, draw::clipped(draw::printable(message), 600)),
                      excerpt_of(before, after));
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 64;
  if (name.empty() || name.size() > longest) return "";
  std::string best;
  std::size_t best_distance = name.size() <= 2 ? 2 : name.size() / 3 + 2;  // one more than is still near
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    if (lower_case(candidate) == lower_case(name)) return candidate;
    std::vector<std::size_t> above(candidate.size() + 1), row(candidate.size() + 1);  // the distances of beginnings
    for (std::size_t j = 0; j <= candidate.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j)
        row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (name[i - 1] != candidate[j - 1])});
      std::swap(above, row);
    }
    const std::size_t distance = above.back();
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string shown(std::string_view piece) { return draw::clipped(draw::printable(piece.substr(0, 200)), 40); }

}  // namespace gradus::study
