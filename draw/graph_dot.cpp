#include "draw/graph.hpp"
#include "draw/graph_layers.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

namespace gradus::draw {
namespace {

/// Text between quotes: a line break is \n, what else is a control character becomes a space.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char32_t c : decode_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c < 0x20 || c == 0x7f ? " " : encode_utf8(c);
  }
  return out + "\"";
}

std::string_view style_of(Graph::Kind kind) {
  switch (kind) {
    case Graph::Kind::input: return R"(style="rounded,filled", fillcolor="#dbeaf5", color="#0072b2")";
    case Graph::Kind::parameter: return R"(style="rounded,filled", fillcolor="#f8e2d3", color="#d55e00", penwidth=2)";
    case Graph::Kind::constant: return R"(style="dashed")";
    case Graph::Kind::op: return R"(style="filled", fillcolor="#f2f2f2")";
    case Graph::Kind::result: return R"(style="filled", fillcolor="#d4efe6", color="#009e73", penwidth=2)";
  }
  return {};
}

}  // namespace

const char* to_string(Graph::Kind kind) {
  constexpr const char* names[] = {"input", "parameter", "constant", "op", "result"};
  return names[static_cast<int>(kind)];
}

std::string to_dot(const Graph& graph) {
  layers_of(graph);  // refuses what no picture can show
  std::string out =
      fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n", quoted(graph.title));
  for (const Graph::Node& node : graph.nodes) {
    out += fmt::format("  \"n{}\" [label={}, {}", node.id, quoted(node.label), style_of(node.kind));
    if (!node.tooltip.empty()) out += fmt::format(", tooltip={}", quoted(node.tooltip));
    out += "];\n";
  }
  for (const Graph::Edge& edge : graph.edges) {
    out += fmt::format("  \"n{}\" -> \"n{}\"", edge.from, edge.to);
    if (!edge.label.empty()) out += fmt::format(" [label={}]", quoted(edge.label));
    out += ";\n";
  }
  return out + "}\n";
}

}  // namespace gradus::draw
