// A first gradient: the loss of a straight line through three points, and how it changes with the line.
#include "ops/ops.hpp"

#include <fmt/format.h>

using namespace gradus;

int main() {
  const Tensor x = tensor({1, 2, 3});
  const Tensor target = tensor({2.5, 3.5, 6});
  Tensor slope = scalar(1).requires_grad(true);  // a leaf: backward collects its gradient
  Tensor offset = scalar(0).requires_grad(true);

  for (int step = 0; step < 200; ++step) {
    const Tensor y = slope * x + offset;  // numbers and tensors broadcast as in NumPy
    const Tensor loss = mean((y - target) * (y - target));
    slope.zero_grad();
    offset.zero_grad();
    backward(loss);  // fills slope.grad() and offset.grad()
    if (step == 0)
      fmt::print("d loss / d slope = {}, by hand -2/3 sum x (target - x) = {}\n", slope.grad(),
                 -2.0 / 3 * (1.5 + 3 + 9));
    const NoGrad guard;  // writing in place is not part of the graph
    slope -= slope.grad() * 0.1;
    offset -= offset.grad() * 0.1;
  }
  fmt::print("y = {:.3f} x + {:.3f}\n", slope.item(), offset.item());
  return std::abs(slope.item() - 1.75) < 1e-2 && std::abs(offset.item() - 0.5) < 2e-2 ? 0 : 1;
}
