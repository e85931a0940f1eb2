// Second derivatives: the gradient is itself a graph when asked for with create_graph, so it can be differentiated
// again.
#include "core/derivatives.hpp"
#include "ops/ops.hpp"

#include <fmt/format.h>

using namespace gradus;

int main() {
  // Rosenbrock's valley f(x, y) = (1 - x)^2 + 100 (y - x^2)^2, with Hessian [[2 - 400 (y - 3 x^2), -400 x], [-400 x,
  // 200]].
  const auto valley = [](const Tensor& p) {
    const Tensor x = p[0], y = p[1];
    return pow(1.0 - x, 2.0) + 100.0 * pow(y - x * x, 2.0);
  };
  const Tensor p = tensor({-1.2, 1.0}, DType::f64);
  const Tensor v = tensor({1.0, 2.0}, DType::f64);

  // By hand: differentiate the inner product of the gradient with v.
  Tensor leaf = p.detach().requires_grad(true);
  const Tensor gradient = grad(valley(leaf), leaf, {}, {.create_graph = true});
  const Tensor by_hand = grad(sum(gradient * v), leaf);

  const Tensor product = hvp(valley, p, v);  // the same as a library function
  const Tensor full = matmul(hessian(valley, p), v);
  fmt::print("gradient      {}\nH v           {}\nhvp           {}\nhessian @ v   {}\n", gradient, by_hand, product,
             full);

  const double xx = 2 - 400 * (1.0 - 3 * 1.44), xy = -400 * -1.2;
  const double expected[] = {xx * 1 + xy * 2, xy * 1 + 200 * 2};
  for (const Tensor& found : {by_hand, product, full})
    for (int i = 0; i < 2; ++i)
      if (std::abs(found.at({i}) - expected[i]) > 1e-9 * std::abs(expected[i])) return 1;
  return 0;
}
