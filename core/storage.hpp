#pragma once
#include "core/counting.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradus {

/// Memory from size-classed free lists; a class wastes at most an eighth. Blocks are 64-byte aligned. Thread-safe: each
/// thread keeps a cache and gives it back to a common list when it ends. Never destroyed, so that static tensors may
/// outlive everything else. Under the address sanitizer every call passes through to the system.
namespace pool {
void* allocate(std::size_t bytes);
void release(void* block, std::size_t bytes) noexcept;
/// Calls to the system allocator made so far: constant once a training loop has warmed up.
std::int64_t system_calls();
/// Gives all cached blocks of this thread and of the common list back to the system.
void trim();
}  // namespace pool

/// A standard allocator over the pool, for the lists that graph nodes hold.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(pool::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { pool::release(p, n * sizeof(T)); }
  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};
template <class T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

/// Byte counts of live storages, in bytes as asked for.
struct MemoryUse {
  std::int64_t live = 0;  ///< bytes in storages that exist now
  std::int64_t peak = 0;  ///< the largest `live` since the last reset_peak_memory()
};
MemoryUse memory_use();
void reset_peak_memory();

/// A counted reference to a 64-byte-aligned block of bytes with a version counter. Copies share the block.
class Storage {
 public:
  Storage() = default;
  /// A block of `bytes` uninitialised bytes (never null, also for 0). Error when the size is negative or cannot be had.
  explicit Storage(std::int64_t bytes);
  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_) count_on(block_->references, 1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    if (block_ && count_on(block_->references, -1, std::memory_order_acq_rel) == 1) free_block(block_);
  }

  explicit operator bool() const { return block_ != nullptr; }
  void* data() const { return block_ + 1; }
  std::int64_t bytes() const { return block_->bytes; }
  /// True when no other Storage refers to the block.
  bool unique() const { return block_->references.load(std::memory_order_acquire) == 1; }
  /// Counts the writes into the block; the engine compares it with what it was when the block was kept.
  std::uint32_t version() const { return block_->version.load(std::memory_order_relaxed); }
  void bump_version() const { count_on(block_->version, 1U, std::memory_order_relaxed); }
  friend bool operator==(const Storage& a, const Storage& b) { return a.block_ == b.block_; }

 private:
  struct alignas(64) Block {
    std::atomic<std::int32_t> references{1};
    std::atomic<std::uint32_t> version{0};
    std::int64_t bytes = 0;
  };
  static void free_block(Block* block) noexcept;
  Block* block_ = nullptr;
};

}  // namespace gradus
