#pragma once
#include "draw/graph.hpp"
#include "study/derivation.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gradus::study {

/// The forward pass of a derivation: a node for each quantity, with the expression that made it and its shape; its id
/// is the index of the quantity. draw::to_svg and draw::to_dot show it.
draw::Graph graph_of(const Derivation& derivation);

/// The recorded graph behind any tensor, no Record needed: a node for each op, leaf and constant, with shapes. Ids
/// count from 0 in the order in which they came to be. What stands in `names` is called so. A constant that an op
/// does not keep is a node of its own at each use. Error for an undefined tensor, and beyond 2,000 nodes.
draw::Graph graph_of(const Tensor& y, const std::vector<std::pair<std::string, Tensor>>& names = {});

}  // namespace gradus::study
