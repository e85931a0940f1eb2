#pragma once

#include <cstdio>
#include <string_view>

namespace gradus::draw {

/// Writes to a stream without ever raising SIGPIPE in the process; false when the reader has gone or the write fails.
bool quiet_write(std::FILE* stream, std::string_view text);

}  // namespace gradus::draw
