// How big the parts of a graph's picture are.
#pragma once
#include "draw/graph.hpp"

#include <string>
#include <vector>

namespace gradus::draw {

struct BoxSize {
  double width, height;
};

/// The lines of a node's label, each short enough for a box.
std::vector<std::string> label_lines(const Graph::Node& node);
/// The box that holds the label.
BoxSize box_size(const Graph::Node& node);
/// 0 without a label.
double edge_label_width(const Graph::Edge& edge);

inline constexpr double title_size = 12, line_size = 10.5, line_height = 14, edge_label_size = 9;

}  // namespace gradus::draw
