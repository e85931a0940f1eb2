#include "study/exercise.hpp"

namespace gradus::study {
namespace {

const RegisteredExercise registered({
    .place = 30,
    .name = "layer_norm",
    .title = "LayerNorm with weight and bias",
    .task = "Each row of x loses its mean, is divided by its standard deviation, and gets weight and bias. The mean "
            "and the "
            "variance depend on the whole row: nothing here is elementwise.",
    .program = R"(m = mean(x, axis=-1, keepdim=True)
c = x - m
v = mean(c * c, axis=-1, keepdim=True)
r = 1 / sqrt(v + 1e-5)
h = c * r
y = h * w + b)",
    .wrt = {"x", "w", "b"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{
              {"x", randn({4, 6}, DType::f64, g)}, {"w", randn({6}, DType::f64, g)}, {"b", randn({6}, DType::f64, g)}};
        },
    .hints = {{"d_h", "h is multiplied by w in every row"},
              {"d_w", "w serves every row: sum over the rows"},
              {"d_b", "b serves every row: sum over the rows"},
              {"d_r", "r serves a whole row: sum along it"},
              {"d_v", "the derivative of (v + e)^(-1/2) is -1/2 (v + e)^(-3/2)"},
              {"d_c", "c is read twice: by c * r, and by the variance, there as a square"},
              {"d_m", "m was subtracted from a whole row: minus the sum along it"},
              {"d_x", "two paths: directly, and through the mean, which spreads d_m / 6 over the row"}},
});

}  // namespace
}  // namespace gradus::study
