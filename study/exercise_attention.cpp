#include "study/exercise.hpp"

namespace gradus::study {
namespace {

const RegisteredExercise registered({
    .place = 40,
    .name = "attention",
    .title = "one head of scaled dot-product attention",
    .task =
        "Five tokens of width 6 look at each other through queries, keys and values of width 4. X is read three times.",
    .program = R"(Q = X @ W_Q
K = X @ W_K
V = X @ W_V
S = Q @ K.T / sqrt(4)
A = softmax(S)
Z = A @ V)",
    .wrt = {"W_Q", "W_K", "W_V", "X"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{{"X", randn({5, 6}, DType::f64, g)},
                              {"W_Q", randn({6, 4}, DType::f64, g)},
                              {"W_K", randn({6, 4}, DType::f64, g)},
                              {"W_V", randn({6, 4}, DType::f64, g)}};
        },
    .hints = {{"d_A", "Z = A V, so d_A = d_Z V^T"},
              {"d_V", "Z = A V, so d_V = A^T d_Z: row j of V is seen by all queries, weighted by column j of A"},
              {"d_S",
               "the Jacobian of a row of softmax is diag(a) - a a^T, not a (1 - a): subtract the row sum of d_A * A"},
              {"d_Q", "S = Q K^T / sqrt(4): the factor stays"},
              {"d_K", "the same with d_S transposed: key j gets from every query i the entry d_S[i, j]"},
              {"d_W_Q", "Q = X W_Q, so d_W_Q = X^T d_Q"},
              {"d_W_K", "K = X W_K, so d_W_K = X^T d_K"},
              {"d_W_V", "V = X W_V, so d_W_V = X^T d_V"},
              {"d_X", "three paths: through Q, K and V"}},
});

}  // namespace
}  // namespace gradus::study
