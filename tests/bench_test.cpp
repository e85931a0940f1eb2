// The benchmarks run and say what they should. No test looks at a time.
#include "command_helpers.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

using namespace gradus;
using namespace gradus::test;
using nlohmann::json;

namespace {

std::string bench(const std::string& arguments) { return gradus_test::bin_dir() + "/gradus-bench " + arguments; }

std::vector<std::string> listed(const Folder& folder) {
  std::istringstream lines(shell(folder, bench("--list")).out);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

}  // namespace

TEST_CASE("every workload that --list names runs a tiny step and prints one JSON line with all fields") {
  const Folder folder;
  const auto names = listed(folder);
  for (const char* name :
       {"chain_scalar_1000", "chain_64_1000", "mha_seed", "seq2seq_copy", "seq2seq_seed", "gpt_nano", "gpt_char",
        "gpt2_124M", "sdpa_1024", "sdpa_4096", "softmax_4096x1024", "layer_norm_4096x1024", "gelu_tanh_4096x1024",
        "cross_entropy_4096x1024", "add_broadcast_4096x1024", "exp_4096x1024", "transpose_copy_4096x1024", "microgpt"})
    CHECK_MESSAGE(std::count(names.begin(), names.end(), name) == 1, name);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Outcome run = shell(folder, bench("--workload " + name + " --smoke --json --threads 2"));
    REQUIRE(run.status == 0);
    CHECK(lines(run.out) == 1);
    const json result = json::parse(run.out);
    CHECK(result.at("name") == name);
    CHECK(result.at("median_ms").get<double>() > 0);
    CHECK(result.at("min_ms").get<double>() <= result.at("median_ms").get<double>());
    CHECK(result.at("repeats").get<int>() == 1);
    CHECK(result.at("threads").get<int>() == (name.starts_with("microgpt") ? 1 : 2));
    CHECK(!result.at("blas_core").get<std::string>().empty());
    CHECK(result.at("peak_bytes").get<std::int64_t>() >= 0);
  }
}

TEST_CASE("the floor of a transformer's step counts its products: two of them backward for each one forward") {
  const Folder folder;
  // One layer of width 16, 4 heads, batch 12, context 8: seven linear layers (queries, keys and values apart), and for each of 48 heads two products.
  const Outcome run = shell(folder, bench("--floor gpt_nano --smoke --json"));
  REQUIRE(run.status == 0);
  CHECK(json::parse(run.out).at("blas_threads").get<int>() >= 1);
  CHECK(json::parse(run.out).at("products").get<int>() == 3 * (7 + 2 * 12 * 4));
  CHECK(json::parse(shell(folder, bench("--floor exp_4096x1024 --smoke --json")).out).at("products").get<int>() == 0);
}

TEST_CASE("the causal floor leaves out what the mask empties") {
  const Folder folder;
  // 8 heads, 32 queries in one block: all 32 keys are seen by the last of them, 64 wide, two products and four behind.
  const json floor = json::parse(shell(folder, bench("--floor sdpa_1024 --smoke --json")).out);
  CHECK(floor.at("products").get<int>() == 8 * 6);
  CHECK(floor.at("gflop").get<double>() == doctest::Approx(8 * 6 * 2e-9 * 32 * 32 * 64));
}

TEST_CASE("a workload's model has as many parameters as its formula says") {
  const Folder folder;
  const json result = json::parse(shell(folder, bench("--workload microgpt --smoke --json")).out);
  CHECK(result.at("parameters").get<int>() == 27 * 16 + 16 * 16 + 4 * 16 * 16 + 2 * 64 * 16 + 27 * 16);
}

TEST_CASE("the two programs without the library start from the same numbers and find the same loss, near log 27") {
  const Folder folder;
  const json scalar = json::parse(shell(folder, bench("--workload microgpt_scalar --seconds 0.01 --json")).out);
  const json by_hand = json::parse(shell(folder, bench("--workload microgpt_by_hand --smoke --json")).out);
  const json first = json::parse(shell(folder, bench("--workload microgpt_scalar --smoke --json")).out);
  CHECK(first.at("loss").get<double>() == doctest::Approx(std::log(27.0)).epsilon(0.1));
  CHECK(first.at("loss").get<double>() == doctest::Approx(by_hand.at("loss").get<double>()).epsilon(1e-5));
  CHECK(scalar.at("loss").get<double>() < 0.95 * first.at("loss").get<double>());  // 600 steps later
}

TEST_CASE("microgpt reads names from a file, and says what is wrong with a bad one") {
  const Folder folder;
  CHECK(shell(folder, "printf 'ada\\r\\nzoe\\n\\n' > @/n; " + bench("--workload microgpt --smoke --json --file @/n"))
            .status == 0);
  const Outcome bad = shell(folder, "printf 'ada\\nA1\\n' > @/n; " + bench("--workload microgpt --smoke --file @/n"));
  CHECK(bad.status == 1);
  CHECK(bad.err.find("'A1'") != std::string::npos);
  CHECK(shell(folder, ": > @/n; " + bench("--workload microgpt --smoke --file @/n")).status == 1);
  CHECK(shell(folder, bench("--workload microgpt --smoke --file @/missing")).status == 1);
}

TEST_CASE("an unknown workload is an error of one line that says where the names are; wrong usage is status 2") {
  const Folder folder;
  const Outcome run = shell(folder, bench("--workload gpt_huge"));
  CHECK(run.status == 1);
  CHECK(run.err.find("'gpt_huge'") != std::string::npos);
  CHECK(run.err.find("--list") != std::string::npos);
  CHECK(lines(run.err) == 1);
  CHECK(shell(folder, bench("--threads 0 --workload exp_4096x1024")).status == 2);
}

TEST_CASE("compare.py explains itself without PyTorch, and knows no workload that gradus-bench does not") {
  const Folder folder;
  const std::string script = "python3 " + gradus_test::source_dir() + "/bench/compare.py ";
  if (shell(folder, "python3 --version").status != 0) return;
  const Outcome help = shell(folder, script + "--help");
  CHECK(help.status == 0);
  CHECK(help.out.find("pip install torch==2.13.0") != std::string::npos);
  const Outcome unknown = shell(folder, script + "--only gpt_huge");
  CHECK(unknown.status == 1);
  const auto names = listed(folder);
  std::istringstream known(unknown.err.substr(unknown.err.find("there are ") + 10));
  for (std::string name; known >> name;) {
    if (name.ends_with(',')) name.pop_back();
    CHECK_MESSAGE(std::count(names.begin(), names.end(), name) == 1, name);
  }
}
