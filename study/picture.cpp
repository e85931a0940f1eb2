#include "study/picture.hpp"

#include "core/node.hpp"
#include "core/op.hpp"
#include "core/registry.hpp"
#include "draw/text.hpp"
#include "study/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace gradus::study {
namespace {

using Kind = draw::Graph::Kind;

std::string shape_text(const Tensor& x) {
  std::string text = x.rank() == 0 ? "scalar" : to_string(x.shape());
  if (x.dtype() == DType::i64 || x.dtype() == DType::b8) text += fmt::format(" {}", x.dtype());
  return text;
}

Kind kind_of(Role role) {
  switch (role) {
    case Role::input: return Kind::input;
    case Role::parameter: return Kind::parameter;
    case Role::constant: return Kind::constant;
    case Role::intermediate: return Kind::op;
    case Role::result: return Kind::result;
  }
  return Kind::op;
}

/// A number instead of a shape where there is only one.
std::string constant_text(const Tensor& x) {
  return x.numel() == 1 && !x.is_ghost() ? fmt::format("{:.4g}", x.detach().item()) : shape_text(x);
}

/// Adds an edge; two from one node to another become one with both labels.
class Edges {
 public:
  explicit Edges(draw::Graph& graph) : graph_(graph) {}
  void add(int from, int to, const std::string& label) {
    const auto [found, fresh] = known_.try_emplace({from, to}, graph_.edges.size());
    if (fresh) graph_.edges.push_back({from, to, label});
    else if (!label.empty()) graph_.edges[found->second].label += ", " + label;
  }

 private:
  draw::Graph& graph_;
  std::map<std::pair<int, int>, std::size_t> known_;
};

/// The graph behind a tensor, node by node.
class Walk {
 public:
  Walk(const Tensor& y, const std::vector<std::pair<std::string, Tensor>>& names) : y_(y), edges_(graph_) {
    for (const auto& [name, x] : names)
      if (x.node()) names_.emplace(x.node().get(), name);
      else if (x.defined()) add_name(name, x);
  }

  draw::Graph run() {
    graph_.title = "graph of a tensor of shape " + to_string(y_.shape());
    if (!y_.node()) {
      add_node({.id = 0, .label = "constant\n" + constant_text(y_), .kind = Kind::constant});
      return std::move(graph_);
    }
    for (const Node* node : nodes_in_order()) add(*node);
    return std::move(graph_);
  }

 private:
  /// All nodes that y depends on, the oldest first.
  std::vector<const Node*> nodes_in_order() {
    std::vector<const Node*> found, stack{y_.node().get()};
    while (!stack.empty()) {
      const Node* const node = stack.back();
      stack.pop_back();
      if (!shapes_.try_emplace(node).second) continue;
      found.push_back(node);
      check_count(found.size());
      for (int i = 0; i < node->input_count; ++i)
        if (const Node* const input = node->inputs[i].node().get()) stack.push_back(input);
    }
    for (const Node* node : found)
      for (int i = 0; i < node->input_count; ++i)
        if (const Node* const input = node->inputs[i].node().get()) shapes_[input] = shape_text(node->inputs[i]);
    shapes_[y_.node().get()] = shape_text(y_);
    std::sort(found.begin(), found.end(), [](const Node* a, const Node* b) { return a->number < b->number; });
    return found;
  }

  void add_name(const std::string& name, const Tensor& constant) {
    named_constants_.set(constant, static_cast<int>(constant_names_.size()));
    constant_names_.push_back(name);
  }

  static void check_count(std::size_t count) {
    constexpr std::size_t most = 2000;
    if (count > most)
      fail("graph_of: more than {} nodes behind this tensor, which no picture shows; take one nearer to the leaves",
           most);
  }

  int add_node(draw::Graph::Node node) {
    check_count(graph_.nodes.size() + 1);
    node.id = static_cast<int>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().id;
  }

