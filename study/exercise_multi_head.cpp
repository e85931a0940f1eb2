#include "study/exercise.hpp"

namespace gradus::study {
namespace {

const RegisteredExercise registered({
    .place = 50,
    .name = "multi_head",
    .title = "multi-head attention with an output layer",
    .task =
        "A batch of two sequences of five tokens, width 8, two heads of width 4. Reshape and permute move numbers and "
        "nothing else: their gradients move them back.",
    .program = R"(Q = permute(reshape(X @ W_Q, [2, 5, 2, 4]), [0, 2, 1, 3])  # [batch, head, time, width]
K = permute(reshape(X @ W_K, [2, 5, 2, 4]), [0, 2, 1, 3])
V = permute(reshape(X @ W_V, [2, 5, 2, 4]), [0, 2, 1, 3])
S = Q @ K.T / sqrt(4)
A = softmax(S)
H = A @ V
C = reshape(permute(H, [0, 2, 1, 3]), [2, 5, 8])
Y = C @ W_O + b_O)",
    .wrt = {"W_Q", "W_K", "W_V", "W_O", "b_O", "X"},
    .inputs =
        [](Generator& g) {
          NamedTensors arrays{{"X", randn({2, 5, 8}, DType::f64, g)}};
          for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) arrays.emplace_back(name, randn({8, 8}, DType::f64, g));
          arrays.emplace_back("b_O", randn({8}, DType::f64, g));
          return arrays;
        },
    .hints = {{"d_b_O", "b_O serves all tokens of all sequences: sum over both axes"},
              {"d_W_O", "W_O serves the whole batch: sum C^T d_Y over the sequences"},
              {"d_C", "Y = C W_O + b_O, so d_C = d_Y W_O^T"},
              {"d_H", "the reshape and the permute of C, backwards"},
              {"d_A", "H = A V for each head, so d_A = d_H V^T on the last two axes"},
              {"d_V", "H = A V for each head, so d_V = A^T d_H on the last two axes"},
              {"d_S", "the row sum of d_A * A is subtracted within each row of each head"},
              {"d_Q", "the factor is 1/sqrt of the head's width, 4, not of 8"},
              {"d_K", "d_S transposed in its last two axes, times Q"},
              {"d_W_Q", "join the heads again, then sum X^T d over the sequences"},
              {"d_W_K", "join the heads again, then sum X^T d over the sequences"},
              {"d_W_V", "join the heads again, then sum X^T d over the sequences"},
              {"d_X", "three paths: through Q, K and V"}},
});

}  // namespace
}  // namespace gradus::study
