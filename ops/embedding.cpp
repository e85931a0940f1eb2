#include "core/indexing.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Embedding {
  std::optional<std::int64_t> padding_index;
  static constexpr OpInfo info{
      .name = "embedding",
      .math = R"(y_{k} = W_{i_{k}})",
      .rule = "\\bar W_{v} = \\sum_{k : i_{k} = v} \\bar y_{k}\n\\text{none}",
      .derivation =
          R"(A row of W that is read several times gets the sum of those cotangents, one that is not read gets 0.
The row of the padding index is a constant: it gets exactly 0.)",
      .why_kept = "the index, as a residual, and of W the shape alone",
      .numpy = "{weight}[{index}]"};

  Forward forward(const Tensor& weight, const Tensor& index) const {
    const Tensor checked = checked_index("embedding", index, weight.shape()[0], "rows");
    return {take_along(weight, checked, 0), checked};
  }
  Grads vjp(const Vjp& v) const {
    const Shape& shape = v.x[0].shape();
    const std::int64_t n = v.residuals[0].numel();
    const Tensor index = reshape(v.residuals[0], {n, 1});
    Tensor g = reshape(v.g, {n, shape[1]});
    if (padding_index) g = where(index == *padding_index, 0.0, g);
    return {scatter_add(zeros(shape, g.dtype()), expand(index, g.shape()), g, 0), Tensor{}};
  }
  Grads fused_vjp(const Vjp& v) const {
    return {take_along_adjoint(v.g, v.residuals[0], v.x[0].shape(), 0, padding_index), Tensor{}};
  }

  static void samples(Samples& s) {
    s.add(embedding, s.randn({3, 2}), gradus::indices({2, 0, 2}));
    s.add(embedding, s.randn({7, 4}), s.indices({2, 3}, 7)).for_benchmark();
    s.add(embedding, s.randn({5, 3}), gradus::indices({1, 1, 2, 0}), 4);
    s.add(embedding, s.randn({5, 3}), gradus::indices({1, 1, 2, 0}), 1).at_kink();  // 0 by decree, not by differences
    s.add(embedding, s.randn({5, 3}), s.indices({}, 5));
    s.add(embedding, s.randn({5, 3}), s.indices({2, 0}, 5));
    s.add(embedding, s.randn({5, 0}), s.indices({2}, 5));
    s.error("index 7 at position [1] is out of range for 7 rows; use 0 to 6", embedding, s.randn({7, 2}),
            gradus::indices({0, 7}));
    s.error("index -1 at position [0] is out of range for 7 rows", embedding, s.randn({7, 2}), gradus::indices({-1}));
    s.error("padding_index 7 is out of range for 7 rows; use 0 to 6", embedding, s.randn({7, 2}), gradus::indices({1}),
            7);
    s.error("padding_index -1 is out of range", embedding, s.randn({7, 2}), gradus::indices({1}), -1);
    s.error("the weight has shape [7]; give a matrix [rows, width]", embedding, s.randn({7}), gradus::indices({1}));
    s.error("the index has dtype f64, not i64", embedding, s.randn({7, 2}), s.randn({2}));
  }
};

const Register<Embedding> registered{embedding, {"weight", "index", {"padding_index", None}}};

}  // namespace

// Row index[k] of weight [rows, width] for each k: [..., width]. The row of padding_index is returned as it is and
// never gets a gradient.
Tensor embedding(const Tensor& weight, const Tensor& index, std::optional<std::int64_t> padding_index) {
  if (weight.rank() != 2) fail("embedding: the weight has shape {}; give a matrix [rows, width]", weight.shape());
  const std::int64_t rows = weight.shape()[0];
  if (padding_index && (*padding_index < 0 || *padding_index >= rows))
    fail("embedding: padding_index {} is out of range for {} rows; use 0 to {}", *padding_index, rows, rows - 1);
  return apply(Embedding{padding_index}, weight, index);
}

}  // namespace gradus
