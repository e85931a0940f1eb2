// UTF-8 and back. A character is a Unicode code point, here and everywhere in train/.
#pragma once

#include <string>
#include <string_view>

namespace gradus::train {

/// The code points of UTF-8 bytes. Errors, each naming the byte offset: a byte that cannot stand
/// where it stands, a sequence cut short, an overlong one, a surrogate, a code point above
/// U+10FFFF.
std::u32string decode_utf8(std::string_view bytes);

/// Appends one code point to `bytes`; it must be one that decode_utf8 can return.
void append_utf8(std::string& bytes, char32_t c);

/// The UTF-8 bytes of code points.
std::string encode_utf8(std::u32string_view text);

}  // namespace gradus::train
