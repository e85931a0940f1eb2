#pragma once
#include "core/mode.hpp"
#include "core/value.hpp"

#include <memory>
#include <span>
#include <vector>

namespace gradus {

struct Node;
struct OpInfo;

/// One type of op behind void*: what a recorder needs to describe an op and to run it again.
struct OpType {
  const OpInfo* info;
  std::vector<Value> (*attributes)(const void* op);  ///< its members, in order of declaration
  std::shared_ptr<const void> (*copy)(const void* op);
  Tensor (*run)(const void* op, std::span<const Tensor> inputs);  ///< apply(op, inputs...)
};

/// What `apply` tells of one op.
struct OpEvent {
  const OpType& type;
  std::span<const Tensor> inputs;
  const Tensor& output;
  const void* op;
  const OpInfo& info() const { return *type.info; }
  std::vector<Value> attributes() const { return type.attributes(op); }
};

/// Is told of every op of this thread, recorded or not: derivations, FLOP counts, shape walks and profiles are
/// observers.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_op(const OpEvent& event) = 0;
  /// The chain rule is about to call the rule of `node` on `g`, the complete cotangent of its output. What it computes
  /// comes as ops.
  virtual void on_rule(const Node& /*node*/, const Tensor& /*g*/) {}
  /// The rule gave `dx`, of that input's shape, as its part of the input's cotangent.
  virtual void on_contribution(const Node& /*node*/, int /*input*/, const Tensor& /*dx*/) {}
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
