#include "study/exercise.hpp"

namespace gradus::study {
namespace {

const RegisteredExercise registered({
    .place = 20,
    .name = "cross_entropy",
    .title = "mean cross-entropy of a batch of logits",
    .task = "L holds the logits of six examples over five classes, t the right classes. The loss is the mean of -log "
            "of the "
            "probability of the right class.",
    .program = R"(E = exp(L)
N = sum(E, axis=-1, keepdim=True)
P = E / N
G = log(P)
picked = gather(G, t, axis=-1)
loss = -mean(picked))",
    .wrt = {"L"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{{"L", randn({6, 5}, DType::f64, g)}, {"t", randint(0, 5, {6, 1}, g)}};
        },
    .hints = {{"d_picked", "each of the six entries moves the mean by 1/6"},
              {"d_G", "zero everywhere but at the right class of each row"},
              {"d_P", "the derivative of log is 1 / P"},
              {"d_N", "N serves a whole row: sum along it"},
              {"d_E", "two paths: through the quotient, and through N"},
              {"d_L", "put together, this is (P - one_hot(t)) / 6"}},
});

}  // namespace
}  // namespace gradus::study
