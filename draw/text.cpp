#include "draw/text.hpp"

#include "draw/width_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>

namespace gradus::draw {

namespace {

constexpr char32_t replacement = 0xfffd;

struct Decoded {
  char32_t code_point;
  std::size_t bytes;
  bool valid;
};

/// Reads the code point at the start of `text`, which is not empty. Overlong forms, surrogates and values above
/// U+10FFFF are not valid: then one byte is consumed, as its own number.
Decoded first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const Decoded bad{lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return bad;
  char32_t code_point = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0U) != 0x80U) return bad;
    code_point = (code_point << 6) | (byte & 0x3fU);
  }
  const bool overlong = (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (overlong || surrogate || code_point > 0x10ffff) return bad;
  return {code_point, bytes, true};
}

bool contains(std::span<const CodePointRange> table, char32_t code_point) {
  const auto after = std::upper_bound(table.begin(), table.end(), code_point,
                                      [](char32_t c, const CodePointRange& r) { return c < r.first; });
  return after != table.begin() && code_point <= std::prev(after)->last;
}

bool is_joiner(char32_t c) { return c == 0x200c || c == 0x200d; }

/// Code points that print nothing and join nothing: format characters, C1 controls, separators of lines.
bool is_invisible(char32_t c) {
  return (c >= 0x7f && c <= 0x9f) || c == 0xad || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::string shown(char32_t c, bool leading) {
  if (c == '\n') return "↵";
  if (c == '\t') return "⇥";
  if (c < 0x20) return encode_utf8(0x2400 + c);  // the block Control Pictures
  if (c == 0x7f) return "␡";
  if (is_joiner(c) && !leading) return encode_utf8(c);
  if (is_invisible(c)) return fmt::format("<{:x}>", static_cast<unsigned>(c));
  if (leading && display_width(c) == 0) return "◌" + encode_utf8(c);
  return encode_utf8(c);
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string result;
  while (!text.empty()) {
    const Decoded next = first_code_point(text);
    result.push_back(next.valid ? next.code_point : replacement);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string encode_utf8(char32_t c) {
  if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) c = replacement;
  const auto tail = [c](int shift) { return static_cast<char>(0x80U | ((c >> shift) & 0x3fU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0U | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0U | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | (c >> 18)), tail(12), tail(6), tail(0)};
}

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (contains(zero_width_code_points, c)) return 0;
  return contains(wide_code_points, c) ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t c : decode_utf8(text)) width += display_width(c);
  return width;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  for (const char32_t c : decode_utf8(text)) {
    if (result.empty() || display_width(c) > 0) result.emplace_back();
    result.back() += encode_utf8(c);
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Decoded next = first_code_point(text);
    result += next.valid ? shown(next.code_point, result.empty())
                         : fmt::format("<{:02x}>", static_cast<unsigned>(next.code_point));
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string visible(std::string_view text) {
  std::string result;
  for (const char32_t c : decode_utf8(printable(text))) {
    if (c == ' ') {
      result += "␣";
    } else if (c == 0xa0) {
      result += "⍽";
    } else if (c == 0x3000) {
      result += "□";
    } else {
      result += encode_utf8(c);
    }
  }
  return result;
}

std::string clipped(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return {};
  std::string result;
  int used = 1;  // the ellipsis
  for (const std::string& character : characters(text)) {
    used += display_width(character);
    if (used > width) break;
    result += character;
  }
  return result + "…";
}

std::string padded(std::string_view text, int width, Side side) {
  const int missing = std::max(0, width - display_width(text));
  const int before = side == Side::left ? 0 : side == Side::right ? missing : missing / 2;
  return repeated(" ", before) + std::string(text) + repeated(" ", missing - before);
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string word = clipped(text.substr(0, space), width);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace gradus::draw
