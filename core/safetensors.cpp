#include "core/elements.hpp"
#include "core/files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

// The format (https://github.com/huggingface/safetensors): 8 bytes N, little-endian; N bytes of JSON
// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ..., "__metadata__": {"key": "text"}}; the
// data. Offsets count from the start of the data, which the tensors cover without gaps or overlaps.

namespace gradus {
namespace {

using Json = nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr const char* metadata_name = "__metadata__";

struct FileType {
  std::string_view name;
  Element element;
};
constexpr FileType file_types[] = {
    {"F64", {Element::Kind::real, 8}},    {"F32", {Element::Kind::real, 4}},    {"F16", {Element::Kind::real, 2}},
    {"BF16", {Element::Kind::bfloat, 2}}, {"I64", {Element::Kind::integer, 8}}, {"I32", {Element::Kind::integer, 4}},
    {"I16", {Element::Kind::integer, 2}}, {"I8", {Element::Kind::integer, 1}},  {"U64", {Element::Kind::natural, 8}},
    {"U32", {Element::Kind::natural, 4}}, {"U16", {Element::Kind::natural, 2}}, {"U8", {Element::Kind::natural, 1}},
    {"BOOL", {Element::Kind::truth, 1}}};

/// One tensor as the header describes it, checked against the size of the data.
struct Entry {
  std::string name;
  Element element;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

/// The JSON value of a header. Error for bad JSON, for a name that occurs twice (JSON readers keep either) and for deep
/// nesting.
Json parse_header(const std::string& where, std::string_view text) {
  std::vector<std::set<std::string>> names;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second)
      fail("{}: the header has the name {} twice; names must differ", where, printable(parsed.get<std::string>()));
    if (depth > 2 && (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start))
      fail("{}: the header nests too deeply; the file is damaged", where);
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::parse_error& error) {
    fail("{}: the header is not valid JSON at byte {}; the file is damaged or not safetensors", where, error.byte);
  } catch (const Json::exception&) {
    fail("{}: the header has a number that is out of range; the file is damaged", where);
  }
}

/// A list of natural numbers below 2^63.
std::vector<std::uint64_t> naturals(const std::string& where, const Json& entry, const char* key) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array()) fail("{}: {} is not a list; the file is damaged", where, key);
  std::vector<std::uint64_t> numbers;
  for (const Json& n : *list) {
    if (!n.is_number_unsigned() ||
        n.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail("{}: {} has an entry that is no integer from 0 to 2^63 - 1; the file is damaged", where, key);
    numbers.push_back(n.get<std::uint64_t>());
  }
  return numbers;
}

Element read_dtype(const std::string& where, const Json& entry) {
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) fail("{}: dtype is missing; the file is damaged", where);
  const auto& name = dtype->get_ref<const std::string&>();
  std::string known;
  for (const FileType& type : file_types) {
    if (type.name == name) return type.element;
    known.append(known.empty() ? "" : " ").append(type.name);
  }
  fail("{}: dtype {} is unknown; use one of {}", where, printable(name), known);
}

Entry read_entry(const std::string& file, const std::string& name, const Json& json, std::uint64_t data_size) {
  const std::string where = file + ": " + printable(name);
  if (!json.is_object()) fail("{}: not a JSON object; the file is damaged", where);
  Entry entry{name, read_dtype(where, json), {}, 0, 0};
  const auto extents = naturals(where, json, "shape"), offsets = naturals(where, json, "data_offsets");
  if (extents.size() > Shape::max_rank)
    fail("{}: {} axes, {} are the most; reshape before saving", where, extents.size(), Shape::max_rank);
  for (const std::uint64_t n : extents) entry.shape.push_back(static_cast<std::int64_t>(n));
  if (offsets.size() != 2) fail("{}: data_offsets has {} entries, not 2; the file is damaged", where, offsets.size());
  entry.begin = offsets[0], entry.end = offsets[1];
  if (entry.begin > entry.end)
    fail("{}: data_offsets [{}, {}] end before they begin; the file is damaged", where, entry.begin, entry.end);
  const auto bytes = static_cast<std::uint64_t>(checked_bytes(where, entry.shape, entry.element.bytes));
  if (bytes != entry.end - entry.begin)
    fail("{}: shape {} takes {} bytes, but data_offsets [{}, {}] hold {}; the file is damaged", where, entry.shape,
         bytes, entry.begin, entry.end, entry.end - entry.begin);
  if (entry.end > data_size)
    fail("{}: data_offsets [{}, {}] reach beyond the {} bytes of data; the file is truncated", where, entry.begin,
         entry.end, data_size);
  return entry;
}

