#pragma once
#include "core/grad.hpp"
#include "core/node.hpp"
#include "core/observer.hpp"
#include "core/tensor_list.hpp"
#include "core/value.hpp"

#include <new>
#include <tuple>

// What an op's file needs: OpInfo, Keep, Vjp, Grads, Forward, apply. ops/softmax.cpp is the example to read first.
namespace gradus {

/// The words of an op, as LaTeX where they are formulas. `rule` has one line per input, in the inputs' order.
struct OpInfo {
  const char* name;
  const char* math;  ///< the forward formula
  const char* rule;  ///< cotangents of the inputs from that of the output: \bar x = ...
  const char* derivation = "";
  const char* why_kept = "";
  const char* numpy = "";  ///< how the step is spelled in NumPy, with {x} for inputs and {axis} for attributes
};

/// What a forward returns when backward needs more than inputs and output.
struct Forward {
  Tensor y;
  PoolVector<Tensor> residuals;
  template <class... T>
  Forward(Tensor output, T... kept) : y(std::move(output)) {
    residuals.reserve(sizeof...(T));
    (residuals.push_back(std::move(kept)), ...);
  }
};

/// What a rule sees: cotangent, output, inputs, residuals. Reading what the op does not keep is an error.
struct Vjp {
  const Tensor& g;  ///< cotangent of y
  const Tensor& y;
  std::span<const Tensor> x;  ///< inputs
  std::span<const Tensor> residuals;
  std::span<const std::uint8_t> wanted;  ///< which inputs' gradients somebody asked for
  bool create_graph;                     ///< the gradients will be differentiated

  bool wants(int input) const { return wanted[static_cast<std::size_t>(input)] != 0; }
  /// f() if that gradient is wanted, else undefined.
  template <class F>
  Tensor want(int input, F&& f) const {
    return wants(input) ? Tensor(f()) : Tensor{};
  }
};

/// The gradients of an op's inputs, in order; undefined means zero or not wanted.
class Grads {
 public:
  template <class... T>
  requires(std::same_as<T, Tensor>&&...) Grads(T... g) : count_(sizeof...(T)) {
    static_assert(sizeof...(T) <= capacity, "more inputs than Grads holds inline: build it from a PoolVector");
    std::size_t i = 0;
    ((inline_[i++] = std::move(g)), ...);
  }
  explicit Grads(PoolVector<Tensor> g) : count_(g.size()), more_(std::move(g)) {}
  std::size_t size() const { return count_; }
  Tensor& operator[](std::size_t i) { return more_.empty() ? inline_[i] : more_[i]; }

 private:
  static constexpr std::size_t capacity = 4;
  std::size_t count_;
  std::array<Tensor, capacity> inline_;
  PoolVector<Tensor> more_;
};

namespace detail {

struct Anything {
  template <class T>
  operator T() const;
};
template <class Op, class... A>
constexpr int count_attributes() {
  if constexpr (sizeof...(A) < 9 && requires { Op{A{}..., Anything{}}; }) return count_attributes<Op, A..., Anything>();
  else return static_cast<int>(sizeof...(A));
}
}  // namespace detail

/// An op's members as a tuple of references, in order of declaration.
template <class Op>
auto attributes_of(const Op& op) {
  constexpr int n = detail::count_attributes<Op>();
  static_assert(n <= 8, "an op has at most eight attributes");
  if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = op;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = op;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = op;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = op;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = op;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = op;
    return std::tie(a, b, c);
  } else if constexpr (n == 2) {
    auto& [a, b] = op;
    return std::tie(a, b);
  } else if constexpr (n == 1) {
    auto& [a] = op;
    return std::tie(a);
  } else return std::tie();
}

namespace detail {

template <class Op>
std::vector<Value> read_attributes(const void* op) {
  return std::apply([](const auto&... a) { return std::vector<Value>{to_value(a)...}; },
                    attributes_of(*static_cast<const Op*>(op)));
}

// ---- arity: how many tensors Op::forward takes, 0 for a TensorList
template <class R, class Op, class... X>
constexpr int arity_of_method(R (Op::*)(X...) const) {
  if constexpr ((std::same_as<std::remove_cvref_t<X>, TensorList> || ...)) return 0;
  else return static_cast<int>(sizeof...(X));
}
template <class Op>
inline constexpr int arity = arity_of_method(&Op::forward);

/// Calls f with the n tensors of the span as separate arguments (or as a TensorList when n is 0).
template <int n, class F>
auto spread(std::span<const Tensor> x, F&& f) {
  if constexpr (n == 0) return f(TensorList(x));
  else return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return f(x[i]...);
    }
  (std::make_index_sequence<n>{});
}

template <class Op>
constexpr Keep keeps_of() {
  if constexpr (requires { Op::keeps; }) return Op::keeps;
  else return Keep::nothing;
}
template <class Op>
constexpr bool broadcasts_of() {
  if constexpr (requires { Op::broadcasts; }) return Op::broadcasts;
  else return false;
}
template <class Op>
inline constexpr bool has_vjp = requires(const Op& op, const Vjp& v) {
  op.vjp(v);
};
template <class Op>
inline constexpr bool has_fused_vjp = requires(const Op& op, const Vjp& v) {
  op.fused_vjp(v);
};
template <class Op>
inline constexpr bool has_reference = requires {
  &Op::reference;
};

