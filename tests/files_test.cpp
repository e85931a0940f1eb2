#include "core/arrays.hpp"
#include "core/files.hpp"
#include "core/node.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>

using namespace gradus;
namespace fs = std::filesystem;

namespace {

/// A folder that vanishes with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("gradus-files-{}", ::getpid());
  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
  fs::path operator/(const char* name) const { return path / name; }
  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

fs::path golden(const char* name) { return fs::path(GRADUS_TEST_DIR) / "golden" / name; }

/// Writes without ceremony: what is tested is reading.
void put(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// The text of the Error that f throws, or "no error".
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i));
  return file.append(rest);
}

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

void check_same(const Tensor& a, const Tensor& b) {
  CHECK(a.shape() == b.shape());
  CHECK(a.dtype() == b.dtype());
  CHECK(a.to_vector<double>() == b.to_vector<double>());
}

/// One tensor of each dtype and of awkward shapes.
NamedTensors assorted() {
  return {{"bool", tensor({1, 0, 1}, DType::b8)},
          {"scalar", scalar(2.5, DType::f64)},
          {"matrix", tensor({{1, -2, 3}, {4, 5, 1e-30}})},
          {"empty", zeros({0, 3}, DType::f64)},
          {"large", indices({-9007199254740993, 9007199254740993})}};
}

const std::string f32_2 = R"("dtype":"F32","shape":[2])";

}  // namespace

TEST_CASE("a file is written whole, keeps its mode, and leaves nothing beside it") {
  const Folder folder;
  write_file(folder / "a", "first");
  CHECK(read_file(folder / "a") == "first");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder / "a", std::string("sec\0nd", 6));
  CHECK(read_file(folder / "a") == std::string("sec\0nd", 6));
  CHECK(fs::status(folder / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  write_file(folder / "a", "");
  CHECK(read_file(folder / "a").empty());
  fs::create_symlink("a", folder / "link");
  write_file(folder / "link", "through the link");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "a") == "through the link");
  CHECK(folder.count() == 2);
}

TEST_CASE("a write that fails says why, keeps the old content and removes its temporary file") {
  const Folder folder;
  write_file(folder / "old", "precious");
  CHECK(contains(error_of([&] { write_file(folder / "none" / "x", "new"); }), "No such file or directory"));
  CHECK(contains(error_of([&] { write_file(folder / "old" / "x", "new"); }), "Not a directory"));
  CHECK(contains(error_of([&] { write_file(folder.path, "new"); }), "Is a directory"));
  CHECK(contains(error_of([&] { write_file("/dev/full", "new"); }), "No space left on device"));

  rlimit before{};  // a limit on the size of files stands in for a full disk
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = error_of([&] { write_file(folder / "old", std::string(100000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(error, (folder / "old").string()));
  CHECK(contains(error, "File too large"));
  CHECK(read_file(folder / "old") == "precious");
  CHECK(folder.count() == 1);
}

TEST_CASE("a folder that may not be written to keeps its files") {
  const Folder folder;
  write_file(folder / "old", "precious");
  fs::permissions(folder.path, fs::perms(0555));
  const uid_t user = ::geteuid();  // root may write everywhere: be somebody else for a moment
  if (user == 0 && ::seteuid(65534) != 0) return;
  const std::string error = error_of([&] { write_file(folder / "old", "new"); });
  if (user == 0) REQUIRE(::seteuid(user) == 0);
  fs::permissions(folder.path, fs::perms(0755));
  CHECK(contains(error, "Permission denied"));
  CHECK(read_file(folder / "old") == "precious");
  CHECK(folder.count() == 1);
}

TEST_CASE("a process that is killed while it writes leaves the old content") {
  const Folder folder;
  write_file(folder / "old", "precious");
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{1000, 1000}, none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &small);  // the kernel kills the process at byte 1000
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGXFSZ, SIG_DFL);
    write_file(folder / "old", std::string(100000, 'x'));
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read_file(folder / "old") == "precious");
}