  void add(const Node& node) {
    const auto named = names_.find(&node);
    const std::string name = named == names_.end() ? "" : named->second;
    if (node.is_leaf()) {
      ids_[&node] =
          add_node({.label = (name.empty() ? "leaf" : name) + "\n" + shapes_[&node], .kind = Kind::parameter});
      return;
    }
    std::vector<int> inputs;
    for (int i = 0; i < node.input_count; ++i) inputs.push_back(input_of(node.inputs[i]));
    const bool result = &node == y_.node().get();
    const int id = ids_[&node] =
        add_node({.label = (name.empty() ? "" : name + "\n") + op_name(node) + "\n" + shapes_[&node],
                  .kind = result ? Kind::result : Kind::op,
                  .tooltip = tooltip(node)});
    const std::vector<std::string> labels = argument_names(node);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] >= 0) edges_.add(inputs[i], id, labels[i]);
  }

  /// The id of an op's input; a constant is added when first met. -1 for what was not given or is gone.
  int input_of(const Tensor& x) {
    if (!x.defined()) return -1;
    if (const Node* const node = x.node().get()) return ids_.at(node);
    const bool known = !x.is_ghost();  // of a ghost nobody knows whether it is the same as another
    if (known)
      if (const int id = constants_.find(x); id >= 0) return id;
    const int named = known ? named_constants_.find(x) : -1;
    const std::string name = named < 0 ? "" : constant_names_[static_cast<std::size_t>(named)] + "\n";
    const int id = add_node({.label = name + constant_text(x), .kind = name.empty() ? Kind::constant : Kind::input});
    if (known) constants_.set(x, id);
    return id;
  }

  static std::string tooltip(const Node& node) {
    std::string text = fmt::format("{}(", op_name(node));
    bool first = true;
    for (const Value& value : node.table->attributes(node)) {
      text += (first ? "" : ", ") + draw::clipped(to_string(value), 40);
      first = false;
    }
    return text + ")";
  }

  /// The names of an op's inputs, where it has several.
  static std::vector<std::string> argument_names(const Node& node) {
    std::vector<std::string> names;
    const OpEntry* const entry = find_op(op_name(node));
    if (entry && node.input_count > 1)
      for (const Param& p : entry->params)
        if (p.tensor || p.number || p.list) names.emplace_back(p.name);
    const bool one_list = entry && names.size() == 1;
    if (one_list) names.front().clear();
    names.resize(static_cast<std::size_t>(node.input_count));
    return names;
  }

  const Tensor y_;
  draw::Graph graph_;
  Edges edges_;
  std::unordered_map<const Node*, std::string> names_, shapes_;
  std::vector<std::string> constant_names_;
  Identity named_constants_;
  std::unordered_map<const Node*, int> ids_;
  Identity constants_;
};

/// What a quantity was made by: the expression where it is short, else the op.
std::string made_by(const Derivation& d, const Quantity& q) {
  constexpr int longest = 24;
  const ForwardStep& step = d.forward[static_cast<std::size_t>(q.made_by)];
  const std::size_t equals = step.line.find(" = ");
  const std::string expression = equals == std::string::npos ? "" : step.line.substr(equals + 3);
  const bool fits = !expression.empty() && draw::display_width(expression) <= longest;
  return fits ? expression : step.op ? std::string(step.op->info().name) : "";
}

}  // namespace

draw::Graph graph_of(const Derivation& derivation) {
  draw::Graph graph;
  if (!derivation.quantities.empty())
    graph.title = "forward pass of " + derivation.quantities[static_cast<std::size_t>(derivation.result)].name;
  Edges edges(graph);
  std::vector<bool> shown(derivation.quantities.size(), false);
  for (const ForwardStep& step : derivation.forward)
    for (const int input : step.inputs)
      if (input >= 0) {
        edges.add(input, step.output, "");
        shown[static_cast<std::size_t>(input)] = true;
      }
  for (std::size_t i = 0; i < derivation.quantities.size(); ++i) {
    const Quantity& q = derivation.quantities[i];
    if (q.role == Role::constant && !shown[i]) continue;  // only the backward pass knows it
    std::string label = q.name + "\n";
    if (q.made_by >= 0) label += made_by(derivation, q) + "\n";
    label += q.role == Role::constant ? constant_text(q.value) : shape_text(q.value);
    const std::string tooltip = q.made_by < 0 ? std::string(to_string(q.role)) + " " + q.name
                                              : derivation.forward[static_cast<std::size_t>(q.made_by)].line;
    graph.nodes.push_back({static_cast<int>(i), label, kind_of(q.role), tooltip});
  }
  return graph;
}

draw::Graph graph_of(const Tensor& y, const std::vector<std::pair<std::string, Tensor>>& names) {
  if (!y.defined()) fail("graph_of: the tensor is undefined; give the result of an op");
  return Walk(y, names).run();
}

}  // namespace gradus::study
