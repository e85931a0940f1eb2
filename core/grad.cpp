#include "core/grad.hpp"

#include "core/pass.hpp"

namespace gradus {
namespace {

void add_to_leaf(Node& leaf, Tensor g) {
  Tensor& have = leaf.more().gradient;
  if (!have.defined()) {
    have = g.storage().unique() && g.is_contiguous() && g.storage().bytes() == g.numel() * bytes_of(g.dtype())
               ? std::move(g)
               : copy_of(g);
  } else if (have.storage().unique()) {
    have.storage().bump_version();
    add_into(have, g);
  } else {
    Tensor total = copy_of(have);
    add_into(total, g);
    have = std::move(total);
  }
}

}  // namespace

std::vector<Tensor> grad(const Tensor& y, std::span<const Tensor> wrt, const Tensor& seed, GradOptions options) {
  Pass pass(y, seed, {.create_graph = options.create_graph});
  std::uint64_t floor = ~std::uint64_t{0};
  for (const Tensor& x : wrt) {
    if (!x.requires_grad())
      fail(
          "grad: a tensor of shape {} to differentiate by does not require grad; call requires_grad(true) before using "
          "it",
          x.defined() ? x.shape() : Shape{});
    floor = std::min(floor, x.node()->number);
  }
  pass.collect(floor);
  for (const Tensor& x : wrt) pass.want(x);
  pass.prune();
  pass.check();
  std::vector<Tensor> gradients(wrt.size());
  pass.run([&](Node& node, const Tensor& g) {
    for (std::size_t i = 0; i < wrt.size(); ++i)
      if (wrt[i].node().get() == &node) gradients[i] = g;
  });
  for (std::size_t i = 0; i < wrt.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros_like(wrt[i]);
  return gradients;
}

std::vector<Tensor> grad(const Tensor& y, std::initializer_list<Tensor> wrt, const Tensor& seed, GradOptions options) {
  return grad(y, std::span(wrt.begin(), wrt.size()), seed, options);
}

Tensor grad(const Tensor& y, const Tensor& wrt, const Tensor& seed, GradOptions options) {
  return std::move(grad(y, std::span(&wrt, 1), seed, options)[0]);
}

void backward(const Tensor& loss, const BackwardOptions& options) {
  PoolVector<std::pair<NodePtr, Tensor>> leaves;
  {
    Pass pass(loss, options.seed, {.to_leaves = true, .releases = !options.retain});
    pass.collect(0);
    pass.check();
    pass.run([&](Node& node, const Tensor& g) { leaves.emplace_back(share(&node), g); });
  }
  // Only now, when every rule has succeeded, is a leaf touched.
  for (auto& [leaf, g] : leaves) add_to_leaf(*leaf, std::move(g));
}

}  // namespace gradus
