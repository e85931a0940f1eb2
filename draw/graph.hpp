#pragma once
#include <cstdint>
#include <string>
#include <vector>

// Pictures of directed graphs without cycles: what was computed from what.
namespace gradus::draw {

/// A directed graph without cycles.
struct Graph {
  /// What a node stands for: it decides its colour and border.
  enum class Kind : std::uint8_t { input, parameter, constant, op, result };
  struct Node {
    int id = 0;         ///< whatever number the caller knows it by; no two are equal
    std::string label;  ///< one or more lines; the first is set in bold
    Kind kind = Kind::op;
    std::string tooltip = {};
  };
  struct Edge {
    int from = 0, to = 0;  ///< ids
    std::string label = {};
  };
  std::string title = "graph";
  std::vector<Node> nodes = {};
  std::vector<Edge> edges = {};
};

/// `input`, `parameter`, `constant`, `op`, `result`.
const char* to_string(Graph::Kind kind);

/// Where things stand in a picture that reads from left to right.
struct GraphLayout {
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    int column = 0;
  };
  struct Point {
    double x = 0, y = 0;
  };
  std::vector<Box> boxes;  ///< of each node, in the graph's order
  std::vector<std::vector<Point>>
      curves;  ///< of each edge: a curve to every second point, a straight line to the others
  double width = 0, height = 0;
};

/// Places the nodes in columns, each right of all that it depends on, ordered so that few edges cross; long edges get a
/// way between the boxes. Error for an edge to a node that is not there, two nodes with one id, and a cycle.
GraphLayout layout(const Graph& graph);

/// The picture. Each node is a group of class `node node-KIND` with data-node="ID", each edge one of class `edge` with
/// data-edge="FROM-TO", data-from="FROM" and data-to="TO", so that a page can highlight them. Colours follow the page
/// (--gradus-ink and --gradus-paper). Error as layout.
std::string to_svg(const Graph& graph);

/// The graph in the language of Graphviz. Error as layout.
std::string to_dot(const Graph& graph);

}  // namespace gradus::draw
