// gradus-bench: times one workload, or the BLAS floor under it.
#include "bench/workloads.hpp"
#include "core/gemm.hpp"
#include "core/parallel.hpp"
#include "core/storage.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace {

using gradus::bench::Prepared;
using gradus::bench::Workload;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string workload, floor, file;
  double seconds = 2;
  int threads = 0;
  bool json = false, list = false, smoke = false;
};

// The most memory that the process ever had, as Linux counts it; 0 elsewhere.
std::int64_t process_peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  return 0;
}

// Repeats the step for about `seconds` after a warm-up of a tenth of it; at least five times.
std::vector<double> repeat(const Prepared& prepared, double seconds) {
  const auto after = [](double s) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  prepared.step();
  for (const auto end = after(seconds / 10); Clock::now() < end;) prepared.step();
  gradus::reset_peak_memory();
  std::vector<double> times;
  for (const auto end = after(seconds); Clock::now() < end || times.size() < 5;) {
    const auto begin = Clock::now();
    prepared.step();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count() * prepared.scale);
  }
  return times;
}

std::vector<double> once(const Prepared& prepared) {
  const auto begin = Clock::now();
  prepared.step();
  return {std::chrono::duration<double, std::milli>(Clock::now() - begin).count() * prepared.scale};
}

Json measure(const Workload& workload, const Options& options) {
  const Prepared prepared = workload.make({options.smoke, options.file});
  std::vector<double> times = options.smoke ? once(prepared) : repeat(prepared, options.seconds);
  std::sort(times.begin(), times.end());
  const std::int64_t peak = gradus::memory_use().peak;
  Json result{{"name", workload.name},
              {"median_ms", times[times.size() / 2]},
              {"min_ms", times.front()},
              {"repeats", times.size()},
              {"threads", gradus::threads()},
              {"blas_core", gradus::blas_core()},
              {"peak_bytes", peak},
              {"process_peak_bytes", process_peak_bytes()},
              {"parameters", prepared.parameters}};
  if (prepared.loss) result["loss"] = prepared.loss();
  if (prepared.given_bytes) result["bytes_over_inputs_outputs_gradients"] = peak - prepared.given_bytes;
  return result;
}

Json measure_floor(const Workload& workload, const Options& options) {
  const auto floor =
      gradus::bench::blas_floor(workload.make({options.smoke, options.file}), options.seconds, options.smoke);
  return {{"name", workload.name},
          {"median_ms", floor.median_ms},
          {"min_ms", floor.min_ms},
          {"repeats", floor.repeats},
          {"threads", gradus::threads()},
          {"blas_core", gradus::blas_core()},
          {"blas_threads", floor.blas_threads},
          {"products", floor.products},
          {"gflop", floor.gflop}};
}

void print(const Json& result, bool json) {
  if (json) return fmt::print("{}\n", result.dump());
  fmt::print("{}: median {:.4f} ms, minimum {:.4f} ms, {} repeats, {} threads, BLAS core {}\n",
             result["name"].get<std::string>(), result["median_ms"].get<double>(), result["min_ms"].get<double>(),
             result["repeats"].get<std::int64_t>(), result["threads"].get<int>(),
             result["blas_core"].get<std::string>());
  const auto megabytes = [&](const char* field, const char* text) {
    if (result.contains(field)) fmt::print("  {} {:.1f} MB\n", text, result[field].get<double>() / 1e6);
  };
  megabytes("peak_bytes", "peak of tensors");
  megabytes("bytes_over_inputs_outputs_gradients", "of it over inputs, outputs and their gradients");
  megabytes("process_peak_bytes", "peak of the process");
}

void list_workloads() {
  for (const Workload& w : gradus::bench::workloads()) fmt::print("{:<28} {}\n", w.name, w.description);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Times one workload of Gradus: median and minimum of many runs of the same step."};
  Options o;
  app.add_option("--workload", o.workload, "which workload; --list shows them");
  app.add_option("--floor", o.floor, "instead: the matrix products of that workload's step, by BLAS alone");
  app.add_option("--seconds", o.seconds, "how long to repeat it, in seconds")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--threads", o.threads, "threads to use (default: all cores)")->check(CLI::Range(1, 256));
  app.add_option("--file", o.file, "names, one a line, for microgpt (default: made up)");
  app.add_flag("--json", o.json, "print one JSON line");
  app.add_flag("--list", o.list, "list the workloads");
  app.add_flag("--smoke", o.smoke, "one step at a tiny size: does it run?");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : 2; }
  if (o.list || (o.workload.empty() && o.floor.empty())) {
    list_workloads();
    return o.list ? 0 : 2;
  }
  try {
    const Workload& workload = gradus::bench::find_workload(o.floor.empty() ? o.workload : o.floor);
    if (workload.threads || o.threads) gradus::set_threads(workload.threads ? workload.threads : o.threads);
    print(o.floor.empty() ? measure(workload, o) : measure_floor(workload, o), o.json);
  } catch (const std::exception& e) {
    fmt::print(stderr, "gradus-bench: {}\n", e.what());
    return 1;
  }
  return 0;
}
