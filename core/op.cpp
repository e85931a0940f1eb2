#include "core/op.hpp"

#include <cmath>

namespace gradus {
namespace {

// The identity under a new node; see vjp_by_differentiating.
struct Alias {
  static constexpr OpInfo info{.name = "alias", .math = "y = x", .rule = R"(\bar x = \bar y)"};
  Tensor forward(const Tensor& x) const { return x.detach(); }
  Grads vjp(const Vjp& v) const { return {Tensor(v.g)}; }
};

std::string range_of(const Tensor& x) {
  if (!x.defined() || x.is_ghost() || !is_floating(x.dtype())) return x.defined() ? to_string(x.shape()) : "none";
  double low = INFINITY, high = -INFINITY;
  bool nan = false;
  for (const double v : x.to_vector<double>()) {
    low = std::min(low, v);
    high = std::max(high, v);
    nan = nan || std::isnan(v);
  }
  return fmt::format("{} in [{:.4g}, {:.4g}]{}", x.shape(), low, high, nan ? " with NaN" : "");
}

}  // namespace

void check_finite(const OpInfo& info, const char* what, const Tensor& x, std::span<const Tensor> inputs) {
  if (!x.defined() || x.is_ghost() || !is_floating(x.dtype())) return;
  const std::vector<double> values = x.to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    Shape index;
    std::int64_t rest = static_cast<std::int64_t>(i);
    for (int axis = x.rank() - 1; axis >= 0; --axis) index.insert(0, rest % x.shape()[axis]), rest /= x.shape()[axis];
    std::string ranges;
    for (const Tensor& input : inputs) ranges += (ranges.empty() ? "" : ", ") + range_of(input);
    fail("{}: its {} of shape {} is {} at index {}; inputs: {}", info.name, what, x.shape(), values[i], index, ranges);
  }
}

namespace detail {

void keep_for_backward(Node& node, int i, const Tensor& input, bool keep) {
  Tensor& slot = node.inputs[i];
  if (!input.defined()) return;
  if (keep) {
    slot = input;
    node.versions[i] = input.is_ghost() ? 0 : input.storage().version();
  } else {
    slot = input.ghost();
  }
}

void finish_node(Node* node, const OpTable& table, Tensor& y, PoolVector<Tensor>&& residuals) {
  node->table = &table;
  if (keeps_output(table.keeps)) {
    node->output = y.detach();
    node->output_version = y.storage().version();
  } else {
    node->output = y.detach().ghost();
  }
  node->residuals = std::move(residuals);
  node->residual_version = version_of_residuals(*node);
  y.set_node(NodePtr(node));
}

void fail_no_rule(const OpInfo& info) {
  fail("{}: this op has no rule for its gradient, but an input requires grad; detach() the input or write its vjp",
       info.name);
}

void tell_observer(const OpEvent& event) {
  if (mode().anomaly) check_finite(event.info(), "output", event.output, event.inputs);
  if (Observer* const observer = mode().observer) {
    Mode quiet = mode();
    quiet.observer = nullptr;  // what the observer computes is not observed
    const ModeGuard guard(quiet);
    observer->on_op(event);
  }
}

Tensor alias(const Tensor& x, bool create_graph) {
  if (!x.defined()) return {};
  if (create_graph) return apply(Alias{}, x);
  Tensor fresh = x.detach();
  if (is_floating(x.dtype())) fresh.requires_grad(true);
  return fresh;
}

// The composition is rebuilt from aliases of the inputs, which are newer than everything they came from: so
// differentiation stops there (a partial derivative, also when one input was computed from another) while second
// derivatives flow on through the aliases.
Grads vjp_by_differentiating(const Vjp& v, const std::function<Tensor(std::span<const Tensor>)>& f) {
  const EnableGrad enable;
  std::vector<Tensor> x;
  for (const Tensor& input : v.x) x.push_back(alias(input, v.create_graph));
  const Tensor y = f(x);
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (v.wants(static_cast<int>(i))) wanted.push_back(x[i]);
  std::vector<Tensor> found = grad(y, wanted, v.g, {.create_graph = v.create_graph});
  PoolVector<Tensor> gradients(x.size());
  for (std::size_t i = 0, next = 0; i < x.size(); ++i)
    if (v.wants(static_cast<int>(i))) gradients[i] = std::move(found[next++]);
  return Grads(std::move(gradients));
}

}  // namespace detail
}  // namespace gradus
