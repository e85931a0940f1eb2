#include "draw/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace gradus::draw {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = fileno(stream);
  Terminal terminal;
  terminal.interactive = descriptor >= 0 && isatty(descriptor) == 1 && environment("TERM") != "dumb";
  terminal.color = terminal.interactive && environment("NO_COLOR").empty();
  winsize size{};
  if (terminal.interactive && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

}  // namespace gradus::draw
