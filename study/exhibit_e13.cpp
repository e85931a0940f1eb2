#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t layers = 30, rows = 4, width = 32;

struct Kind {
  bool norm, residual;
};

/// log10 of the length of the gradient in front of all layers over that behind them. A layer is tanh(x W), with W from
/// N(0, 1/4 / width).
double log_gradient(Kind kind) {
  toy::Draw draw(80);
  Tensor x = draw.normal({rows, width});
  x.requires_grad(true);
  Tensor y = x;
  for (std::int64_t i = 0; i < layers; ++i) {
    const Tensor w = draw.normal({width, width}, 0.5 / std::sqrt(static_cast<double>(width)));
    const Tensor f = tanh(matmul(kind.norm ? layer_norm(y) : y, w));
    y = kind.residual ? y + f : f;
  }
  const Tensor dy = draw.normal({rows, width});
  return std::log10(toy::length(grad(y, x, dy)) / toy::length(dy));
}

/// The formula of the article, without eps.
Tensor norm_as_written(const Tensor& x) {
  const Tensor centred = x - mean(x, -1, keepdim);
  return centred / sqrt(mean(centred * centred, -1, keepdim));
}

/// The largest gradient of sum(f(x) * c) for a row that is constant but for 1e-6.
double steepest(const std::function<Tensor(const Tensor&)>& f) {
  Tensor x = tensor({1, 1, 1 + 1e-6, 1}, DType::f64);
  x.requires_grad(true);
  return toy::largest(grad(f(x), x, tensor({1, -2, 0.5, 1}, DType::f64)));
}

std::vector<Finding> run() {
  const Tensor constant = full({4}, 1, DType::f64);
  const auto right = [](const Tensor& x) { return layer_norm(x); };
  return {
      matrix("without_eps", "LayerNorm of the row (1, 1, 1, 1) as the article writes it", norm_as_written(constant)),
      matrix("with_eps", "with eps = 1e-5 under the root", layer_norm(constant)),
      number("steep_without", "largest gradient at (1, 1, 1.000001, 1), as written", steepest(norm_as_written))
          .scientific(),
      number("steep_with", "with eps", steepest(right)).scientific(),
      table("layers", "30 tanh layers: log10 of the gradient's length before them over its length behind them",
            {{log_gradient({false, false}), log_gradient({true, false}), log_gradient({false, true}),
              log_gradient({true, true})}})
          .headed({"plain", "LayerNorm", "residual", "both"})
          .decimals(1)};
}

const RegisteredExhibit registered({
    .id = "E13",
    .title = "LayerNorm needs eps; vanishing gradients need the residual path",
    .claim = "Problem: vanishing gradients. Solution: LayerNorm(x) = gamma (x - mu) / sigma + beta.\n"
             "(First article, section 6.)",
    .right = "LayerNorm(x) = gamma (x - mu) / sqrt(sigma^2 + eps) + beta, together with residual paths x + f(x).",
    .why =
        "A row of equal values has sigma = 0, and 0/0 is not a number: one padded row is enough to spoil a training. "
        "Nearly equal values divide by next to nothing, and eps bounds the slope. Thirty tanh layers whose weights "
        "are half the usual size halve the gradient thirty times. LayerNorm rescales each layer's input, which "
        "undoes the shrinking here, but the gradient still passes through every layer; the identity in x + f(x) "
        "carries it past all of them, whatever f does. Transformers have both.",
    .commands = {"gradus eval 'x = ones(4); (x - mean(x)) / sqrt(var(x, correction=0))'",
                 "gradus eval 'layer_norm(ones(4))'", "gradus jacobian 'layer_norm(x)' --wrt x --set 'x=[1,1,1.1,1]'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