/// The tensors cover the data: each begins where the one before ended. Sorts them into that order.
void check_cover(const std::string& where, std::vector<Entry>& entries, std::uint64_t data_size) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.begin < end)
      fail("{}: {} and {} overlap; the file is damaged", where, printable(entries[i - 1].name), printable(entry.name));
    if (entry.begin > end)
      fail("{}: a gap of {} bytes before {}; the file is damaged", where, entry.begin - end, printable(entry.name));
    end = entry.end;
  }
  if (end < data_size) fail("{}: a gap of {} bytes after the last tensor; the file is damaged", where, data_size - end);
}

std::map<std::string, std::string> read_metadata(const std::string& where, const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) fail("{}: {} is not a JSON object; the file is damaged", where, metadata_name);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) fail("{}: metadata {} is not a string; the file is damaged", where, printable(key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// Packed tensors in the order of the file: wide elements first, so that each lies at a multiple of its element's size,
/// which readers that map the file rely on; else as given.
NamedTensors arranged(const NamedTensors& tensors) {
  NamedTensors order;
  std::set<std::string_view> names{metadata_name};
  for (const auto& [name, x] : tensors) {
    if (!names.insert(name).second) fail("save_safetensors: the name {} is taken; rename the tensor", printable(name));
    order.emplace_back(name, packed_for_saving("save_safetensors", name, x));
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.second.dtype()) > bytes_of(b.second.dtype());
  });
  return order;
}

/// The header, padded with spaces to a multiple of 8.
std::string header_of(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  constexpr const char* names[] = {"F32", "F64", "I64", "BOOL"};  // in the order of DType
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[metadata_name] = metadata;
  std::size_t begin = 0;
  for (const auto& [name, x] : tensors) {
    const std::size_t end = begin + raw_bytes(x).size();
    header[name] = {{"dtype", names[static_cast<int>(x.dtype())]},
                    {"shape", std::vector<std::int64_t>(x.shape().begin(), x.shape().end())},
                    {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) { fail("save_safetensors: a name or a metadata text is not UTF-8; rename it"); }
  return text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
}

}  // namespace

Safetensors load_safetensors(const std::filesystem::path& path) {
  const std::string where = "load_safetensors: " + path.string(), file = read_file(path);
  if (file.size() < length_bytes)
    fail("{}: the file is truncated: {} bytes, the header's length takes 8", where, file.size());
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  const std::string_view rest = std::string_view(file).substr(length_bytes);
  if (length > rest.size())
    fail("{}: a header of {} bytes in a file with {} after its length; the file is truncated or not safetensors", where,
         length, rest.size());
  const Json header = parse_header(where, rest.substr(0, length));
  if (!header.is_object())
    fail("{}: the header is a JSON {}, not an object; the file is damaged", where, header.type_name());

  const std::string_view data = rest.substr(length);
  Safetensors result;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == metadata_name) result.metadata = read_metadata(where, json);
    else entries.push_back(read_entry(where, name, json, data.size()));
  }
  check_cover(where, entries, data.size());
  for (const Entry& entry : entries)
    result.tensors.emplace_back(
        entry.name, decode_elements(where + ": " + printable(entry.name),
                                    data.substr(entry.begin, entry.end - entry.begin), entry.shape, entry.element));
  return result;
}

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const NamedTensors order = arranged(tensors);
  const std::string header = header_of(order, metadata);
  std::string file;
  std::size_t size = length_bytes + header.size();
  for (const auto& [name, x] : order) size += raw_bytes(x).size();
  file.reserve(size);
  for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  for (const auto& [name, x] : order) file += raw_bytes(x);
  write_file(path, file);
}

}  // namespace gradus
