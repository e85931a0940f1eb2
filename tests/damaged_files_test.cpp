#include "core/arrays.hpp"
#include "core/files.hpp"
#include "core/node.hpp"
#include "tests/file_helpers.hpp"

#include <doctest/doctest.h>

using namespace gradus;
using namespace gradus::test;

namespace {

/// A safetensors file with that header and `data` zeros, loaded.
std::string safetensors_error(const std::string& header, std::size_t data) {
  const Folder folder;
  put(folder / "x", with_length(header.size(), header + std::string(data, '\0')));
  return error_of([&] { load_safetensors(folder / "x"); });
}

std::string npy_file(const std::string& header, std::size_t data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data, '\0');
}

std::string npy_error(const std::string& header, std::size_t data) {
  const Folder folder;
  put(folder / "x", npy_file(header, data));
  return error_of([&] { load_npy(folder / "x"); });
}

/// A header, the bytes of data after it, and what the error must say.
struct Lie {
  std::string header;
  std::size_t data;
  const char* reason;
};

const std::string f32_2 = R"("dtype":"F32","shape":[2])";

std::string one(const std::string& entry) { return R"({"w":{)" + entry + "}}"; }

/// Two tensors of 8 bytes at these offsets.
std::string pair(const std::string& a, const std::string& b) {
  return R"({"a":{)" + f32_2 + R"(,"data_offsets":)" + a + R"(},"b":{)" + f32_2 + R"(,"data_offsets":)" + b + "}}";
}

std::string npy_header(const char* descr, const char* shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
}

const Lie false_headers[] = {
    {one(R"("dtype":"F32","shape":[1000,1000],"data_offsets":[0,4])"), 4,
     "'w': shape [1000, 1000] takes 4000000 bytes, but data_offsets [0, 4] hold 4"},
    {one(f32_2 + R"(,"data_offsets":[8,0])"), 8, "'w': data_offsets [8, 0] end before they begin"},
    {one(f32_2 + R"(,"data_offsets":[8])"), 8, "'w': data_offsets has 1 entries, not 2"},
    {one(f32_2 + R"(,"data_offsets":[0,8,8])"), 8, "'w': data_offsets has 3 entries, not 2"},
    {one(f32_2), 8, "'w': data_offsets is not a list"},
    {one(f32_2 + R"(,"data_offsets":[-8,0])"), 8, "'w': data_offsets has an entry that is no integer from 0"},
    {one(f32_2 + R"(,"data_offsets":[0,18446744073709551615])"), 8,
     "'w': data_offsets has an entry that is no integer from 0"},
    {one(f32_2 + R"(,"data_offsets":[9223372036854775799,9223372036854775807])"), 8,
     "reach beyond the 8 bytes of data; the file is truncated"},
    {one(f32_2 + R"(,"data_offsets":[0,8])"), 7,
     "'w': data_offsets [0, 8] reach beyond the 7 bytes of data; the file is truncated"},
    {pair("[0,8]", "[4,12]"), 12, "'a' and 'b' overlap"},
    {pair("[0,8]", "[0,8]"), 8, "'a' and 'b' overlap"},
    {pair("[0,8]", "[12,20]"), 20, "a gap of 4 bytes before 'b'"},
    {pair("[0,8]", "[8,16]"), 17, "a gap of 1 bytes after the last tensor"},
    {one(R"("dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2])"), 2,
     "'w': dtype 'F8_E4M3' is unknown; use one of F64 F32"},
    {one(R"("shape":[2],"data_offsets":[0,2])"), 2, "'w': dtype is missing"},
    {one(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,8])"), 8, "'w': shape has an entry that is no integer"},
    {one(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0])"), 0,
     "more elements than can be counted"},
    {one(R"("dtype":"F32","shape":[0,9223372036854775807,4],"data_offsets":[0,0])"), 0,
     "more elements than can be counted"},
    {one(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])"), 4, "'w': 9 axes, 8 are the most"},
    {"[]", 0, "the header is a JSON array, not an object"},
    {"7", 0, "the header is a JSON number, not an object"},
    {R"({"w":3})", 0, "'w': not a JSON object"},
    {R"({"w":{},"w":{}})", 0, "the header has the name 'w' twice"},
    {R"({"w":{"dtype":"F32","dtype":"F64"}})", 0, "the header has the name 'dtype' twice"},
    {R"({"__metadata__":{"a":1}})", 0, "metadata 'a' is not a string"},
    {R"({"__metadata__":[]})", 0, "__metadata__ is not a JSON object"},
    {"{\"w\":", 0, "the header is not valid JSON at byte 6"},
    {"{\"\xff\":1}", 0, "the header is not valid JSON"},
    {R"({"w":1e999})", 0, "a number that is out of range"},
    {std::string(100000, '['), 0, "the header nests too deeply"},
    {R"({"a\nb":3})", 0, R"('a\x0ab': not a JSON object)"},
};

