// Reading a file of text, and refusing what is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace gradus::train {

/// The characters of a UTF-8 file; a byte order mark is left out, and line ends `\r\n` and `\r`
/// become `\n`.
///
/// Reads at most `largest_bytes`, and stops at the first chunk that shows the file to be binary (a
/// zero byte). Errors, each saying what to do: missing, a directory, unreadable, empty, too large,
/// binary, invalid UTF-8.
std::u32string read_text(const std::filesystem::path& path, std::int64_t largest_bytes = std::int64_t{256} << 20);

}  // namespace gradus::train
