#pragma once

#include <cstdio>

namespace gradus::draw {

/// What the place that text goes to can do.
struct Terminal {
  bool interactive = false;  ///< a person watches: a line may be redrawn
  bool color = false;        ///< 24-bit colour escapes are welcome
  int columns = 80;          ///< width in columns
};

/// Looks at a stream: interactive if it is a terminal that is not `dumb`; colour if, besides, NO_COLOR is not set to
/// something (no-color.org); columns as the terminal says, else 80.
Terminal terminal_of(std::FILE* stream);

}  // namespace gradus::draw
