#pragma once
#include <cstdint>
#include <type_traits>

namespace gradus {

/// The number of threads that parallel loops use. At the start: GRADUS_THREADS, else OMP_NUM_THREADS, else the
/// machine's cores.
int threads();
/// Sets it, 1 to 256. Results do not depend on it.
void set_threads(int count);
/// True inside a parallel loop: a nested one then runs on this thread alone.
bool in_parallel();

namespace detail {
using ChunkFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void run_chunks(std::int64_t n, std::int64_t chunk, ChunkFunction function, void* context);
}  // namespace detail

/// Calls f(begin, end) on the fixed pieces [0, chunk), [chunk, 2 chunk), ... of [0, n), on several threads when there
/// are several pieces. The pieces depend on n and chunk alone, so a fold over them in index order has the same bits on
/// any number of threads. f must not throw.
template <class F>
void parallel_for(std::int64_t n, std::int64_t chunk, F&& f) {
  if (n <= 0) return;
  if (n <= chunk) return f(std::int64_t{0}, n);
  detail::run_chunks(
      n, chunk,
      [](void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
      },
      &f);
}

/// Items of a loop per chunk when one item costs about `cost` nanoseconds: about 16 microseconds of work, at least one
/// item.
constexpr std::int64_t chunk_for(double cost) { return cost >= 16000 ? 1 : static_cast<std::int64_t>(16000 / cost); }

}  // namespace gradus
