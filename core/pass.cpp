#include "core/pass.hpp"

#include "core/elementwise.hpp"

#include <algorithm>

namespace gradus {

// Defined in ops/: the chain rule needs these two (and expand, for users' seeds).
Tensor add(const Operand& a, const Operand& b);
Tensor sum(const Tensor& x, const Axes& axis, bool keepdim);

namespace {

// Values of Node::slot below 0; 0 and above number the slot that holds the node's gradient so far.
constexpr std::int32_t unreached = -1;  // matters, no contribution yet
constexpr std::int32_t pruned = -2;     // does not lead to what is wanted, or is done
constexpr std::int32_t wanted = -3;     // in `wrt`, no contribution yet

std::uint64_t next_stamp() {
  thread_local std::uint64_t stamp = 0;
  return ++stamp;
}

// g summed over the axes along which an input of `shape` was repeated.
Tensor sum_to(const Tensor& g, const Shape& shape) {
  const int lead = g.rank() - shape.rank();
  Shape leading, repeated;
  for (int i = 0; i < lead; ++i) leading.push_back(i);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] == 1 && g.shape()[lead + i] != 1) repeated.push_back(i);
  Tensor y = g;
  if (leading.rank()) y = sum(y, Axes(leading), false);
  if (repeated.rank()) y = sum(y, Axes(repeated), true);
  return y;
}

void check_root(const Tensor& y, Tensor& seed) {
  if (!y.defined()) fail("grad: the result is undefined; compute it first");
  if (!y.requires_grad())
    fail(
        "grad: the result {} has no graph; it was computed from tensors that do not require grad, under NoGrad, or by "
        "an op "
        "without a gradient such as argmax",
        y.shape());
  if (!seed.defined()) {
    if (y.numel() != 1)
      fail("grad: the result has shape {}, not one element; give a seed (its cotangent) of that shape, or sum it first",
           y.shape());
    seed = ones_like(y);
  } else if (seed.shape() != y.shape() || seed.dtype() != y.dtype()) {
    fail("grad: the seed is {} {}, the result {} {}; give a seed of the result's shape and dtype", seed.dtype(),
         seed.shape(), y.dtype(), y.shape());
  }
}

void check_versions(const Node& node) {
  if (node.is_leaf()) return;
  const auto check = [&](const Tensor& t, std::uint32_t expected, const char* what, int i) {
    if (t.defined() && !t.is_ghost() && t.storage().version() != expected)
      fail(
          "{}: its {} {} of shape {} was written to after it was kept for backward (version {}, expected {}); write to "
          "a copy, or "
          "after backward",
          op_name(node), what, i, t.shape(), t.storage().version(), expected);
  };
  if (keeps_inputs(node.table->keeps))
    for (int i = 0; i < node.input_count; ++i) check(node.inputs[i], node.versions[i], "input", i);
  check(node.output, node.output_version, "output", 0);
  if (const std::uint32_t version = version_of_residuals(node); version != node.residual_version)
    fail(
        "{}: an index or another tensor that it kept for backward (the first of shape {}) was written to (version {}, "
        "expected {}); "
        "write to a copy, or after backward",
        op_name(node), node.residuals[0].shape(), version, node.residual_version);
}

// An error inside a rule names the forward op. In anomaly mode the ops of the rule are not looked at: their gradient
// is.
Grads run_rule(const Node& node, const Vjp& v) {
  Mode inner = mode();
  inner.anomaly = false;
  const ModeGuard guard(inner);
  try {
    return node.table->vjp(node, v);
  } catch (const Error& e) {
    const std::string_view text = e.what(), name = op_name(node);
    if (text.substr(0, name.size()) == name) throw;
    fail("{}: its rule failed: {}", name, text);
  }
}

