#include "core/parallel.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

// This file alone knows OpenMP. Clang, which would run libgomp code on one thread, and the thread sanitizer use std::thread instead.
#if defined(_OPENMP) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GRADUS_OPENMP 1
#include <omp.h>
#else
#define GRADUS_OPENMP 0
#endif

namespace gradus {
namespace {

int initial_threads() {
  for (const char* variable : {"GRADUS_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = std::getenv(variable))
      if (const int n = std::atoi(value); n >= 1) return std::min(n, 256);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

thread_local bool inside = false;

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

}  // namespace

int threads() { return thread_count().load(std::memory_order_relaxed); }

void set_threads(int count) {
  if (count < 1 || count > 256) fail("threads: {} is not between 1 and 256", count);
  thread_count().store(count, std::memory_order_relaxed);
}

bool in_parallel() { return inside; }

namespace detail {

void run_chunks(std::int64_t n, std::int64_t chunk, ChunkFunction function, void* context) {
  const std::int64_t pieces = (n + chunk - 1) / chunk;
  const int team = static_cast<int>(std::min<std::int64_t>(threads(), pieces));
  const auto run = [&](std::int64_t piece) { function(context, piece * chunk, std::min(n, (piece + 1) * chunk)); };
  if (team <= 1 || inside) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) run(piece);
    return;
  }
#if GRADUS_OPENMP
#pragma omp parallel num_threads(team)
  {
    const Inside mark;
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t piece = 0; piece < pieces; ++piece) run(piece);
  }
#else
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    const Inside mark;
    for (std::int64_t piece = next.fetch_add(1); piece < pieces; piece = next.fetch_add(1)) run(piece);
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < team; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
#endif
}

}  // namespace detail
}  // namespace gradus