TEST_CASE("reading a file that is not there names it and the reason") {
  CHECK(error_of([] { read_file("/none/such"); }) ==
        "read_file: /none/such cannot be opened: No such file or directory; check the path");
  CHECK(contains(error_of([] { read_file("/tmp"); }), "Is a directory"));
  CHECK_FALSE(read_file("/proc/self/status").empty());  // a file whose size is not known beforehand
}

TEST_CASE("what NumPy wrote compressed, in Fortran order, big-endian and in small integers is read") {
  const NamedTensors arrays = load_npz(golden("compressed.npz"));
  REQUIRE(arrays.size() == 5);
  check_same(find(arrays, "a"), tensor({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, DType::f64));
  check_same(find(arrays, "f"), tensor({{0, 1, 2}, {3, 4, 5}}, DType::f64));
  check_same(find(arrays, "big"), tensor({0, 1, 2}, DType::f64));
  check_same(find(arrays, "i"), indices({0, 1, 2, 3}));
  check_same(find(arrays, "b"), tensor({1, 0}, DType::b8));
  CHECK(find(arrays, "f").is_contiguous());
  CHECK(contains(error_of([&] { find(arrays, "zz"); }), "no tensor is named 'zz'; there are: a, f, big, i, b"));
}

TEST_CASE("a safetensors file of every dtype as PyTorch writes it holds what PyTorch put there") {
  const NamedTensors tensors = load_safetensors(golden("dtypes.safetensors")).tensors;
  const NamedTensors values = load_npz(golden("dtypes_values.npz"));
  for (const char* name : {"f64", "f32", "f16", "bf16"}) {
    CHECK(find(tensors, name).dtype() == (std::string_view(name) == "f64" ? DType::f64 : DType::f32));
    CHECK(find(tensors, name).to_vector<double>() == find(values, name).to_vector<double>());
  }
  check_same(find(tensors, "i64"), indices(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, {2, 3}));
  check_same(find(tensors, "i32"), indices({0, 1, 2, 3, 4, 5}));
  check_same(find(tensors, "u8"), indices({0, 1, 2, 3, 4, 5}));
  check_same(find(tensors, "bool"), tensor({1, 0}, DType::b8));
  check_same(find(tensors, "scalar"), scalar(2.5, DType::f64));
  CHECK(find(tensors, "empty").shape() == Shape{0, 3});
  for (const auto& [name, x] : load_safetensors(golden("encoder_f32.safetensors")).tensors)
    for (const float value : x.to_vector<float>()) CHECK(std::isfinite(value));
}

TEST_CASE("half precision covers subnormals, infinities and NaN") {
  const Folder folder;
  const std::string header = R"({"h":{"dtype":"F16","shape":[7],"data_offsets":[0,14]}})";
  const std::string data("\x01\x00\x01\x80\xff\x03\x00\x7c\x00\xfc\x01\x7e\xff\x7b", 14);
  put(folder / "x", with_length(header.size(), header + data));
  const auto h = load_safetensors(folder / "x").tensors[0].second.to_vector<double>();
  CHECK(h[0] == 0x1p-24);
  CHECK(h[1] == -0x1p-24);
  CHECK(h[2] == 1023 * 0x1p-24);
  CHECK(h[3] == INFINITY);
  CHECK(h[4] == -INFINITY);
  CHECK(std::isnan(h[5]));
  CHECK(h[6] == 65504);
}

TEST_CASE("every dtype and shape survives .npy, .npz and safetensors") {
  const Folder folder;
  const NamedTensors arrays = assorted();
  save_npz(folder / "a.npz", arrays);
  save_safetensors(folder / "a.safetensors", arrays, {{"format", "pt"}, {"note", "\"quoted\"\nline"}});
  const NamedTensors from_npz = load_npz(folder / "a.npz");
  const Safetensors from_safetensors = load_safetensors(folder / "a.safetensors");
  CHECK(from_npz.size() == arrays.size());
  CHECK(from_safetensors.metadata.at("note") == "\"quoted\"\nline");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [name, x] = arrays[i];
    CHECK(from_npz[i].first == name);
    check_same(from_npz[i].second, x);
    check_same(find(from_safetensors.tensors, name), x);
    save_npy(folder / "x.npy", x);
    check_same(load_npy(folder / "x.npy"), x);
  }
  CHECK(find(from_npz, "large").to_vector<std::int64_t>() == find(arrays, "large").to_vector<std::int64_t>());
}