// A node with its op and, for a fixed arity, its inputs inside.
template <class Op, int n = arity<Op>>
struct NodeOf : Node {
  Op op;
  std::array<Tensor, n> input_storage;
  std::array<std::uint32_t, n> version_storage;
  explicit NodeOf(const Op& o, std::size_t) : op(o) {
    inputs = input_storage.data();
    versions = version_storage.data();
    input_count = n;
  }
};
template <class Op>
struct NodeOf<Op, 0> : Node {
  Op op;
  PoolVector<Tensor> input_storage;
  PoolVector<std::uint32_t> version_storage;
  NodeOf(const Op& o, std::size_t count) : op(o), input_storage(count), version_storage(count) {
    inputs = input_storage.data();
    versions = version_storage.data();
    input_count = static_cast<std::int32_t>(count);
  }
};

template <class Op>
struct TableOf {
  static Grads vjp(const Node& node, const Vjp& v) {
    const Op& op = static_cast<const NodeOf<Op>&>(node).op;
    if constexpr (has_fused_vjp<Op>) {
      if (!v.create_graph && !reference_mode()) return op.fused_vjp(v);
    }
    if constexpr (has_vjp<Op>) return op.vjp(v);
    else fail("{}: this op has no rule, so no gradient; detach its input", Op::info.name);
  }
  static void destroy(Node* node) {
    auto* const self = static_cast<NodeOf<Op>*>(node);
    self->~NodeOf<Op>();
    pool::release(self, sizeof(NodeOf<Op>));
  }
  static std::vector<Value> attributes(const Node& node) {
    return read_attributes<Op>(&static_cast<const NodeOf<Op>&>(node).op);
  }
  static constexpr OpTable table{&Op::info, keeps_of<Op>(), broadcasts_of<Op>(), vjp, destroy, attributes};
};

void keep_for_backward(Node& node, int i, const Tensor& input, bool keep);
void finish_node(Node* node, const OpTable& table, Tensor& y, PoolVector<Tensor>&& residuals);
[[noreturn]] void fail_no_rule(const OpInfo& info);

template <class Op>
void record(const Op& op, Forward& f, std::span<const Tensor* const> inputs) {
  if constexpr (!has_vjp<Op>) fail_no_rule(Op::info);
  auto* const node = ::new (pool::allocate(sizeof(NodeOf<Op>))) NodeOf<Op>(op, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    keep_for_backward(*node, static_cast<int>(i), *inputs[i], keeps_inputs(keeps_of<Op>()));
  finish_node(node, TableOf<Op>::table, f.y, std::move(f.residuals));
}

void tell_observer(const OpEvent& event);

template <class Op>
std::shared_ptr<const void> copy_op(const void* op) {
  return std::make_shared<const Op>(*static_cast<const Op*>(op));
}
template <class Op>
Tensor run_op(const void* op, std::span<const Tensor> inputs);
template <class Op>
inline constexpr OpType type_of{&Op::info, read_attributes<Op>, copy_op<Op>, run_op<Op>};

template <class Op, class... X>
Forward run_forward(const Op& op, const X&... x) {
  const Mode outer = mode();
  Mode quiet = outer;
  quiet.grad = false;
  quiet.observer = nullptr;
  const ModeGuard guard(quiet);
  return Forward(op.forward(x...));
}

template <class Op>
void after_forward(const Op& op, Forward& f, std::span<const Tensor* const> inputs, bool inputs_require_grad) {
  if (mode().grad && inputs_require_grad && is_floating(f.y.dtype())) record(op, f, inputs);
  if (mode().observer || mode().anomaly) [[unlikely]] {
    std::vector<Tensor> told;
    for (const Tensor* t : inputs) told.push_back(*t);
    tell_observer({type_of<Op>, told, f.y, &op});
  }
}

}  // namespace detail

/// Runs an op: forward, then a node when the mode records and an input requires grad, then the observer.
template <class Op, class... X>
requires(std::same_as<X, Tensor>&&...) Tensor apply(const Op& op, const X&... x) {
  if constexpr (detail::has_reference<Op>) {
    if (reference_mode()) [[unlikely]]
      return op.reference(x...);
  }
  Forward f = detail::run_forward(op, x...);
  const std::array<const Tensor*, sizeof...(X)> inputs{&x...};
  detail::after_forward(op, f, inputs, (x.requires_grad() || ...));
  return std::move(f.y);
}

/// The same for ops on lists.
template <class Op>
Tensor apply(const Op& op, TensorList x) {
  if constexpr (detail::has_reference<Op>) {
    if (reference_mode()) [[unlikely]]
      return op.reference(x);
  }
  Forward f = detail::run_forward(op, x);
  PoolVector<const Tensor*> inputs;
  bool any = false;
  for (const Tensor& t : x) inputs.push_back(&t), any = any || t.requires_grad();
  detail::after_forward(op, f, std::span<const Tensor* const>(inputs.data(), inputs.size()), any);
  return std::move(f.y);
}

namespace detail {
template <class Op>
Tensor run_op(const void* op, std::span<const Tensor> inputs) {
  return spread<arity<Op>>(inputs, [&](const auto&... x) { return apply(*static_cast<const Op*>(op), x...); });
}

/// x under a new identity: with a graph, a node of its own that leads to x; without, a fresh leaf.
Tensor alias(const Tensor& x, bool create_graph);
Grads vjp_by_differentiating(const Vjp& v, const std::function<Tensor(std::span<const Tensor>)>& f);
}  // namespace detail

/// The rule of a fused op by differentiating the composition that defines it, `op.reference(x...)`; right to any order.
/// The op keeps its inputs.
template <class Op>
Grads vjp_of_reference(const Op& op, const Vjp& v) {
  return detail::vjp_by_differentiating(v, [&](std::span<const Tensor> x) {
    return detail::spread<detail::arity<Op>>(x, [&](const auto&... t) { return op.reference(t...); });
  });
}

}  // namespace gradus
