// The columns of a graph's picture: which nodes stand in each, and in which order. Long edges have a stop in every
// column that they pass; edges from one node share their stops.
#pragma once
#include "draw/graph.hpp"

#include <vector>

namespace gradus::draw {

/// A node, or a stop of an edge on its way.
struct GraphStop {
  int node = -1;  ///< index of a node; -1 for a stop of an edge
  int column = 0;
  std::vector<int> left = {};   ///< stops in the column before that lead here
  std::vector<int> right = {};  ///< stops in the next column
};

/// All stops, and their order from top to bottom in each column.
struct GraphLayers {
  std::vector<GraphStop> stops;           ///< those of the nodes first, in the graph's order
  std::vector<std::vector<int>> columns;  ///< indices of stops
  std::vector<std::vector<int>> routes;   ///< of each edge: its stops from the source to the target
};

/// Columns by the longest way from the left, inputs next to their first use, and an order with few crossings
/// (barycentre sweeps). Error for an edge to a node that is not there, two nodes with one id, and a cycle.
GraphLayers layers_of(const Graph& graph);

/// How many pairs of connections cross between neighbouring columns.
std::int64_t crossings(const GraphLayers& layers);

}  // namespace gradus::draw
