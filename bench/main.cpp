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

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

// Repeats the step for about `seconds` after a warm-up of a tenth of it; at least five times.
nlohmann::ordered_json measure(const gradus::bench::Workload& workload, double seconds) {
  const std::function<void()> step = workload.make();
  const auto until = [](double s) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  for (const auto end = until(seconds / 10); Clock::now() < end;) step();
  step();
  gradus::reset_peak_memory();
  std::vector<double> times;
  for (const auto end = until(seconds); Clock::now() < end || times.size() < 5;) {
    const auto begin = Clock::now();
    step();
    times.push_back(milliseconds(Clock::now() - begin));
  }
  std::sort(times.begin(), times.end());
  return {{"name", workload.name},
          {"median_ms", times[times.size() / 2]},
          {"min_ms", times.front()},
          {"runs", times.size()},
          {"threads", gradus::threads()},
          {"blas_core", gradus::blas_core()},
          {"peak_bytes", gradus::memory_use().peak}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Times one workload of Gradus: median and minimum of many runs of the same step."};
  std::string name;
  double seconds = 2;
  int threads = 0;
  bool json = false, list = false;
  app.add_option("--workload", name, "which workload; --list shows them");
  app.add_option("--seconds", seconds, "how long to repeat it, in seconds")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--threads", threads, "threads to use (default: all cores)")->check(CLI::Range(1, 256));
  app.add_flag("--json", json, "print one JSON line");
  app.add_flag("--list", list, "list the workloads");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : 2; }
  if (threads) gradus::set_threads(threads);
  const auto& all = gradus::bench::workloads();
  if (list || name.empty()) {
    for (const auto& w : all) fmt::print("{:<20} {}\n", w.name, w.description);
    return list ? 0 : 2;
  }
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& w) { return w.name == name; });
  if (found == all.end()) {
    fmt::print(stderr, "gradus-bench: no workload '{}'; --list shows them\n", name);
    return 1;
  }
  try {
    const auto result = measure(*found, seconds);
    if (json) fmt::print("{}\n", result.dump());
    else
      fmt::print("{}: median {:.4f} ms, minimum {:.4f} ms, {} runs\n", name, result["median_ms"].get<double>(),
                 result["min_ms"].get<double>(), result["runs"].get<std::size_t>());
  } catch (const std::exception& e) {
    fmt::print(stderr, "gradus-bench: {}\n", e.what());
    return 1;
  }
  return 0;
}
