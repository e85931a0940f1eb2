#include "study/exercise.hpp"

namespace gradus::study {
namespace {

const RegisteredExercise registered({
    .place = 10,
    .name = "softmax",
    .title = "softmax, from its exponentials",
    .task =
        "Each row of S becomes weights that add up to 1. Every entry of a row moves all weights of that row, through "
        "the common denominator: E reaches A on two paths.",
    .program = R"(E = exp(S)
N = sum(E, axis=-1, keepdim=True)
A = E / N)",
    .wrt = {"S"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{{"S", randn({3, 5}, DType::f64, g)}};
        },
    .hints = {{"d_N", "N was repeated along the row in E / N: what comes back is summed along the row"},
              {"d_E", "E is read twice, by the sum and by the quotient: two paths add up"},
              {"d_S", "put together, this is A * (d_A - sum(d_A * A, axis=-1, keepdim=True))"}},
});

}  // namespace
}  // namespace gradus::study
