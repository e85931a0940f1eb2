#include "train/utf8.hpp"

#include <cassert>
#include <cstddef>

#include "core/error.hpp"

namespace gradus::train {
namespace {

// What a first byte announces: the length of its sequence, its own payload, and the least code
// point of that length (anything lower is overlong). Length 0: not a first byte.
struct Lead {
  std::size_t length;
  char32_t payload;
  char32_t least;
};

Lead read_lead(unsigned char byte) {
  const char32_t b = byte;
  if (b < 0x80) return {1, b, 0};
  if (b < 0xc0) return {0, 0, 0};
  if (b < 0xe0) return {2, b & 0x1f, 0x80};
  if (b < 0xf0) return {3, b & 0x0f, 0x800};
  if (b < 0xf8) return {4, b & 0x07, 0x10000};
  return {0, 0, 0};
}

// The code point at `offset`, which moves behind it; false where there is none.
bool next_code_point(std::string_view bytes, std::size_t& offset, char32_t& c) {
  const Lead lead = read_lead(static_cast<unsigned char>(bytes[offset]));
  if (lead.length == 0 || bytes.size() - offset < lead.length) return false;
  c = lead.payload;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const char32_t b = static_cast<unsigned char>(bytes[offset + i]);
    if ((b & 0xc0) != 0x80) return false;
    c = c << 6 | (b & 0x3f);
  }
  if (c < lead.least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
  offset += lead.length;
  return true;
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (std::size_t offset = 0; offset < bytes.size();) {
    char32_t c = 0;
    if (!next_code_point(bytes, offset, c)) {
      fail("utf-8: byte {:#04x} at offset {} begins no valid character; convert the text to UTF-8",
           static_cast<unsigned>(static_cast<unsigned char>(bytes[offset])), offset);
    }
    text += c;
  }
  return text;
}

void append_utf8(std::string& bytes, char32_t c) {
  assert(c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000));
  const auto put = [&bytes](char32_t byte) { bytes += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) append_utf8(bytes, c);
  return bytes;
}

}  // namespace gradus::train