const Lie false_npy_headers[] = {
    {npy_header("<f4", "(1000, 1000)"), 4,
     "the file is truncated: shape [1000, 1000] takes 4000000 bytes, 4 are there"},
    {npy_header("<f4", "(1,)"), 5, "1 bytes too many after shape [1]"},
    {npy_header("<f8", "(4294967296, 4294967296)"), 0, "more elements than can be counted"},
    {npy_header("<f8", "(99999999999999999999,)"), 0, "an extent in the header exceeds 2^63"},
    {npy_header("<f4", "(-1,)"), 0, "expected an extent of 0 or more"},
    {npy_header("<f4", "(1 2)"), 0, "expected )"},
    {npy_header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, "more than 8 axes"},
    {npy_header("<c16", "(1,)"), 16, "dtype '<c16' is not supported"},
    {npy_header("|O", "(1,)"), 8, "dtype '|O' is not supported"},
    {npy_header("<f3", "(1,)"), 3, "dtype '<f3' is not supported"},
    {npy_header("", "(1,)"), 3, "dtype '' is not supported"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "structured dtypes are not supported"},
    {"{'descr': '<f4', 'shape': (1,)}", 4, "the header lacks one of descr, fortran_order and shape"},
    {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", 4, "unknown or repeated key 'descr'"},
    {"{'descr': '<f4', 'fortran_order': Maybe}", 4, "expected True or False"},
    {"{'descr': '<f4", 4, "expected a closing quote"},
    {"", 20, "expected {"},
};

}  // namespace

TEST_CASE("S02: a safetensors header that lies is refused with the reason") {
  reset_peak_memory();
  const std::int64_t before = memory_use().peak;
  for (const auto& [header, data, reason] : false_headers) {
    const std::string error = safetensors_error(header, data);
    CHECK_MESSAGE(contains(error, reason), error);
    CHECK(error.starts_with("load_safetensors: "));
  }
  CHECK(memory_use().peak == before);  // refused before anything was allocated
}

TEST_CASE("S02: a header length beyond the file is refused") {
  const Folder folder;
  for (const std::uint64_t length :
       {~std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1000}, std::uint64_t{3}}) {
    put(folder / "x", with_length(length, "{}"));
    CHECK(
        contains(error_of([&] { load_safetensors(folder / "x"); }),
                 fmt::format("a header of {} bytes in a file with 2 after its length; the file is truncated", length)));
  }
}

TEST_CASE("S01: a safetensors, .npy or .npz file cut anywhere is called truncated") {
  const Folder folder;
  save_npy(folder / "whole.npy", tensor({{1, 2}, {3, 4}}));
  const std::pair<fs::path, std::function<void(const fs::path&)>> files[] = {
      {golden("dtypes.safetensors"), [](const fs::path& path) { load_safetensors(path); }},
      {golden("compressed.npz"), [](const fs::path& path) { load_npz(path); }},
      {folder / "whole.npy", [](const fs::path& path) { load_npy(path); }}};
  for (const auto& [path, load] : files) {
    const std::string whole = read_file(path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      put(folder / "cut", std::string_view(whole).substr(0, size));
      const std::string error = error_of([&, &use = load] { use(folder / "cut"); });
      CHECK_MESSAGE(contains(error, "truncated"), size, " bytes left: ", error);
    }
  }
}

TEST_CASE("a damaged byte anywhere gives an Error or other numbers, never a crash or a large allocation") {
  const Folder folder;
  const std::pair<const char*, std::function<void(const fs::path&)>> files[] = {
      {"dtypes.safetensors", [](const fs::path& path) { load_safetensors(path); }},
      {"compressed.npz", [](const fs::path& path) { load_npz(path); }},
      {"dtypes_values.npz", [](const fs::path& path) { load_npz(path); }}};
  reset_peak_memory();
  const std::int64_t before = memory_use().peak;
  for (const auto& [name, load] : files) {
    const std::string whole = read_file(golden(name));
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
        put(folder / "damaged", damaged);
        error_of([&, &use = load] { use(folder / "damaged"); });
      }
  }
  CHECK(memory_use().peak - before < 100000);
}

TEST_CASE("a .npz member whose bytes changed fails its checksum") {
  const Folder folder;
  save_npz(folder / "a.npz", {{"w", ones({4})}});
  std::string file = read_file(folder / "a.npz");
  file[file.find("PK\1\2") - 1] ^= 1;  // the last byte of the content
  put(folder / "a.npz", file);
  CHECK(contains(error_of([&] { load_npz(folder / "a.npz"); }), "member 'w.npy' has a wrong checksum"));
}

TEST_CASE("a .npy header that lies is refused with the reason") {
  reset_peak_memory();
  const std::int64_t before = memory_use().peak;
  for (const auto& [text, data, reason] : false_npy_headers) {
    const std::string error = npy_error(text, data);
    CHECK_MESSAGE(contains(error, reason), error);
  }
  CHECK(memory_use().peak == before);
  const Folder folder;
  put(folder / "x", npy_file(npy_header("<f4", "(1,)"), 4, 9));
  CHECK(contains(error_of([&] { load_npy(folder / "x"); }), "format version 9 is unknown"));
  put(folder / "x", npy_file(npy_header("<f4", "(1,)"), 4, 2));
  CHECK(load_npy(folder / "x").shape() == Shape{1});
  put(folder / "x", "not an array at all");
  CHECK(contains(error_of([&] { load_npy(folder / "x"); }), "not a .npy file"));
}
