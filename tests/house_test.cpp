#include "core/registry.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include "tests/paths.hpp"

using namespace gradus;
namespace fs = std::filesystem;

namespace {

const fs::path root = gradus_test::source_dir();

std::string content(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> sources(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp") found.push_back(entry.path());
  return found;
}

}  // namespace

TEST_CASE(
    "includes point one way: core <- ops <- nn; core <- optim, draw; all <- train, study; train and study do not know "
    "each other") {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"core", {"core"}},
      {"ops", {"core", "ops"}},
      {"nn", {"core", "ops", "nn"}},
      {"optim", {"core", "optim"}},
      {"draw", {"core", "draw"}},
      {"train", {"core", "ops", "nn", "optim", "draw", "train"}},
      {"study", {"core", "ops", "nn", "optim", "draw", "study"}},
      {"cli", {"core", "ops", "nn", "optim", "draw", "train", "study", "cli"}},
  };
  for (const auto& [folder, may] : allowed) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::path& file : sources(folder)) {
      std::istringstream lines(content(file));
      for (std::string line; std::getline(lines, line);) {
        if (line.rfind("#include \"", 0) != 0) continue;
        const std::string target = line.substr(10, line.find('/', 10) - 10);
        INFO(file.string() << ": " << line);
        CHECK(may.count(target) == 1);
      }
    }
  }
}

TEST_CASE("every ops/*.cpp registers exactly one op of its own name") {
  std::set<std::string> files, names;
  for (const fs::path& file : sources("ops"))
    if (file.extension() == ".cpp") files.insert(file.stem().string());
  for (const OpEntry* op : all_ops()) names.insert(op->name());
  for (const std::string& file : files)
    CHECK_MESSAGE(names.count(file) == 1, "ops/", file, ".cpp registers no op named ", file,
                  ": is `.name` the file's name, and is there a Register?");
  for (const std::string& name : names)
    CHECK_MESSAGE(files.count(name) == 1, "the op ", name, " is registered, but there is no ops/", name, ".cpp");
  CHECK(all_ops().size() == files.size());
}

TEST_CASE("the root holds nothing but the front door and the rooms") {
  const std::set<std::string> expected = {"core",
                                          "ops",
                                          "nn",
                                          "optim",
                                          "draw",
                                          "train",
                                          "study",
                                          "cli",
                                          "examples",
                                          "tests",
                                          "bench",
                                          "docs",
                                          "cmake",
                                          "build",
                                          "runs",
                                          "CMakeLists.txt",
                                          "CMakePresets.json",
                                          "Makefile",
                                          "README.md",
                                          "LICENSE"};
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name[0] == '.') continue;
    INFO(name);
    CHECK(expected.count(name) == 1);
  }
}

TEST_CASE("docs/ops.md is what the registry says: run `make docs` after a change of an op's words") {
  FILE* const pipe = popen((gradus_test::bin_dir() + "/gradus ops --markdown").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string page;
  char part[4096];
  for (std::size_t n = 0; (n = fread(part, 1, sizeof part, pipe)) > 0;) page.append(part, n);
  CHECK(pclose(pipe) == 0);
  CHECK((page == content(root / "docs/ops.md")));
}