Tensor fit(const Node& node, int i, Tensor dx) {
  const Tensor& x = node.inputs[i];
  if (dx.shape() != x.shape()) {
    if (!node.table->broadcasts)
      fail("{}: its rule gave input {} of shape {} a gradient of shape {}; sum it back, or declare `broadcasts`",
           op_name(node), i, x.shape(), dx.shape());
    dx = sum_to(dx, x.shape());
  }
  if (dx.dtype() != x.dtype())
    fail("{}: its rule gave input {} of dtype {} a gradient of dtype {}", op_name(node), i, x.dtype(), dx.dtype());
  return dx;
}

}  // namespace

void add_into(Tensor& y, const Tensor& x) {
  dispatch_floating("gradient", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T>([](T a, T b) { return a + b; }, y, y, x);
  });
}

Pass::Pass(const Tensor& y, const Tensor& seed, PassOptions options)
    : stamp_(next_stamp()), options_(options), seed_(seed) {
  check_root(y, seed_);
  root_ = y.node();
}

Pass::~Pass() {
  for (const Visit& v : order_)
    if (v.node) v.node->stamp = v.stamp, v.node->slot = v.slot;
}

void Pass::collect(std::uint64_t floor) {
  if (root_->number < floor) return;
  PoolVector<Node*> stack;
  visit(root_.get(), stack);
  while (!stack.empty()) {
    Node* const node = stack.back();
    stack.pop_back();
    for (int i = 0; i < node->input_count; ++i)
      if (Node* const input = node->inputs[i].node().get(); input && input->stamp != stamp_ && input->number >= floor)
        visit(input, stack);
  }
  const auto newer = [](const Visit& a, const Visit& b) { return a.number > b.number; };
  if (!std::is_sorted(order_.begin(), order_.end(), newer)) std::sort(order_.begin(), order_.end(), newer);
  order_.insert(order_.end(), std::make_move_iterator(leaves_.begin()), std::make_move_iterator(leaves_.end()));
  leaves_.clear();
}

void Pass::want(const Tensor& x) {
  if (x.node()->stamp == stamp_) x.node()->slot = wanted;
}

void Pass::prune() {
  for (std::size_t k = order_.size(); k-- > 0;) {
    Node* const node = order_[k].node.get();
    if (node->slot != wanted && !leads_on(*node)) node->slot = pruned;
  }
}

void Pass::check() const {
  for (const Visit& v : order_) {
    const Node& node = *v.node;
    if (node.slot == pruned) continue;
    if (node.released)
      fail(
          "{}: this part of the graph (output {}) was released by an earlier backward; pass retain = true there to "
          "differentiate it again",
          op_name(node), node.output.shape());
    check_versions(node);
  }
}

void Pass::run(const Deliver& deliver) {
  if (root_->stamp != stamp_ || root_->slot == pruned) return;
  Mode inner = mode();
  inner.grad = options_.create_graph;
  const ModeGuard guard(inner);
  add_gradient(root_.get(), std::move(seed_));
  for (Visit& v : order_) {
    Node* const node = v.node.get();
    if (node->slot >= 0) step(node, deliver);
    v.node->stamp = v.stamp;
    v.node->slot = v.slot;
    v.node = {};  // the last reference may go here: memory comes back as the pass moves on
  }
}

void Pass::visit(Node* node, PoolVector<Node*>& stack) {
  // Leaves have no inputs, so they may all come last: a chain is then in order without sorting.
  (node->is_leaf() ? leaves_ : order_).push_back({share(node), node->number, node->stamp, node->slot});
  node->stamp = stamp_;
  node->slot = unreached;
  if (!node->is_leaf()) stack.push_back(node);
}

bool Pass::matters(const Node* node) const { return node && node->stamp == stamp_ && node->slot != pruned; }

bool Pass::leads_on(const Node& node) const {
  for (int i = 0; i < node.input_count; ++i)
    if (matters(node.inputs[i].node().get())) return true;
  return false;
}