TEST_CASE("a strided tensor is saved as it reads, not as it lies") {
  const Folder folder;
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  const Tensor turned(x.storage(), Layout{{2, 2}, {1, 3}, 1}, DType::f32);
  save_npy(folder / "x.npy", turned);
  save_safetensors(folder / "x.st", {{"x", turned}});
  check_same(load_npy(folder / "x.npy"), tensor({{2, 5}, {3, 6}}));
  check_same(load_safetensors(folder / "x.st").tensors[0].second, tensor({{2, 5}, {3, 6}}));
}

TEST_CASE("safetensors files are a function of their content, aligned, and padded to 8") {
  const Folder folder;
  save_safetensors(folder / "a", assorted(), {{"b", "2"}, {"a", "1"}});
  save_safetensors(folder / "b", assorted(), {{"a", "1"}, {"b", "2"}});
  const std::string file = read_file(folder / "a");
  CHECK(file == read_file(folder / "b"));
  CHECK(static_cast<unsigned char>(file[0]) % 8 == 0);
  CHECK(file.substr(8, 34) == R"({"__metadata__":{"a":"1","b":"2"},)");
  save_safetensors(folder / "none", {});
  CHECK(load_safetensors(folder / "none").tensors.empty());
}

TEST_CASE("what cannot be saved is refused by name") {
  const Folder folder;
  const Tensor x = ones({2});
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"w", x}, {"w", x}}); }), "the name 'w' is taken"));
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"__metadata__", x}}); }), "the name '__metadata__' is taken"));
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"\xff", x}}); }), "not UTF-8"));
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"w", Tensor{}}}); }), "'w' is an undefined tensor"));
  CHECK(contains(error_of([&] { save_npz(folder / "x", {{"w", x.ghost()}}); }), "'w' is a ghost of shape [2]"));
  CHECK(contains(error_of([&] { save_npz(folder / "x", {{"w", x}, {"w", x}}); }), "two arrays are named 'w'"));
  CHECK(folder.count() == 0);
}

