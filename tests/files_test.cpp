#include "core/arrays.hpp"
#include "core/files.hpp"
#include "core/node.hpp"
#include "tests/file_helpers.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>
#include <csignal>

using namespace gradus;
using namespace gradus::test;

namespace {

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
  CHECK(contains(error_of([&] {
                   save_safetensors(folder / "x", {{"__metadata__", x}});
                 }),
                 "the name '__metadata__' is taken"));
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"\xff", x}}); }), "not UTF-8"));
  CHECK(contains(error_of([&] { save_safetensors(folder / "x", {{"w", Tensor{}}}); }), "'w' is an undefined tensor"));
  CHECK(contains(error_of([&] { save_npz(folder / "x", {{"w", x.ghost()}}); }), "'w' is a ghost of shape [2]"));
  CHECK(contains(error_of([&] { save_npz(folder / "x", {{"w", x}, {"w", x}}); }), "two arrays are named 'w'"));
  CHECK(folder.count() == 0);
}
