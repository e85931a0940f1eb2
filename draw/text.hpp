#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradus::draw {

/// Decodes UTF-8; every byte that is not part of a well-formed sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

/// Encodes one code point as UTF-8; surrogates and values above U+10FFFF become U+FFFD.
std::string encode_utf8(char32_t code_point);

/// Terminal columns that a code point takes: 0 (combining), 1, or 2 (East Asian wide, emoji).
int display_width(char32_t code_point);

/// Terminal columns that a string takes: the sum over its code points.
int display_width(std::string_view text);

/// Splits a string into base characters, each with the zero-width code points that follow it.
std::vector<std::string> characters(std::string_view text);

/// Makes a string safe to print on one line of a terminal, and keeps its spaces: control characters become their
/// pictures (`␛`), bytes that are not UTF-8 and invisible code points their number (`<e4>`, `<202e>`), newline `↵`,
/// tab `⇥`; a combining mark that would join the text before the string gets a dotted circle.
std::string printable(std::string_view text);

/// `printable`, and spaces can be seen too: `␣`, the no-break space `⍽`, the ideographic space `□`.
std::string visible(std::string_view text);

/// The longest beginning that fits in `width` columns; when something is lost the last column is `…`.
std::string clipped(std::string_view text, int width);

/// Where the text stands in a padded field.
enum class Side { left, center, right };

/// Fills a string with spaces to `width` terminal columns; longer strings are returned unchanged.
std::string padded(std::string_view text, int width, Side side = Side::left);

/// Breaks a string at spaces into lines of at most `width` columns (a longer word is clipped); no text gives no line.
std::vector<std::string> wrapped(std::string_view text, int width);

/// `text` repeated `count` times; nothing when `count` is not positive.
std::string repeated(std::string_view text, int count);

}  // namespace gradus::draw
