#include "train/text_file.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "train/utf8.hpp"

namespace gradus::train {
namespace {

std::string read_bytes(const std::filesystem::path& path, std::int64_t largest_bytes) {
  const std::string name = path.string();
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::not_found) { fail("text: there is no file {}; check the path", name); }
  if (kind == std::filesystem::file_type::directory) { fail("text: {} is a directory; give one text file", name); }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("text: {} cannot be opened; check its permissions", name);

  // In chunks, because the size of a pipe is not known, and a binary file is mostly known by its
  // first.
  constexpr std::int64_t chunk = 1 << 16;
  std::string bytes;
  while (file) {
    const std::size_t old = bytes.size();
    const std::int64_t room = largest_bytes + 1 - static_cast<std::int64_t>(old);
    bytes.resize(old + static_cast<std::size_t>(std::min(chunk, room)));
    file.read(bytes.data() + old, static_cast<std::streamsize>(bytes.size() - old));
    bytes.resize(old + static_cast<std::size_t>(file.gcount()));
    const std::size_t zero = bytes.find('\0', old);
    if (zero != std::string::npos) {
      fail("text: {} is binary (a zero byte at offset {}); give a text file in UTF-8", name, zero);
    }
    if (static_cast<std::int64_t>(bytes.size()) > largest_bytes) {
      fail("text: {} is larger than {} bytes; take a part of it (head -c {})", name, largest_bytes, largest_bytes);
    }
  }
  if (file.bad()) fail("text: {} cannot be read to its end; check the disk", name);
  return bytes;
}

// Both foreign line ends become \n, in place.
void unify_line_ends(std::u32string& text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == U'\n' && i > 0 && text[i - 1] == U'\r') {
      continue;  // the \r before it stands for both
    }
    text[kept++] = text[i];
  }
  text.resize(kept);
  std::replace(text.begin(), text.end(), U'\r', U'\n');
}

}  // namespace

std::u32string read_text(const std::filesystem::path& path, std::int64_t largest_bytes) {
  std::u32string text;
  const std::string bytes = read_bytes(path, largest_bytes);
  try {
    text = decode_utf8(bytes);
  } catch (const Error& error) { fail("text: {}: {}", path.string(), error.what()); }
  if (!text.empty() && text[0] == U'\ufeff') text.erase(0, 1);
  unify_line_ends(text);
  if (text.find_first_not_of(U" \t\n") == std::u32string::npos) {
    fail("text: {} is empty; give a file with text in it", path.string());
  }
  return text;
}

}  // namespace gradus::train
