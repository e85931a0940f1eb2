#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gradus {

/// The one exception of the library. Its text reads `op: what is wrong, with the values; what to do`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the formatted text. Kept out of line so that checks cost a compare and a jump.
[[noreturn, gnu::cold]] void fail_with(fmt::string_view text, fmt::format_args args);

/// Throws Error: `fail("matmul: {} against {}; transpose one", a.shape(), b.shape())`.
template <class... A>
[[noreturn, gnu::cold]] void fail(fmt::format_string<A...> text, A&&... args) {
  fail_with(text, fmt::make_format_args(args...));
}

}  // namespace gradus
