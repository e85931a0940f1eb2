#include "draw/graph_layers.hpp"

#include "core/error.hpp"
#include "draw/text.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace gradus::draw {
namespace {

using Index = std::size_t;
Index at(int i) { return static_cast<Index>(i); }

/// Edges between indices of nodes instead of ids.
std::vector<std::pair<int, int>> indexed_edges(const Graph& graph) {
  std::unordered_map<int, int> index;
  for (const Graph::Node& node : graph.nodes)
    if (!index.emplace(node.id, static_cast<int>(index.size())).second)
      fail("graph: two nodes have the id {}; give each its own", node.id);
  std::vector<std::pair<int, int>> edges;
  for (Index i = 0; i < graph.edges.size(); ++i) {
    const Graph::Edge& edge = graph.edges[i];
    const auto from = index.find(edge.from), to = index.find(edge.to);
    if (from == index.end() || to == index.end())
      fail("graph: edge {} leads from node {} to node {}, and there is no node {}; add it", i, edge.from, edge.to,
           from == index.end() ? edge.from : edge.to);
    edges.emplace_back(from->second, to->second);
  }
  return edges;
}

/// What depends on nothing else stands just left of its first use: inputs, and what is made of inputs that nobody else
/// reads. `order` is topological.
void move_to_first_use(const std::vector<std::vector<int>>& next, const std::vector<int>& inputs,
                       const std::vector<int>& order, std::vector<int>& column) {
  std::vector<int> own = inputs;  // inputs that come from elsewhere
  for (const int node : order)
    if (own[at(node)] == 0 && next[at(node)].size() == 1) --own[at(next[at(node)].front())];
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const std::vector<int>& readers = next[at(*node)];
    if (own[at(*node)] > 0 || readers.empty()) continue;
    int first = column[at(readers.front())];
    for (const int reader : readers) first = std::min(first, column[at(reader)]);
    column[at(*node)] = first - 1;
  }
}

/// The column of each node: right of all that lead to it; inputs just left of their first use.
std::vector<int> columns_of(const Graph& graph, const std::vector<std::pair<int, int>>& edges) {
  const Index n = graph.nodes.size();
  std::vector<std::vector<int>> next(n);
  std::vector<int> waiting(n, 0), column(n, 0), order;
  for (const auto& [from, to] : edges) next[at(from)].push_back(to), ++waiting[at(to)];
  const std::vector<int> inputs = waiting;
  for (Index i = 0; i < n; ++i)
    if (waiting[i] == 0) order.push_back(static_cast<int>(i));
  for (Index done = 0; done < order.size(); ++done)
    for (const int to : next[at(order[done])]) {
      column[at(to)] = std::max(column[at(to)], column[at(order[done])] + 1);
      if (--waiting[at(to)] == 0) order.push_back(to);
    }
  if (order.size() < n) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int w) { return w > 0; });
    const Graph::Node& node = graph.nodes[static_cast<Index>(stuck - waiting.begin())];
    fail("graph: node {} (\"{}\") lies on a cycle or behind one; what is computed cannot depend on itself", node.id,
         clipped(printable(node.label), 40));
  }
  move_to_first_use(next, inputs, order, column);
  return column;
}

/// Stops and routes; edges of one source share the stops that they pass.
void add_routes(GraphLayers& layers, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> passing(layers.stops.size());  // of each source: its stops from left to right
  const auto connect = [&](int from, int to) {
    layers.stops[at(from)].right.push_back(to);
    layers.stops[at(to)].left.push_back(from);
  };
  std::set<std::pair<int, int>> known;
  for (const auto& [from, to] : edges) {
    std::vector<int>& stops = passing[at(from)];
    const int start = layers.stops[at(from)].column + 1;
    const Index needed = at(layers.stops[at(to)].column - start);
    while (stops.size() < needed) {
      const int stop = static_cast<int>(layers.stops.size());
      layers.stops.push_back({.node = -1, .column = start + static_cast<int>(stops.size())});
      connect(stops.empty() ? from : stops.back(), stop);
      stops.push_back(stop);
    }
    std::vector<int> route{from};
    route.insert(route.end(), stops.begin(), stops.begin() + static_cast<std::ptrdiff_t>(needed));
    if (known.insert({from, to}).second) connect(route.back(), to);
    route.push_back(to);
    layers.routes.push_back(std::move(route));
  }
}

