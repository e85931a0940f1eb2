#include "draw/quiet_write.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace gradus::draw {

namespace {

/// While it lives, a write of this thread to a pipe without reader only fails. SIGPIPE is blocked rather than ignored
/// because ignoring belongs to the whole process; the signal is sent to the writing thread, so one that our write left
/// pending is taken back before the old mask returns. (The way of libcurl and GnuPG.)
class NoPipeSignal final {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const int reason = errno;  // of the write; sigtimedwait sets its own
    const std::timespec no_wait{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &no_wait) == -1 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = reason;
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Writes to the descriptor, so that nothing stays in a buffer which exit() would flush without our guard.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      if (poll(&ready, 1, 1000) == 0) return true;  // a reader that is stuck for a second misses this line
    } else if (!(written < 0 && errno == EINTR)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool quiet_write(std::FILE* stream, std::string_view text) {
  const NoPipeSignal guard;
  const int descriptor = fileno(stream);
  if (std::fflush(stream) != 0) return false;  // what was printed before comes first
  if (descriptor >= 0) return write_all(descriptor, text);
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

}  // namespace gradus::draw
