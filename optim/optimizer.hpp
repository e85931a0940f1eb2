#pragma once
#include "core/arrays.hpp"
#include "core/tensor.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace gradus {

/// A tensor to train and the name under which its state is saved.
struct NamedParameter {
  std::string name;
  Tensor tensor;
};

/// What optimizers and clipping take: leaves that require grad. From plain tensors, which are named "0", "1", ..., or
/// from named ones.
class Parameters {
 public:
  Parameters(std::initializer_list<Tensor> tensors) : Parameters(std::vector<Tensor>(tensors)) {}
  Parameters(const std::vector<Tensor>& tensors);
  Parameters(std::vector<NamedParameter> named) : list_(std::move(named)) {}
  Parameters(const NamedTensors& named);
  const std::vector<NamedParameter>& list() const { return list_; }

 private:
  std::vector<NamedParameter> list_;
};

/// Parameters that share options: `{{weights, {.weight_decay = 0.1}}, {biases, {}}}`.
template <class Options>
struct ParameterGroup {
  Parameters parameters;
  Options options{};
};

/// A run of elements of one parameter [n], with its state: what an update rule reads and writes.
template <class T>
struct UpdatePiece {
  static constexpr int most_states = 3;
  std::int64_t n;
  T* p;        ///< parameter
  const T* g;  ///< its gradient, never written to
  T* state[most_states];
  std::int64_t t;  ///< how many steps this parameter has taken, this one included: 1 in the first
  std::size_t group;
};

/// Updates leaves from their `.grad()`. All parameters go through one parallel loop over fixed pieces, without
/// temporaries; the state is kept in the parameter's dtype. A parameter without a gradient is not touched: no state is
/// made, no step is counted.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update with the current learning rates. Never changes a gradient.
  void step();
  /// Drops the gradients: afterwards there are none (not zero ones).
  void zero_grad();

  /// The learning rate of a group: the one that the next step uses.
  double learning_rate(std::size_t group = 0) const;
  /// Sets it for all groups, or for one. Error when negative or not finite.
  void set_learning_rate(double rate);
  void set_learning_rate(double rate, std::size_t group);
  std::size_t groups() const { return group_count_; }

  /// All that the next step depends on besides parameters and gradients: `NAME.step` (i64) and `NAME.STATE` for each
  /// parameter that has been updated, `learning_rate.GROUP` (f64). Copies.
  NamedTensors state() const;
  /// Replaces the state, so that training goes on bitwise as if it had never stopped. One Error lists what is missing,
  /// left over and of the wrong shape or dtype; the old state is then untouched.
  void load_state(const NamedTensors& saved);

 protected:
  /// `op` names the optimizer in errors. Error for no parameters, for one that is no leaf or does not require grad, or
  /// that is given twice.
  Optimizer(const char* op, std::span<const Parameters* const> groups);

  /// The names of the state tensors of a parameter in that group, at most UpdatePiece::most_states.
  virtual std::vector<const char*> state_names(std::size_t group) const = 0;
  /// What a state tensor holds before the first step.
  virtual double initial_state(std::size_t group, std::size_t state) const;
  virtual double& rate(std::size_t group) = 0;
  virtual double rate(std::size_t group) const = 0;
  /// The rule. Pieces are updated on several threads.
  virtual void update(const UpdatePiece<float>& piece) const = 0;
  virtual void update(const UpdatePiece<double>& piece) const = 0;
  const char* name() const { return op_; }

 private:
  struct Slot {
    std::string name;
    Tensor parameter;
    std::size_t group;
    std::int64_t steps = 0;
    std::vector<Tensor> state;  // contiguous, the parameter's shape and dtype; empty before the first step
  };
  struct Work;
  void add(const NamedParameter& p, std::size_t group);
  void check_rate(double rate) const;
  Work prepare(Slot& slot);
  template <class T>
  void run(const Work& work, std::int64_t begin, std::int64_t end) const;

  const char* op_;
  std::size_t group_count_;
  std::vector<Slot> slots_;
};

/// An optimizer with its options for each group. Options have a member `learning_rate`, and `check(op)` that throws.
template <class Options>
class OptimizerOf : public Optimizer {
 public:
  /// The options of a group as they are used, learning rate included.
  const Options& options(std::size_t group = 0) const { return options_.at(group); }

 protected:
  OptimizerOf(const char* op, const std::vector<ParameterGroup<Options>>& groups) : Optimizer(op, lists(groups)) {
    for (const auto& group : groups) {
      group.options.check(op);
      options_.push_back(group.options);
    }
  }
  double& rate(std::size_t group) override { return options_[group].learning_rate; }
  double rate(std::size_t group) const override { return options_[group].learning_rate; }

 private:
  static std::vector<const Parameters*> lists(const std::vector<ParameterGroup<Options>>& groups) {
    std::vector<const Parameters*> all;
    for (const auto& group : groups) all.push_back(&group.parameters);
    return all;
  }
  std::vector<Options> options_;
};

/// Error `adam: weight_decay -0.1 is negative; ...` unless value is finite and not negative.
void check_not_negative(const char* op, const char* option, double value);
/// Error unless 0 <= value < 1: decay rates of running means.
void check_decay_rate(const char* op, const char* option, double value);

}  // namespace gradus
