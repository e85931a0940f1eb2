#include "study/exercise.hpp"

namespace gradus::study {
namespace {

// Katharopoulos et al. 2020, "Transformers are RNNs": the feature map is elu + 1.
const RegisteredExercise registered({
    .place = 60,
    .name = "linear_attention",
    .title = "linear attention with the feature map elu + 1",
    .task = "The softmax is replaced by a product of positive features, so that keys and values can be summed up once, "
            "in M "
            "and u, whatever the number of queries. N divides each row, as the denominator of a softmax does.",
    .program = R"(Q = X @ W_Q
K = X @ W_K
V = X @ W_V
F = elu(Q) + 1
G = elu(K) + 1
M = G.T @ V
u = sum(G, axis=0, keepdim=True)
B = F @ M
N = F @ u.T
Z = B / N)",
    .wrt = {"W_Q", "W_K", "W_V", "X"},
    .inputs =
        [](Generator& g) {
          return NamedTensors{{"X", randn({5, 6}, DType::f64, g)},
                              {"W_Q", randn({6, 4}, DType::f64, g)},
                              {"W_K", randn({6, 4}, DType::f64, g)},
                              {"W_V", randn({6, 3}, DType::f64, g)}};
        },
    .hints = {{"d_B", "each row of B is divided by its N"},
              {"d_N", "minus the sum along the row of d_Z * B / N^2, which is d_Z * Z / N"},
              {"d_F", "two paths: through B and through N"},
              {"d_M", "B = F M, so d_M = F^T d_B"},
              {"d_u", "N = F u^T, so d_u is the row d_N^T F"},
              {"d_G", "two paths: through M, and through u, which spreads over all rows"},
              {"d_V", "M = G^T V, so d_V = G d_M"},
              {"d_Q", "the derivative of elu is 1 above 0 and e^x below"},
              {"d_K", "the derivative of elu is 1 above 0 and e^x below"},
              {"d_W_Q", "Q = X W_Q, so d_W_Q = X^T d_Q"},
              {"d_W_K", "K = X W_K, so d_W_K = X^T d_K"},
              {"d_W_V", "V = X W_V, so d_W_V = X^T d_V"},
              {"d_X", "three paths: through Q, K and V"}},
});

}  // namespace
}  // namespace gradus::study
