#include "core/storage.hpp"

#include "core/error.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define GRADUS_POOL_PASSES_THROUGH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRADUS_POOL_PASSES_THROUGH 1
#endif
#endif

namespace gradus {
namespace {

constexpr std::size_t alignment = 64;

// Size classes: multiples of 64 up to 512, then eight steps to each doubling, so that at most an eighth is wasted.
constexpr int class_count = 8 * 56;
struct SizeClass {
  int index;
  std::size_t bytes;
};
[[maybe_unused]] SizeClass size_class(std::size_t bytes) {
  if (bytes <= 512) {
    const std::size_t units = bytes == 0 ? 1 : (bytes + 63) / 64;
    return {static_cast<int>(units) - 1, units * 64};
  }
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log <= bytes - 1 < 2^(log+1)
  const std::size_t step = std::size_t{1} << (log - 3);
  const std::size_t up = (bytes + step - 1) / step;  // 9 .. 16
  return {8 * (log - 8) + static_cast<int>(up) - 9, up * step};
}

std::atomic<std::int64_t> system_call_count{0};

// The machine's memory: beyond it the system would not refuse, but end the program once the memory is written to.
constinit std::int64_t machine_bytes = std::numeric_limits<std::int64_t>::max();
[[maybe_unused]] const bool machine_asked = [] {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) machine_bytes = static_cast<std::int64_t>(pages) * page;
  return true;
}();

// Large blocks ask for pages of 2 MiB, where the system gives them: large tensors are read at the memory's speed, and every
// page of 4 KiB is a table walk and an end to prefetching.
void* system_allocate(std::size_t bytes) {
  system_call_count.fetch_add(1, std::memory_order_relaxed);
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t unit = bytes >= 8 * huge_page ? huge_page : alignment;
  void* block = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
#ifdef MADV_HUGEPAGE
  if (block && unit == huge_page) (void)::madvise(block, (bytes + unit - 1) / unit * unit, MADV_HUGEPAGE);
#endif
  if (!block) fail("memory: {} bytes cannot be had; use smaller tensors or a smaller batch", bytes);
  return block;
}

struct FreeBlock {
  FreeBlock* next;
};
struct FreeLists {
  std::array<FreeBlock*, class_count> heads{};

  void push(int index, void* block) {
    auto* free = ::new (block) FreeBlock{heads[static_cast<std::size_t>(index)]};
    heads[static_cast<std::size_t>(index)] = free;
  }
  void* pop(int index) {
    FreeBlock*& head = heads[static_cast<std::size_t>(index)];
    FreeBlock* block = head;
    if (block) head = block->next;
    return block;
  }
  void free_all() {
    for (FreeBlock*& head : heads)
      while (head) std::free(std::exchange(head, head->next));
  }
};

// The common list, never destroyed: static tensors may be released after everything else.
struct Common {
  std::mutex mutex;
  FreeLists lists;
};
Common& common() {
  static Common* const instance = new Common;
  return *instance;
}

// The thread's own cache. Trivially destructible, so it stays usable while other thread-locals die; `Return` hands its
// blocks on at the end.
[[gnu::tls_model("initial-exec")]] thread_local constinit FreeLists cache{};
[[gnu::tls_model("initial-exec")]] thread_local constinit bool thread_ended = false;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool return_registered = false;
struct Return {
  ~Return() {
    thread_ended = true;
    const std::lock_guard lock(common().mutex);
    for (int i = 0; i < class_count; ++i)
      while (void* block = cache.pop(i)) common().lists.push(i, block);
  }
};

[[maybe_unused, gnu::noinline]] void* allocate_slowly(SizeClass size) {
  if (!return_registered && !thread_ended) {
    return_registered = true;
    static thread_local Return at_thread_end;
    (void)at_thread_end;
  }
  {
    const std::lock_guard lock(common().mutex);
    if (void* block = common().lists.pop(size.index)) return block;
  }
  return system_allocate(size.bytes);
}

[[maybe_unused, gnu::noinline]] void release_to_common(SizeClass size, void* block) noexcept {
  const std::lock_guard lock(common().mutex);
  common().lists.push(size.index, block);
}

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

}  // namespace

namespace pool {

#ifdef GRADUS_POOL_PASSES_THROUGH
void* allocate(std::size_t bytes) { return system_allocate(bytes ? bytes : 1); }
void release(void* block, std::size_t) noexcept { std::free(block); }
#else
void* allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  if (size.index >= class_count) return system_allocate(bytes);
  if (void* block = cache.pop(size.index)) return block;
  return allocate_slowly(size);
}
void release(void* block, std::size_t bytes) noexcept {
  const SizeClass size = size_class(bytes);
  if (size.index >= class_count) std::free(block);
  else if (thread_ended) release_to_common(size, block);
  else cache.push(size.index, block);
}
#endif

std::int64_t system_calls() { return system_call_count.load(std::memory_order_relaxed); }

void trim() {
  cache.free_all();
  const std::lock_guard lock(common().mutex);
  common().lists.free_all();
}

}  // namespace pool

Storage::Storage(std::int64_t bytes) {
  if (bytes < 0) fail("memory: a size of {} bytes is negative; check the extents", bytes);
  if (bytes > machine_bytes - live_bytes.load(std::memory_order_relaxed)) [[unlikely]]
    fail("memory: {} bytes are asked for, and {} of the {} of this machine are in use; use smaller tensors", bytes,
         live_bytes.load(std::memory_order_relaxed), machine_bytes);
  block_ = ::new (pool::allocate(static_cast<std::size_t>(bytes) + sizeof(Block))) Block;
  block_->bytes = bytes;
  const std::int64_t live = count_on(live_bytes, bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {}
}

void Storage::free_block(Block* block) noexcept {
  const std::int64_t bytes = block->bytes;
  count_on(live_bytes, -bytes, std::memory_order_relaxed);
  block->~Block();
  pool::release(block, static_cast<std::size_t>(bytes) + sizeof(Block));
}

MemoryUse memory_use() {
  return {live_bytes.load(std::memory_order_relaxed), peak_bytes.load(std::memory_order_relaxed)};
}

void reset_peak_memory() { peak_bytes.store(live_bytes.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace gradus
