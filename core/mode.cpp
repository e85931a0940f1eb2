#include "core/mode.hpp"

#include <cstdlib>
#include <cstring>

namespace gradus {

namespace detail {
thread_local constinit Mode thread_mode{};
}

namespace {
bool asked_by_environment() {
  const char* const value = std::getenv("GRADUS_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}
}  // namespace

bool reference_mode() {
  static const bool always = asked_by_environment();
  return always || mode().reference;
}

}  // namespace gradus