/// First order: depth first from the left, so that what belongs together stands together.
void arrange_first(GraphLayers& layers) {
  std::vector<bool> seen(layers.stops.size(), false);
  std::vector<int> stack;
  std::vector<int> starts(layers.stops.size());
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(),
                   [&](int a, int b) { return layers.stops[at(a)].column < layers.stops[at(b)].column; });
  for (const int start : starts) {
    stack.push_back(start);
    while (!stack.empty()) {
      const int stop = stack.back();
      stack.pop_back();
      if (seen[at(stop)]) continue;
      seen[at(stop)] = true;
      const GraphStop& s = layers.stops[at(stop)];
      layers.columns[at(s.column)].push_back(stop);
      stack.insert(stack.end(), s.right.rbegin(), s.right.rend());
    }
  }
}

/// Sorts a column by the mean place of its neighbours; stops without any keep theirs.
void sort_column(GraphLayers& layers, std::vector<double>& place, int column, bool by_left) {
  std::vector<int>& stops = layers.columns[at(column)];
  std::vector<std::pair<double, int>> keys;
  for (const int stop : stops) {
    const auto& neighbours = by_left ? layers.stops[at(stop)].left : layers.stops[at(stop)].right;
    double sum = 0;
    for (const int other : neighbours) sum += place[at(other)];
    keys.emplace_back(neighbours.empty() ? place[at(stop)] : sum / static_cast<double>(neighbours.size()), stop);
  }
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (Index i = 0; i < keys.size(); ++i) {
    stops[i] = keys[i].second;
    place[at(stops[i])] = (static_cast<double>(i) + 0.5) / static_cast<double>(stops.size());
  }
}

void reduce_crossings(GraphLayers& layers) {
  std::vector<double> place(layers.stops.size());
  for (const auto& stops : layers.columns)
    for (Index i = 0; i < stops.size(); ++i)
      place[at(stops[i])] = (static_cast<double>(i) + 0.5) / static_cast<double>(stops.size());
  auto best = layers.columns;
  std::int64_t fewest = crossings(layers);
  const int count = static_cast<int>(layers.columns.size());
  constexpr int sweeps = 12;
  for (int sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
    const bool by_left = sweep % 2 == 0;
    for (int i = 0; i < count; ++i) sort_column(layers, place, by_left ? i : count - 1 - i, by_left);
    const std::int64_t now = crossings(layers);
    if (now < fewest) best = layers.columns, fewest = now;
  }
  layers.columns = std::move(best);
}

}  // namespace

std::int64_t crossings(const GraphLayers& layers) {
  std::vector<int> place(layers.stops.size());
  for (const auto& stops : layers.columns)
    for (Index i = 0; i < stops.size(); ++i) place[at(stops[i])] = static_cast<int>(i);
  std::int64_t count = 0;
  for (Index c = 0; c + 1 < layers.columns.size(); ++c) {
    // Connections from top to bottom; each crosses the earlier ones that end below it. Counted by a Fenwick tree.
    std::vector<std::int64_t> tree(layers.columns[c + 1].size() + 1, 0);
    std::int64_t total = 0;
    for (const int stop : layers.columns[c]) {
      std::vector<int> ends;
      for (const int to : layers.stops[at(stop)].right) ends.push_back(place[at(to)]);
      for (const int end : ends) {
        count += total;
        for (Index i = at(end) + 1; i > 0; i -= i & (~i + 1)) count -= tree[i];
      }
      for (const int end : ends)
        for (Index i = at(end) + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
      total += static_cast<std::int64_t>(ends.size());
    }
  }
  return count;
}

GraphLayers layers_of(const Graph& graph) {
  const auto edges = indexed_edges(graph);
  const std::vector<int> column = columns_of(graph, edges);
  GraphLayers layers;
  for (Index i = 0; i < column.size(); ++i) layers.stops.push_back({.node = static_cast<int>(i), .column = column[i]});
  layers.columns.resize(column.empty() ? 0 : at(*std::max_element(column.begin(), column.end())) + 1);
  add_routes(layers, edges);
  arrange_first(layers);
  reduce_crossings(layers);
  return layers;
}

}  // namespace gradus::draw
