#include "train/interrupt.hpp"

namespace gradus::train {
namespace {

volatile std::sig_atomic_t flag = 0;

void set_flag(int) { flag = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  flag = 0;
  struct sigaction action {};
  action.sa_handler = set_flag;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second signal finds the default again
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_int_);
  sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

bool interrupted() { return flag != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

}  // namespace gradus::train
