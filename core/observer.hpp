#pragma once
#include "core/mode.hpp"
#include "core/value.hpp"

#include <span>

namespace gradus {

struct OpInfo;

/// What `apply` tells of one op.
struct OpEvent {
  const OpInfo& info;
  std::span<const Tensor> inputs;
  const Tensor& output;
  const void* op;
  std::vector<Value> (*read_attributes)(const void* op);
  /// The op's members, in order of declaration.
  std::vector<Value> attributes() const { return read_attributes(op); }
};

/// Is told of every op of this thread, recorded or not: derivations, FLOP counts, shape walks and profiles are
/// observers.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_op(const OpEvent& event) = 0;
};

/// Sets the thread's observer for a scope.
class Observe {
 public:
  explicit Observe(Observer& observer) : saved_(mode().observer) { mode().observer = &observer; }
  ~Observe() { mode().observer = saved_; }
  Observe(const Observe&) = delete;
  Observe& operator=(const Observe&) = delete;

 private:
  Observer* saved_;
};

/// Anomaly mode's check: Error naming op, shape, first index and the inputs' ranges when `x` holds NaN or infinity.
void check_finite(const OpInfo& info, const char* what, const Tensor& x, std::span<const Tensor> inputs);

}  // namespace gradus
