#include "core/parallel.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

// A team of worker threads that share out the pieces of one loop at a time. The calling thread works too and waits only
// for pieces that somebody has begun: a worker that the system does not schedule costs nothing. (An OpenMP barrier
// waits for every thread: on a machine with other work that made training of tiny models thirty times slower. OpenMP
// remains the runtime of OpenBLAS alone.)
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

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Team {
 public:
  /// Runs all groups [0, groups) of the job. Returns false when another thread's loop has the team.
  bool run(int members, std::int64_t groups, detail::ChunkFunction function, void* context) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    while (workers_ < members - 1) std::thread([this, id = workers_++] { work(id); }).detach();
    allowed_.store(members - 1, std::memory_order_relaxed);
    function_ = function;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);
    claims_.store(static_cast<std::uint64_t>(groups) << 32, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) {
      epoch_.fetch_add(1, std::memory_order_seq_cst);
      epoch_.notify_all();
    }
    take_groups();
    for (int spins = 0; done_.load(std::memory_order_acquire) < groups; ++spins)
      spins % 64 == 63 ? std::this_thread::yield() : relax();
    return true;
  }

 private:
  // claims_: number of groups in the upper half, groups claimed so far in the lower. One word, so that a claim is valid
  // exactly when its lower half is below its upper half, and function_ and context_ then stay until the claimed group
  // is done.
  static bool open(std::uint64_t claims) { return (claims & 0xffffffffU) < (claims >> 32); }

  void take_groups() {
    inside = true;
    while (open(claims_.load(std::memory_order_acquire))) {
      const std::uint64_t claim = claims_.fetch_add(1, std::memory_order_acq_rel);
      if (!open(claim)) break;
      const auto group = static_cast<std::int64_t>(claim & 0xffffffffU);
      function_(context_, group, group + 1);
      done_.fetch_add(1, std::memory_order_release);
    }
    inside = false;
  }

  bool mine(int id) const {
    return id < allowed_.load(std::memory_order_relaxed) && open(claims_.load(std::memory_order_seq_cst));
  }

  // Waits for work awake for 50 microseconds, the usual distance between loops, then asleep.
  void work(int id) {
    using Clock = std::chrono::steady_clock;
    for (;;) {
      const auto until = Clock::now() + std::chrono::microseconds(50);
      while (!mine(id) && Clock::now() < until)
        for (int i = 0; i < 16; ++i) relax();
      if (!mine(id)) {
        const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        if (!mine(id)) epoch_.wait(epoch, std::memory_order_seq_cst);
        sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      }
      if (mine(id)) take_groups();
    }
  }

  std::mutex busy_;
  int workers_ = 0;
  alignas(64) std::atomic<std::uint64_t> claims_{0};
  alignas(64) std::atomic<std::int64_t> done_{0};
  alignas(64) std::atomic<int> allowed_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> epoch_{0};
  detail::ChunkFunction function_ = nullptr;
  void* context_ = nullptr;
};

Team& team() {
  static Team* const instance = new Team;  // never destroyed: its threads sleep until the process ends
  return *instance;
}

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
  const auto run_pieces = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece)
      function(context, piece * chunk, std::min(n, (piece + 1) * chunk));
  };
  const int members = static_cast<int>(std::min<std::int64_t>(threads(), pieces));
  if (members > 1 && !inside) {
    // Workers claim groups of neighbouring pieces; the pieces themselves are what the shape says.
    const std::int64_t groups = std::min<std::int64_t>(pieces, 8 * members);
    const auto run_group = [&](std::int64_t group, std::int64_t) {
      run_pieces(group * pieces / groups, (group + 1) * pieces / groups);
    };
    const auto call = [](void* job, std::int64_t begin, std::int64_t end) {
      (*static_cast<decltype(run_group)*>(job))(begin, end);
    };
    if (team().run(members, groups, call, const_cast<void*>(static_cast<const void*>(&run_group)))) return;
  }
  run_pieces(0, pieces);
}

}  // namespace detail
}  // namespace gradus
