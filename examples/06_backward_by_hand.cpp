// The gradient of attention worked out by hand, each intermediate compared with the chain rule's.
//
//   Q = X W_Q, K = X W_K, V = X W_V,   S = Q K^T / sqrt(d),   A = softmax(S),   Z = A V
//
// `study::compare` prints one line for each: exact (but for rounding), close, or wrong, with the place. A result of an op
// keeps its gradient only when it is asked to: retain_grad.
#include <cmath>

#include "ops/ops.hpp"
#include "study/compare.hpp"

using namespace gradus;

int main() {
  const auto drawn = [](const Shape& shape) { return randn(shape, DType::f64); };
  const Tensor X = drawn({5, 6}), dZ = drawn({5, 4});
  Tensor W_Q = drawn({6, 4}).requires_grad(true);
  Tensor W_K = drawn({6, 4}).requires_grad(true);
  Tensor W_V = drawn({6, 4}).requires_grad(true);

  Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  Tensor S = matmul(Q, K.T()) / std::sqrt(4.0);
  Tensor A = softmax(S);
  const Tensor Z = matmul(A, V);
  for (Tensor* x : {&Q, &K, &V, &S, &A}) x->retain_grad();
  backward(sum(Z * dZ));  // so that the cotangent of Z is dZ

  // By hand, on plain numbers:
  const NoGrad plain;
  const Tensor dA = matmul(dZ, V.T());
  const Tensor dV = matmul(A.T(), dZ);
  const Tensor dS = A * (dA - sum(dA * A, -1, keepdim));  // each row: diag(a) - a a^T times the row of dA
  const Tensor dQ = matmul(dS, K) / std::sqrt(4.0);
  const Tensor dK = matmul(dS.T(), Q) / std::sqrt(4.0);

  bool right = study::compare("dA", dA, A).close();
  right = study::compare("dV", dV, V).close() && right;
  right = study::compare("dS", dS, S).close() && right;
  right = study::compare("dQ", dQ, Q).close() && right;
  right = study::compare("dK", dK, K).close() && right;
  right = study::compare("dW_Q", matmul(X.T(), dQ), W_Q).close() && right;
  right = study::compare("dW_K", matmul(X.T(), dK), W_K).close() && right;
  right = study::compare("dW_V", matmul(X.T(), dV), W_V).close() && right;

  // The slip of many tutorials, which looks nearly right:
  const bool slip = study::compare("dS by A (1 - A)", dA * A * (1.0 - A), S).close();
  return right && !slip ? 0 : 1;
}
