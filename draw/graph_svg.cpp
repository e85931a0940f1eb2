#include "draw/graph.hpp"
#include "draw/graph_style.hpp"
#include "draw/palette.hpp"
#include "draw/svg.hpp"
#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradus::draw {
namespace {

constexpr int longest_line = 30, most_lines = 6, longest_edge_label = 12;

std::string edge_label(const Graph::Edge& edge) { return clipped(printable(edge.label), longest_edge_label); }

/// Fill and border of a box. They differ in more than colour, and the fill lets the page's paper shine through.
std::string border_of(Graph::Kind kind) {
  constexpr int blue = 0, orange = 1, green = 2;
  const auto coloured = [](int index, std::string_view more) {
    const std::string colour = hex(series_color(index));
    return fmt::format(R"(fill="{0}" fill-opacity="0.18" stroke="{0}" {1})", colour, more);
  };
  switch (kind) {
    case Graph::Kind::input: return coloured(blue, R"(stroke-width="1.2")");
    case Graph::Kind::parameter: return coloured(orange, R"(stroke-width="2")");
    case Graph::Kind::constant:
      return R"(fill="currentColor" fill-opacity="0.03" stroke="currentColor" stroke-opacity="0.5" )"
             R"(stroke-dasharray="3 2")";
    case Graph::Kind::op:
      return R"(fill="currentColor" fill-opacity="0.06" stroke="currentColor" stroke-opacity="0.55")";
    case Graph::Kind::result: return coloured(green, R"(stroke-width="2.4")");
  }
  return {};
}

double corner_of(const Graph::Node& node, const GraphLayout::Box& box) {
  const bool given = node.kind == Graph::Kind::input || node.kind == Graph::Kind::parameter;
  return given ? std::min(box.height / 2, 14.0) : 4;
}

void draw_node(Svg& svg, const Graph::Node& node, const GraphLayout::Box& box) {
  svg.open_group(fmt::format(R"(class="node node-{}" data-node="{}")", to_string(node.kind), node.id));
  const std::vector<std::string> lines = label_lines(node);
  const std::string& tip = node.tooltip.empty() ? node.label : node.tooltip;
  svg.element(fmt::format("<title>{}</title>", escaped(tip)));
  svg.element(fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" {}/>)", coordinate(box.x),
                          coordinate(box.y), coordinate(box.width), coordinate(box.height),
                          coordinate(corner_of(node, box)), border_of(node.kind)));
  const double middle = box.x + box.width / 2;
  double y = box.y + box.height / 2 - (static_cast<double>(lines.size()) - 1) / 2 * line_height;
  for (std::size_t i = 0; i < lines.size(); ++i, y += line_height)
    svg.text(middle, y, lines[i],
             {.size = i == 0 ? title_size : line_size, .anchor = "middle", .middle = true, .bold = i == 0});
  svg.close_group();
}

/// Curves with level ends across the gaps, straight lines across the columns and where nearly nothing bends.
std::string path_of(const std::vector<GraphLayout::Point>& points) {
  constexpr double arrow = 6, hardly = 0.5;
  std::string d = fmt::format("M{} {}", coordinate(points[0].x), coordinate(points[0].y));
  double x = points[0].x, y = points[0].y;
  const auto straight_to = [&](double end) {
    if (end > x) d += "H" + coordinate(end);
    x = end;
  };
  for (std::size_t i = 2; i < points.size(); i += 2) {
    const bool last = i + 2 == points.size();
    const auto [end, level] = points[i];
    if (std::abs(level - y) < (last ? 0.005 : hardly)) continue;
    straight_to(points[i - 1].x);
    const std::string middle = coordinate((x + end) / 2);
    d += fmt::format("C{0} {1} {0} {2} {3} {2}", middle, coordinate(y), coordinate(level), coordinate(end));
    x = end, y = level;
  }
  straight_to(points.back().x - arrow);
  return d;
}

void draw_edge(Svg& svg, const Graph::Edge& edge, const std::vector<GraphLayout::Point>& points) {
  svg.open_group(fmt::format(R"(class="edge" data-edge="{0}-{1}" data-from="{0}" data-to="{1}")", edge.from, edge.to));
  const auto [x, y] = points.back();
  svg.element(fmt::format(R"(<path d="{}" fill="none" stroke="#888" stroke-width="1.2"/>)", path_of(points)));
  svg.element(fmt::format(R"(<path d="M{} {}l-7 -3.2v6.4z" fill="#888"/>)", coordinate(x), coordinate(y)));
  if (!edge.label.empty())
    svg.text(points[points.size() - 2].x - 8, y - 2.5, edge_label(edge), {.size = edge_label_size, .anchor = "end"});
  svg.close_group();
}

}  // namespace

std::vector<std::string> label_lines(const Graph::Node& node) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= node.label.size() && static_cast<int>(lines.size()) < most_lines;) {
    const std::size_t end = std::min(node.label.find('\n', at), node.label.size());
    lines.push_back(clipped(printable(std::string_view(node.label).substr(at, end - at)), longest_line));
    at = end + 1;
  }
  return lines;
}

BoxSize box_size(const Graph::Node& node) {
  const std::vector<std::string> lines = label_lines(node);
  double width = 22;
  for (std::size_t i = 0; i < lines.size(); ++i)
    width = std::max(width, text_width(lines[i], i == 0 ? title_size : line_size));
  return {width + 18, line_height * static_cast<double>(lines.size()) + 10};
}

double edge_label_width(const Graph::Edge& edge) {
  return edge.label.empty() ? 0 : text_width(edge_label(edge), edge_label_size);
}

std::string to_svg(const Graph& graph) {
  const GraphLayout places = layout(graph);
  Svg svg("graph", graph.title);
  svg.open_group(monospace);
  if (graph.nodes.empty()) svg.text(14, 26, "nothing to show", {.size = title_size});
  for (std::size_t i = 0; i < graph.edges.size(); ++i) draw_edge(svg, graph.edges[i], places.curves[i]);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) draw_node(svg, graph.nodes[i], places.boxes[i]);
  svg.close_group();
  const bool empty = graph.nodes.empty();
  return svg.document(empty ? 140 : places.width, empty ? 40 : places.height, 0.8);
}

}  // namespace gradus::draw
