#include "study/exercise.hpp"

namespace gradus::study {
namespace {

// Bahdanau et al. 2015, "Neural machine translation by jointly learning to align and translate".
const RegisteredExercise registered({
    .place = 70,
    .name = "additive",
    .title = "additive attention: v^T tanh(W q + U k)",
    .task = "Three queries look at five keys. Every query meets every key in a sum that is broadcast over both, so "
            "that each "
            "gets back a sum over the other.",
    .program = R"(P = q @ W
R = k @ U
T = tanh(reshape(P, [3, 1, 4]) + R)  # [query, key, width]
S = T @ v
A = softmax(S)
Z = A @ H)",
    .wrt = {"q", "k", "W", "U", "v", "H"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{{"q", randn({3, 6}, DType::f64, g)}, {"k", randn({5, 6}, DType::f64, g)},
                              {"W", randn({6, 4}, DType::f64, g)}, {"U", randn({6, 4}, DType::f64, g)},
                              {"v", randn({4}, DType::f64, g)},    {"H", randn({5, 3}, DType::f64, g)}};
        },
    .hints = {{"d_A", "Z = A H, so d_A = d_Z H^T"},
              {"d_H", "Z = A H, so d_H = A^T d_Z"},
              {"d_S", "the row sum of d_A * A is subtracted"},
              {"d_v", "v serves every pair: sum of d_S[i, j] T[i, j] over all pairs"},
              {"d_T", "S[i, j] = T[i, j] . v, so d_T[i, j] = d_S[i, j] v"},
              {"d_P", "through tanh' = 1 - T^2, then the sum over the keys"},
              {"d_R", "through tanh' = 1 - T^2, then the sum over the queries"},
              {"d_W", "P = q W, so d_W = q^T d_P"},
              {"d_U", "R = k U, so d_U = k^T d_R"},
              {"d_q", "P = q W, so d_q = d_P W^T"},
              {"d_k", "R = k U, so d_k = d_R U^T"}},
});

}  // namespace
}  // namespace gradus::study
