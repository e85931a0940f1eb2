#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradus {

/// One member of a zip archive, as the central directory describes it. All positions were checked against the archive's
/// size.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint32_t checksum = 0;         ///< CRC-32 of the content
  std::uint64_t stored_size = 0;      ///< bytes in the archive
  std::uint64_t size = 0;             ///< bytes of the content
  std::uint64_t header_position = 0;  ///< of the local header
};

/// The members of an archive, zip64 included. Errors start with `where`: truncated, encrypted, or in several parts.
std::vector<ZipEntry> zip_entries(const std::string& where, std::string_view archive);

/// The content of a member, its checksum verified.
std::string zip_content(const std::string& where, std::string_view archive, const ZipEntry& entry);

/// Builds an archive of stored (not deflated) members. The same members give the same bytes: dates are fixed.
class ZipWriter {
 public:
  void add(std::string_view name, std::string_view content);
  /// Appends the directory; call it last.
  std::string finish();

 private:
  std::string archive_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace gradus