void Pass::step(Node* node, const Deliver& deliver) {
  Slot& slot = slots_[static_cast<std::size_t>(node->slot)];
  Tensor g = std::move(slot.gradient);
  const bool is_wanted = slot.wanted;
  free_slots_.push_back(node->slot);
  node->slot = pruned;
  if (node->extra) run_extra(*node, g);
  if (options_.to_leaves ? node->is_leaf() : is_wanted) deliver(*node, g);
  if (node->is_leaf()) return;
  wanted_flags_.assign(static_cast<std::size_t>(node->input_count), 0);
  bool any = false;
  for (int i = 0; i < node->input_count; ++i) {
    const bool needed = matters(node->inputs[i].node().get());
    wanted_flags_[static_cast<std::size_t>(i)] = needed;
    any = any || needed;
  }
  if (any) call_rule(*node, g);
  if (options_.releases) node->release();
}

void Pass::run_extra(Node& node, Tensor& g) const {
  for (std::size_t i = 0; i < node.extra->hooks.size(); ++i) {
    Tensor replaced = node.extra->hooks[i](g);
    if (!replaced.defined()) continue;
    if (replaced.shape() != g.shape() || replaced.dtype() != g.dtype())
      fail("on_gradient: a hook returned {} {} for a gradient {} {}; keep shape and dtype", replaced.dtype(),
           replaced.shape(), g.dtype(), g.shape());
    g = std::move(replaced);
  }
  if (options_.to_leaves && node.extra->retains && !node.is_leaf()) node.extra->gradient = g;
}

void Pass::call_rule(Node& node, const Tensor& g) {
  // A nested pass inside the rule overwrites the scratch flags of none: it has its own Pass.
  const PoolVector<std::uint8_t>& flags = wanted_flags_;
  Tensor output = node.output;
  if (options_.create_graph && !output.is_ghost()) output.set_node(share(&node));
  const Vjp v{g,
              output,
              {node.inputs, static_cast<std::size_t>(node.input_count)},
              node.residuals,
              flags,
              options_.create_graph};
  Observer* const observer = mode().observer;
  if (observer) [[unlikely]]
    observer->on_rule(node, g);
  Grads gradients = run_rule(node, v);
  if (gradients.size() != static_cast<std::size_t>(node.input_count))
    fail("{}: its rule returned {} gradients for {} inputs; return one for each, undefined where not wanted",
         op_name(node), gradients.size(), node.input_count);
  for (int i = 0; i < node.input_count; ++i) {
    Tensor& dx = gradients[static_cast<std::size_t>(i)];
    if (!flags[static_cast<std::size_t>(i)] || !dx.defined()) continue;
    if (mode().anomaly) [[unlikely]]
      check_finite(*node.table->info, "gradient", dx, {&g, 1});
    dx = fit(node, i, std::move(dx));
    if (observer) [[unlikely]]
      observer->on_contribution(node, i, dx);
    add_gradient(node.inputs[i].node().get(), std::move(dx));
  }
}

// The first contribution is taken by reference; later ones are added in place only when nobody else holds the storage.
void Pass::add_gradient(Node* node, Tensor g) {
  if (node->slot < 0) {
    const bool is_wanted = node->slot == wanted;
    if (free_slots_.empty()) {
      node->slot = static_cast<std::int32_t>(slots_.size());
      slots_.push_back({std::move(g), is_wanted});
    } else {
      node->slot = free_slots_.back();
      free_slots_.pop_back();
      slots_[static_cast<std::size_t>(node->slot)] = {std::move(g), is_wanted};
    }
    return;
  }
  Tensor& sum_so_far = slots_[static_cast<std::size_t>(node->slot)].gradient;
  if (!options_.create_graph && sum_so_far.storage().unique() && sum_so_far.is_contiguous()) add_into(sum_so_far, g);
  else if (!options_.create_graph && g.storage().unique() && g.is_contiguous())
    add_into(g, sum_so_far), sum_so_far = std::move(g);
  else sum_so_far = add(sum_so_far, g);
}

}  // namespace gradus
