#pragma once

namespace gradus {

class Observer;

/// What the current thread does with an op besides computing it.
struct Mode {
  bool grad = true;              ///< record ops in the graph
  bool reference = false;        ///< run fused ops as their compositions (GRADUS_REFERENCE=1)
  bool anomaly = false;          ///< look for NaN and infinity in every output and gradient
  Observer* observer = nullptr;  ///< told of every op
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern thread_local constinit Mode thread_mode;
}
inline Mode& mode() { return detail::thread_mode; }
inline bool grad_enabled() { return mode().grad; }

/// Sets the thread's mode for a scope.
class ModeGuard {
 public:
  explicit ModeGuard(const Mode& m) : saved_(mode()) { mode() = m; }
  ~ModeGuard() { mode() = saved_; }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  Mode saved_;
};

/// While it lives, this thread records no graph: writes in place are allowed.
class NoGrad {
 public:
  NoGrad() : saved_(mode().grad) { mode().grad = false; }
  ~NoGrad() { mode().grad = saved_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool saved_;
};

/// While it lives, this thread records graphs, also inside a NoGrad.
class EnableGrad {
 public:
  EnableGrad() : saved_(mode().grad) { mode().grad = true; }
  ~EnableGrad() { mode().grad = saved_; }
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool saved_;
};

/// While it lives, fused kernels run as the compositions that define them. GRADUS_REFERENCE=1 sets it for the whole
/// process.
class ReferenceMode {
 public:
  ReferenceMode() : saved_(mode().reference) { mode().reference = true; }
  ~ReferenceMode() { mode().reference = saved_; }
  ReferenceMode(const ReferenceMode&) = delete;
  ReferenceMode& operator=(const ReferenceMode&) = delete;

 private:
  bool saved_;
};
/// True inside a ReferenceMode or under GRADUS_REFERENCE=1.
bool reference_mode();

/// While it lives, the first op whose output or gradient is NaN or infinite throws an Error with shape, index and input
/// ranges.
class AnomalyMode {
 public:
  AnomalyMode() : saved_(mode().anomaly) { mode().anomaly = true; }
  ~AnomalyMode() { mode().anomaly = saved_; }
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  bool saved_;
};

}  // namespace gradus
