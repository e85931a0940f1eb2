#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace gradus {

/// The whole file. Error with the path and the system's reason.
std::string read_file(const std::filesystem::path& path);
/// Writes to a temporary name beside `path`, flushes to disk and renames: after a crash the old or the new content is
/// there, never a part.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace gradus
