#pragma once
#include "core/op.hpp"

// One pass of the chain rule.
//
//   collect   from y's node by an explicit stack, never below the oldest creation number in `wrt`; sort by descending
//   creation number:
//             inputs are older than outputs, so this is a reverse topological order.
//   prune     walk upwards (oldest first): a node matters when it is wanted or one of its inputs matters.
//   check     before anything is computed: nothing released, nothing overwritten.
//   run       in order: a node's gradient is complete when its turn comes; call its rule and hand the results to its
//   inputs.
//
// Each node carries a mark (stamp of the pass, slot). A rule may call grad itself, on nodes that an outer pass has
// marked: every pass therefore puts back the marks that it found.
namespace gradus {

struct PassOptions {
  bool create_graph = false;  ///< gradients are recorded and never accumulated in place
  bool to_leaves = false;     ///< deliver the gradients of leaves (and retained results), not of wanted nodes
  bool releases = false;      ///< drop what each rule has read
};

class Pass {
 public:
  /// Error when y has no graph, or the seed is missing or of another shape.
  Pass(const Tensor& y, const Tensor& seed, PassOptions options);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  void collect(std::uint64_t floor);
  void want(const Tensor& x);
  void prune();
  void check() const;
  using Deliver = std::function<void(Node& node, const Tensor& gradient)>;
  /// Runs the rules. `deliver` gets the complete gradient of every leaf, or of every wanted node.
  void run(const Deliver& deliver);

 private:
  struct Visit {
    NodePtr node;
    std::uint64_t number;
    std::uint64_t stamp;
    std::int32_t slot;
  };
  struct Slot {
    Tensor gradient;
    bool wanted;
  };

  void visit(Node* node, PoolVector<Node*>& stack);
  bool matters(const Node* node) const;
  bool leads_on(const Node& node) const;
  void step(Node* node, const Deliver& deliver);
  void run_extra(Node& node, Tensor& g) const;
  void call_rule(Node& node, const Tensor& g);
  void add_gradient(Node* node, Tensor g);

  std::uint64_t stamp_;
  PassOptions options_;
  NodePtr root_;
  Tensor seed_;
  PoolVector<Visit> order_;
  PoolVector<Visit> leaves_;
  PoolVector<Slot> slots_;
  PoolVector<std::int32_t> free_slots_;
  PoolVector<std::uint8_t> wanted_flags_;
};

/// y += x, in place and without a version: for gradients that nobody else holds.
void add_into(Tensor& y, const Tensor& x);

}  // namespace gradus
