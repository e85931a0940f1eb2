#pragma once
#include "core/error.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include "tests/paths.hpp"

// What the tests of files share.

namespace gradus::test {

namespace fs = std::filesystem;

/// A new folder that vanishes with the test: in memory where there is such a place, since every write waits for the
/// disk.
struct Folder {
  fs::path path = unused();
  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
  fs::path operator/(const char* name) const { return path / name; }
  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }

 private:
  static fs::path unused() {
    static int made = 0;
    const fs::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    return (usable ? memory : fs::temp_directory_path()) / fmt::format("gradus-test-{}-{}", ::getpid(), made++);
  }
};

inline fs::path golden(const char* name) { return fs::path(gradus_test::test_dir()) / "golden" / name; }

/// Writes without ceremony: what is tested is reading.
inline void put(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// The text of the Error that f throws, or "no error".
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// `length` in 8 bytes, little-endian, and the rest: how a safetensors file starts.
inline std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i));
  return file.append(rest);
}

}  // namespace gradus::test
