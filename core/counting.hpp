#pragma once
#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace gradus {

/// x += n, returning what x was. While the process has a single thread (the C library knows) without locking the bus, as
/// std::shared_ptr does it: reference counts are a third of the cost of a tiny op.
template <class T>
inline T count_on(std::atomic<T>& x, T n, std::memory_order order) noexcept {
#if __has_include(<sys/single_threaded.h>)
  if (__libc_single_threaded) {
    const T old = x.load(std::memory_order_relaxed);
    x.store(old + n, std::memory_order_relaxed);
    return old;
  }
#endif
  return x.fetch_add(n, order);
}

}  // namespace gradus
