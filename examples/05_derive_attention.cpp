// Every step of the gradient of attention, said aloud and checked.
//
//   Z = softmax(Q K^T / sqrt(d)) V,   Q = X W_Q, K = X W_K, V = X W_V
//
// While a Record lives, every op is kept, so that `derive` can go back through them: for each step the rule of the op, the
// same rule in the names given here, and a comparison with central differences.
#include <fmt/format.h>

#include "ops/ops.hpp"
#include "study/derivation_text.hpp"

using namespace gradus;

int main() {
  const auto drawn = [](const Shape& shape) { return randn(shape, DType::f64); };
  const Tensor X = drawn({3, 4});
  const Tensor W_Q = drawn({4, 2}).requires_grad(true);
  const Tensor W_K = drawn({4, 2}).requires_grad(true);
  const Tensor W_V = drawn({4, 2}).requires_grad(true);

  study::Record record;
  const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  const Tensor S = matmul(Q, K.T()) / std::sqrt(2.0);
  const Tensor A = softmax(S);
  const Tensor Z = matmul(A, V);
  record.name("X", X), record.name("W_Q", W_Q), record.name("W_K", W_K), record.name("W_V", W_V);
  record.name("Q", Q), record.name("K", K), record.name("V", V);
  record.name("S", S), record.name("A", A), record.name("Z", Z);

  const study::Derivation derivation = study::derive(Z, {W_Q, W_K, W_V});
  fmt::print("{}", study::to_text(derivation));
  fmt::print("\nOne entry, as a sum:\n\n{}", study::scalar_text(derivation, "W_Q[0,1]", study::Language::en, 6));
  return derivation.crosses() == 0 ? 0 : 1;
}
