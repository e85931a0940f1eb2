#include "draw/graph.hpp"
#include "draw/graph_layers.hpp"
#include "draw/graph_style.hpp"
#include "draw/svg.hpp"

#include <algorithm>
#include <span>

namespace gradus::draw {
namespace {

using Index = std::size_t;
Index at(int i) { return static_cast<Index>(i); }

constexpr double margin = 14, row_gap = 16, stop_gap = 9, column_gap = 44;

/// Heights of stops and where their middles are.
struct Rows {
  std::vector<double> height, middle;
};

/// How far apart the middles of two stops of a column are at least.
double distance_between(const GraphLayers& layers, const Rows& rows, int a, int b) {
  const bool passes = layers.stops[at(a)].node < 0 || layers.stops[at(b)].node < 0;
  return (rows.height[at(a)] + rows.height[at(b)]) / 2 + (passes ? stop_gap : row_gap);
}

/// How much a stop wants to be level with a neighbour. On a long edge only the edge itself counts, as far as it goes.
double pull_between(const GraphLayers& layers, const GraphStop& stop, int other, const std::vector<int>& side) {
  const auto passes = [&](int s) { return layers.stops[at(s)].node < 0; };
  if (passes(other)) return stop.node < 0 ? 8 : 0.5;
  return stop.node < 0 && std::any_of(side.begin(), side.end(), passes) ? 0 : 1;
}

/// The places nearest to `wanted` (in squares, by weight) that keep the order and the distances: neighbours that come
/// too close are moved together as one block (pool adjacent violators).
std::vector<double> kept_apart(std::span<const double> wanted, std::span<const double> weight,
                               std::span<const double> distance) {
  struct Block {
    double mean, weight;
    Index size;
  };
  std::vector<Block> blocks;
  std::vector<double> offset(wanted.size(), 0);
  for (Index i = 0; i < wanted.size(); ++i) {
    if (i > 0) offset[i] = offset[i - 1] + distance[i - 1];
    blocks.push_back({wanted[i] - offset[i], weight[i], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& b = blocks.back();
      b.mean = (b.mean * b.weight + last.mean * last.weight) / (b.weight + last.weight);
      b.weight += last.weight, b.size += last.size;
    }
  }
  std::vector<double> places;
  for (const Block& b : blocks)
    for (Index i = 0; i < b.size; ++i) places.push_back(b.mean + offset[places.size()]);
  return places;
}

/// Moves a column's stops towards the mean of their neighbours.
void align_column(const GraphLayers& layers, Rows& rows, int column, bool use_left, bool use_right) {
  const std::vector<int>& stops = layers.columns[at(column)];
  std::vector<double> wanted, weight, distance;
  for (Index i = 0; i < stops.size(); ++i) {
    const GraphStop& stop = layers.stops[at(stops[i])];
    double sum = 0, count = 0;
    const auto add = [&](const std::vector<int>& neighbours) {
      for (const int other : neighbours) {
        const double pull = pull_between(layers, stop, other, neighbours);
        sum += pull * rows.middle[at(other)], count += pull;
      }
    };
    if (use_left) add(stop.left);
    if (use_right) add(stop.right);
    wanted.push_back(count > 0 ? sum / count : rows.middle[at(stops[i])]);
    weight.push_back(count == 0 ? 0.1 : stop.node < 0 ? 100 : 1);
    if (i > 0) distance.push_back(distance_between(layers, rows, stops[i - 1], stops[i]));
  }
  const std::vector<double> places = kept_apart(wanted, weight, distance);
  for (Index i = 0; i < stops.size(); ++i) rows.middle[at(stops[i])] = places[i];
}

/// Makes long edges level wherever their columns leave room.
void straighten(const GraphLayers& layers, Rows& rows) {
  for (const std::vector<int>& stops : layers.columns)
    for (Index i = 0; i < stops.size(); ++i) {
      const GraphStop& stop = layers.stops[at(stops[i])];
      if (stop.node >= 0 || layers.stops[at(stop.left.front())].node >= 0) continue;
      double& middle = rows.middle[at(stops[i])];
      double wanted = rows.middle[at(stop.left.front())];
      if (i > 0)
        wanted =
            std::max(wanted, rows.middle[at(stops[i - 1])] + distance_between(layers, rows, stops[i - 1], stops[i]));
      if (i + 1 < stops.size())
        wanted =
            std::min(wanted, rows.middle[at(stops[i + 1])] - distance_between(layers, rows, stops[i], stops[i + 1]));
      middle = wanted;
    }
}

Rows rows_of(const Graph& graph, const GraphLayers& layers) {
  Rows rows;
  for (const GraphStop& stop : layers.stops)
    rows.height.push_back(stop.node < 0 ? 2 : box_size(graph.nodes[at(stop.node)]).height);
  rows.middle.resize(layers.stops.size(), 0);
  for (const auto& stops : layers.columns) {
    double y = 0;
    for (const int stop : stops) {
      rows.middle[at(stop)] = y + rows.height[at(stop)] / 2;
      y += rows.height[at(stop)] + row_gap;
    }
    for (const int stop : stops) rows.middle[at(stop)] -= y / 2;
  }
  const int count = static_cast<int>(layers.columns.size());
  constexpr int sweeps = 8;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool last = sweep + 2 >= sweeps, forward = sweep % 2 == 0;
    for (int i = 0; i < count; ++i)
      align_column(layers, rows, forward ? i : count - 1 - i, forward || last, !forward || last);
  }
  straighten(layers, rows);
  return rows;
}

/// Left and right end of each column.
struct Columns {
  std::vector<double> left, right;
};

Columns columns_of(const Graph& graph, const GraphLayers& layers) {
  std::vector<double> label(layers.columns.size() + 1, 0);  // of the widest edge label before a column
  for (Index e = 0; e < graph.edges.size(); ++e) {
    double& widest = label[at(layers.stops[at(layers.routes[e].back())].column)];
    widest = std::max(widest, edge_label_width(graph.edges[e]));
  }
  Columns columns;
  double x = margin;
  for (Index c = 0; c < layers.columns.size(); ++c) {
    double width = 0;
    for (const int stop : layers.columns[c])
      if (layers.stops[at(stop)].node >= 0)
        width = std::max(width, box_size(graph.nodes[at(layers.stops[at(stop)].node)]).width);
    const double crowd = std::min(40.0, 1.2 * static_cast<double>(layers.columns[c].size()));
    x += c == 0 ? 0 : column_gap + crowd + label[c];
    columns.left.push_back(x);
    x += width;
    columns.right.push_back(x);
  }
  return columns;
}

/// Where each edge enters its box: on the left, from top to bottom as they come in.
std::vector<double> ports_of(const Graph& graph, const GraphLayers& layers, const Rows& rows) {
  std::vector<std::vector<Index>> entering(graph.nodes.size());
  for (Index e = 0; e < layers.routes.size(); ++e) entering[at(layers.routes[e].back())].push_back(e);
  std::vector<double> ports(layers.routes.size());
  for (Index node = 0; node < entering.size(); ++node) {
    std::vector<Index>& edges = entering[node];
    const auto source = [&](Index e) { return rows.middle[at(*(layers.routes[e].end() - 2))]; };
    std::stable_sort(edges.begin(), edges.end(), [&](Index a, Index b) { return source(a) < source(b); });
    for (Index i = 0; i < edges.size(); ++i)
      ports[edges[i]] = rows.middle[node] +
                        rows.height[node] * (static_cast<double>(i + 1) / static_cast<double>(edges.size() + 1) - 0.5);
  }
  return ports;
}

/// The way of an edge: across the gaps in curves, across the columns straight.
std::vector<GraphLayout::Point> curve_of(const GraphLayers& layers, const Rows& rows, const Columns& columns,
                                         const GraphLayout& out, const std::vector<int>& route, double port) {
  std::vector<GraphLayout::Point> points;
  const auto box = [&](int stop) { return out.boxes[at(layers.stops[at(stop)].node)]; };
  const GraphLayout::Box from = box(route.front()), to = box(route.back());
  points.push_back({from.x + from.width, from.y + from.height / 2});
  points.push_back({columns.right[at(from.column)], points.back().y});
  for (Index i = 1; i + 1 < route.size(); ++i) {
    const Index column = at(layers.stops[at(route[i])].column);
    const double y = rows.middle[at(route[i])];
    points.push_back({columns.left[column], y});
    points.push_back({columns.right[column], y});
  }
  points.push_back({columns.left[at(to.column)], port});
  points.push_back({to.x, port});
  return points;
}

}  // namespace

GraphLayout layout(const Graph& graph) {
  const GraphLayers layers = layers_of(graph);
  GraphLayout out;
  if (graph.nodes.empty()) return out;
  Rows rows = rows_of(graph, layers);
  double top = 1e300, bottom = -1e300;
  for (Index i = 0; i < rows.middle.size(); ++i) {
    top = std::min(top, rows.middle[i] - rows.height[i] / 2);
    bottom = std::max(bottom, rows.middle[i] + rows.height[i] / 2);
  }
  for (double& middle : rows.middle) middle += margin - top;
  const Columns columns = columns_of(graph, layers);
  for (Index i = 0; i < graph.nodes.size(); ++i) {
    const BoxSize size = box_size(graph.nodes[i]);
    const Index column = at(layers.stops[i].column);
    const double spare = columns.right[column] - columns.left[column] - size.width;
    out.boxes.push_back({columns.left[column] + spare / 2, rows.middle[i] - size.height / 2, size.width, size.height,
                         static_cast<int>(column)});
  }
  const std::vector<double> ports = ports_of(graph, layers, rows);
  for (Index e = 0; e < layers.routes.size(); ++e)
    out.curves.push_back(curve_of(layers, rows, columns, out, layers.routes[e], ports[e]));
  out.width = columns.right.back() + margin;
  out.height = bottom - top + 2 * margin;
  return out;
}

}  // namespace gradus::draw
