#pragma once
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/files.hpp"
#include "file_helpers.hpp"
#include "tests/paths.hpp"

// How tests run the `gradus` command.

namespace gradus::test {

/// What a command left: exit status, standard output, standard error.
struct Outcome {
  int status;
  std::string out, err;
};

/// Text as one word of a shell.
inline std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// Runs a shell command; `gradus` in it is ours, and `@/` stands for the folder.
inline Outcome shell(const Folder& folder, std::string command) {
  for (std::size_t at = 0; (at = command.find("@/", at)) != std::string::npos;)
    command.replace(at, 1, folder.path.string());
  const std::string out = (folder / ".out").string(), err = (folder / ".err").string();
  const std::string program = gradus_test::bin_dir() + "/gradus";
  const std::string line =
      fmt::format("gradus() {{ '{}' \"$@\"; }}; {{ {}\n}} >'{}' 2>'{}' </dev/null", program, command, out, err);
  const int status = std::system(("bash -c " + shell_word(line)).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

inline std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace gradus::test