TEST_CASE("S02: a safetensors header that lies is refused with the reason") {
  const auto one = [](const std::string& entry) { return R"({"w":{)" + entry + "}}"; };
  const auto pair = [](const std::string& a, const std::string& b) {
    return R"({"a":{)" + f32_2 + R"(,"data_offsets":)" + a + R"(},"b":{)" + f32_2 + R"(,"data_offsets":)" + b + "}}";
  };
  const struct {
    std::string header;
    std::size_t data;
    const char* reason;
  } cases[] = {
      {one(R"("dtype":"F32","shape":[1000,1000],"data_offsets":[0,4])"), 4, "'w': shape [1000, 1000] takes 4000000 bytes, but data_offsets [0, 4] hold 4"},
      {one(f32_2 + R"(,"data_offsets":[8,0])"), 8, "'w': data_offsets [8, 0] end before they begin"},
      {one(f32_2 + R"(,"data_offsets":[8])"), 8, "'w': data_offsets has 1 entries, not 2"},
      {one(f32_2 + R"(,"data_offsets":[0,8,8])"), 8, "'w': data_offsets has 3 entries, not 2"},
      {one(f32_2), 8, "'w': data_offsets is not a list"},
      {one(f32_2 + R"(,"data_offsets":[-8,0])"), 8, "'w': data_offsets has an entry that is no integer from 0"},
      {one(f32_2 + R"(,"data_offsets":[0,18446744073709551615])"), 8, "'w': data_offsets has an entry that is no integer from 0"},
      {one(f32_2 + R"(,"data_offsets":[9223372036854775799,9223372036854775807])"), 8, "reach beyond the 8 bytes of data; the file is truncated"},
      {one(f32_2 + R"(,"data_offsets":[0,8])"), 7, "'w': data_offsets [0, 8] reach beyond the 7 bytes of data; the file is truncated"},
      {pair("[0,8]", "[4,12]"), 12, "'a' and 'b' overlap"},
      {pair("[0,8]", "[0,8]"), 8, "'a' and 'b' overlap"},
      {pair("[0,8]", "[12,20]"), 20, "a gap of 4 bytes before 'b'"},
      {pair("[0,8]", "[8,16]"), 17, "a gap of 1 bytes after the last tensor"},
      {one(R"("dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2])"), 2, "'w': dtype 'F8_E4M3' is unknown; use one of F64 F32"},
      {one(R"("shape":[2],"data_offsets":[0,2])"), 2, "'w': dtype is missing"},
      {one(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,8])"), 8, "'w': shape has an entry that is no integer"},
      {one(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0])"), 0, "more elements than can be counted"},
      {one(R"("dtype":"F32","shape":[0,9223372036854775807,4],"data_offsets":[0,0])"), 0, "more elements than can be counted"},
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
  reset_peak_memory();
  const std::int64_t before = memory_use().peak;
  for (const auto& [header, data, reason] : cases) {
    const std::string error = safetensors_error(header, data);
    CHECK_MESSAGE(contains(error, reason), error);
    CHECK(error.starts_with("load_safetensors: "));
  }
  CHECK(memory_use().peak == before);  // refused before anything was allocated
}

TEST_CASE("S02: a header length beyond the file is refused") {
  const Folder folder;
  for (const std::uint64_t length : {~std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1000}, std::uint64_t{3}}) {
    put(folder / "x", with_length(length, "{}"));
    CHECK(contains(error_of([&] { load_safetensors(folder / "x"); }),
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
      CHECK_MESSAGE(contains(error, "truncated"), path.string(), " at ", size, ": ", error);
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
  const auto header = [](const char* descr, const char* shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
  };
  const struct {
    std::string header;
    std::size_t data;
    const char* reason;
  } cases[] = {
      {header("<f4", "(1000, 1000)"), 4, "the file is truncated: shape [1000, 1000] takes 4000000 bytes, 4 are there"},
      {header("<f4", "(1,)"), 5, "1 bytes too many after shape [1]"},
      {header("<f8", "(4294967296, 4294967296)"), 0, "more elements than can be counted"},
      {header("<f8", "(99999999999999999999,)"), 0, "an extent in the header exceeds 2^63"},
      {header("<f4", "(-1,)"), 0, "expected an extent of 0 or more"},
      {header("<f4", "(1 2)"), 0, "expected )"},
      {header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, "more than 8 axes"},
      {header("<c16", "(1,)"), 16, "dtype '<c16' is not supported"},
      {header("|O", "(1,)"), 8, "dtype '|O' is not supported"},
      {header("<f3", "(1,)"), 3, "dtype '<f3' is not supported"},
      {header("", "(1,)"), 3, "dtype '' is not supported"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, "structured dtypes are not supported"},
      {"{'descr': '<f4', 'shape': (1,)}", 4, "the header lacks one of descr, fortran_order and shape"},
      {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", 4, "unknown or repeated key 'descr'"},
      {"{'descr': '<f4', 'fortran_order': Maybe}", 4, "expected True or False"},
      {"{'descr': '<f4", 4, "expected a closing quote"},
      {"", 20, "expected {"},
  };
  reset_peak_memory();
  const std::int64_t before = memory_use().peak;
  for (const auto& [text, data, reason] : cases) {
    const std::string error = npy_error(text, data);
    CHECK_MESSAGE(contains(error, reason), error);
  }
  CHECK(memory_use().peak == before);
  const Folder folder;
  put(folder / "x", npy_file(header("<f4", "(1,)"), 4, 9));
  CHECK(contains(error_of([&] { load_npy(folder / "x"); }), "format version 9 is unknown"));
  put(folder / "x", npy_file(header("<f4", "(1,)"), 4, 2));
  CHECK(load_npy(folder / "x").shape() == Shape{1});
  put(folder / "x", "not an array at all");
  CHECK(contains(error_of([&] { load_npy(folder / "x"); }), "not a .npy file"));
}
