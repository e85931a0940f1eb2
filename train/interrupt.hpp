// Ctrl-C as a question that is asked between two steps.
#pragma once

#include <csignal>

namespace gradus::train {

/// While it lives, the first SIGINT or SIGTERM only sets the flag that `interrupted` reads; a second one ends the
/// process as usual.
class InterruptGuard final {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

/// Whether a signal came since the guard was made.
bool interrupted();

/// Thrown by long work outside the training loop when `interrupted()`; the run is saved already.
struct Interrupted {};

/// Throws Interrupted if `interrupted()`.
void stop_if_interrupted();

}  // namespace gradus::train
