#include "core/elements.hpp"
#include "core/files.hpp"
#include "core/zip.hpp"

#include <set>

namespace gradus {

NamedTensors load_npz(const std::filesystem::path& path) {
  constexpr std::string_view suffix = ".npy";
  const std::string where = "load_npz: " + path.string(), archive = read_file(path);
  NamedTensors arrays;
  std::set<std::string, std::less<>> names;
  for (const ZipEntry& entry : zip_entries(where, archive)) {
    std::string_view name = entry.name;
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    else fail("{}: member {} is not a .npy array; take it out of the archive", where, printable(name));
    if (!names.emplace(name).second) fail("{}: two members are named {}; rename one", where, printable(name));
    arrays.emplace_back(name, decode_npy(where + ": " + printable(entry.name), zip_content(where, archive, entry)));
  }
  return arrays;
}

void save_npz(const std::filesystem::path& path, const NamedTensors& arrays) {
  ZipWriter zip;
  std::set<std::string_view> names;
  for (const auto& [name, x] : arrays) {
    if (!names.insert(name).second) fail("save_npz: two arrays are named {}; rename one", printable(name));
    zip.add(name + ".npy", encode_npy(packed_for_saving("save_npz", name, x)));
  }
  write_file(path, zip.finish());
}

}  // namespace gradus
