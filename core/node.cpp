#include "core/node.hpp"

#include "core/op.hpp"

namespace gradus {
namespace {

std::atomic<std::uint64_t> next_number{1};
std::atomic<std::int64_t> live_count{0};

// Dead nodes of this thread. Destroying one may add others (its inputs' nodes); only the outermost call empties the
// list.
[[gnu::tls_model("initial-exec")]] thread_local constinit Node* dead = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool draining = false;

void destroy(Node* node) noexcept {
  if (node->table) {
    node->table->destroy(node);
  } else {
    node->~Node();
    pool::release(node, sizeof(Node));
  }
}

}  // namespace

Node::Node() : number(count_on(next_number, std::uint64_t{1}, std::memory_order_relaxed)) {
  count_on(live_count, std::int64_t{1}, std::memory_order_relaxed);
}

Node::~Node() { count_on(live_count, std::int64_t{-1}, std::memory_order_relaxed); }

NodeExtra& Node::more() {
  if (!extra) extra = std::make_unique<NodeExtra>();
  return *extra;
}

void Node::release() {
  released = true;
  residuals = {};
  output = output.ghost();
  for (int i = 0; i < input_count; ++i) inputs[i] = Tensor{};
}

const char* op_name(const Node& node) { return node.table ? node.table->info->name : "leaf"; }

std::int64_t live_nodes() { return live_count.load(std::memory_order_relaxed); }

namespace detail {

void destroy_later(Node* node) noexcept {
  node->next_dead = dead;
  dead = node;
  if (draining) return;
  draining = true;
  while (dead) {
    Node* const next = dead;
    dead = next->next_dead;
    destroy(next);
  }
  draining = false;
}

}  // namespace detail
}  // namespace gradus
