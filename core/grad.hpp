#pragma once
#include "core/tensor.hpp"

#include <span>
#include <vector>

namespace gradus {

struct GradOptions {
  bool create_graph = false;  ///< gradients are recorded, so that they can be differentiated again
};

/// Gradients of sum(y * seed) with respect to each of `wrt` (leaves or intermediate results); zeros where y does not
/// depend on it. Pure: nothing is released, no leaf is touched. Without a seed y must have one element. Error
/// otherwise, or when a tensor of `wrt` does not require grad, y has no graph, or a tensor kept for backward was
/// written to.
std::vector<Tensor> grad(const Tensor& y, std::span<const Tensor> wrt, const Tensor& seed = {},
                         GradOptions options = {});
std::vector<Tensor> grad(const Tensor& y, std::initializer_list<Tensor> wrt, const Tensor& seed = {},
                         GradOptions options = {});
Tensor grad(const Tensor& y, const Tensor& wrt, const Tensor& seed = {}, GradOptions options = {});

struct BackwardOptions {
  bool retain = false;  ///< keep the graph, so that it can be differentiated again
  Tensor seed = {};     ///< the cotangent of the loss; needed unless the loss has one element
};

/// Adds the gradient of `loss` to the `.grad()` of every leaf and releases the graph. Error, before any gradient is
/// touched, when a part of the graph was released by an earlier backward.
void backward(const Tensor& loss, const BackwardOptions& options = {});

}  // namespace gradus
