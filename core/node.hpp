#pragma once
#include "core/tensor.hpp"

#include <atomic>
#include <memory>

namespace gradus {

struct OpInfo;
struct Vjp;
class Grads;
class Value;

/// Which tensors an op's rule reads besides the cotangent. What is not kept becomes a ghost.
enum class Keep : std::uint8_t { nothing, inputs, output, both };
constexpr bool keeps_inputs(Keep k) { return k == Keep::inputs || k == Keep::both; }
constexpr bool keeps_output(Keep k) { return k == Keep::output || k == Keep::both; }

/// One op type as the engine sees it: a few functions, made once per type by core/op.hpp.
struct OpTable {
  const OpInfo* info;
  Keep keeps;
  bool broadcasts;                                     ///< inputs broadcast: the engine sums gradients back
  Grads (*vjp)(const Node& node, const Vjp& v);        ///< the fused rule, or the composite one when a graph is wanted
  void (*destroy)(Node* node);                         ///< destructor and memory
  std::vector<Value> (*attributes)(const Node& node);  ///< the op's members, in order
};

/// What only some nodes have: a leaf's gradient, hooks.
struct NodeExtra {
  Tensor gradient;
  bool retains = false;
  std::vector<std::function<Tensor(const Tensor&)>> hooks;
};

/// One recorded op (or a leaf, whose table is null): creation number, inputs, output, residuals.
struct Node {
  std::atomic<std::int32_t> references{1};
  std::int32_t slot = 0;     // the engine's mark: see core/grad.cpp
  std::uint64_t stamp = 0;   // of the pass that the mark belongs to
  std::uint64_t number = 0;  // creation number: inputs have smaller ones
  const OpTable* table = nullptr;
  Tensor* inputs = nullptr;           // kept tensors or ghosts, each with its node
  std::uint32_t* versions = nullptr;  // of the inputs' storages when they were kept
  std::int32_t input_count = 0;
  std::uint32_t output_version = 0;
  std::uint32_t residual_version = 0;  // summed over the residuals' storages
  bool released = false;               // by backward: inputs and residuals are gone
  Node* next_dead = nullptr;           // worklist of the teardown
  Tensor output;                       // without its own node, so that there is no cycle
  PoolVector<Tensor> residuals;
  std::unique_ptr<NodeExtra> extra;

  Node();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  bool is_leaf() const { return table == nullptr; }
  NodeExtra& more();  // makes `extra`
  void release();     // drops what backward reads; keeps the identity
};

/// The sum of the versions of all residuals' storages: it changes when one of them is written to.
inline std::uint32_t version_of_residuals(const Node& node) {
  std::uint32_t sum = 0;
  for (const Tensor& t : node.residuals)
    if (t.defined() && !t.is_ghost()) sum += t.storage().version();
  return sum;
}

/// The op's name, or "leaf".
const char* op_name(const Node& node);

/// Nodes that exist now, leaves included: a count that grows from step to step is a leak (a loss that was added up
/// instead of its item()).
std::int64_t live_nodes();

namespace detail {
void destroy_later(Node* node) noexcept;  // last reference gone: teardown by a worklist, never by recursion
}

inline NodePtr::NodePtr(const NodePtr& other) noexcept : node_(other.node_) {
  if (node_) count_on(node_->references, 1, std::memory_order_relaxed);
}
inline NodePtr::~NodePtr() {
  if (node_ && count_on(node_->references, -1, std::memory_order_acq_rel) == 1) detail::destroy_later(node_);
}
/// A new reference to a node that somebody else holds.
inline NodePtr share(Node* node) {
  count_on(node->references, 1, std::memory_order_relaxed);
  return NodePtr(node);
}

}  // namespace gradus
