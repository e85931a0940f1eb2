#include "core/derivatives.hpp"

#include "core/grad.hpp"
#include "core/mode.hpp"

#include <cstring>

namespace gradus {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

void require_same_shape(const char* op, const Tensor& x, const Tensor& v) {
  if (v.shape() != x.shape() || v.dtype() != x.dtype())
    fail("{}: direction {} {} for x {} {}; they must match", op, v.dtype(), v.shape(), x.dtype(), x.shape());
}

// The gradient of the one-element f at x, with its graph.
Tensor gradient(const char* op, const Function& f, const Tensor& x) {
  const Tensor y = f(x);
  if (y.numel() != 1) fail("{}: f(x) has shape {}; it must have one element", op, y.shape());
  return y.requires_grad() ? grad(y, x, {}, {.create_graph = true}) : zeros_like(x);
}

Shape joined(const Shape& a, const Shape& b) {
  Shape shape = a;
  for (const std::int64_t n : b) shape.push_back(n);
  return shape;
}

// dy[i...] / dx[j...] for all i and j, from a y that was computed from the leaf x.
Tensor rows(const Tensor& y, const Tensor& x) {
  Tensor j = zeros(joined(y.shape(), x.shape()), x.dtype());
  if (!y.requires_grad()) return j;
  const std::int64_t row_bytes = x.numel() * bytes_of(x.dtype());
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    Tensor one_hot = zeros(y.shape(), y.dtype());
    dispatch_floating("jacobian", y.dtype(), [&](auto zero) { one_hot.fresh_data<decltype(zero)>()[i] = 1; });
    const Tensor dx = packed(grad(y, x, one_hot));
    dispatch_floating("jacobian", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::memcpy(j.fresh_data<T>() + i * x.numel(), dx.data<T>(), static_cast<std::size_t>(row_bytes));
    });
  }
  return j;
}

}  // namespace

Tensor jvp(const TensorFunction& f, std::span<const Tensor> x, std::span<const Tensor> v) {
  if (x.size() != v.size()) fail("jvp: {} inputs and {} directions; give one each", x.size(), v.size());
  const EnableGrad guard;
  std::vector<Tensor> leaves;
  for (std::size_t i = 0; i < x.size(); ++i) {
    require_same_shape("jvp", x[i], v[i]);
    leaves.push_back(x[i].detach().requires_grad(true));
  }
  const Tensor y = f(leaves);
  Tensor sum = zeros_like(y);
  if (!y.requires_grad()) return sum;
  const Tensor c = ones_like(y).requires_grad(true);
  const std::vector<Tensor> g = grad(y, leaves, c, {.create_graph = true});
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (!g[i].requires_grad()) continue;
    const Tensor part = packed(grad(g[i], c, v[i]));
    dispatch_floating("jvp", y.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t k = 0; k < y.numel(); ++k) sum.fresh_data<T>()[k] += part.data<T>()[k];
    });
  }
  return sum;
}

Tensor jvp(const Function& f, const Tensor& x, const Tensor& v) {
  return jvp([&](std::span<const Tensor> t) { return f(t[0]); }, std::span(&x, 1), std::span(&v, 1));
}

Tensor jacobian(const Function& f, const Tensor& x) {
  const EnableGrad guard;
  const Tensor leaf = x.detach().requires_grad(true);
  return rows(f(leaf), leaf);
}

Tensor hessian(const Function& f, const Tensor& x) {
  const EnableGrad guard;
  const Tensor leaf = x.detach().requires_grad(true);
  return rows(gradient("hessian", f, leaf), leaf);
}

Tensor hvp(const Function& f, const Tensor& x, const Tensor& v) {
  require_same_shape("hvp", x, v);
  const EnableGrad guard;
  const Tensor leaf = x.detach().requires_grad(true);
  const Tensor g = gradient("hvp", f, leaf);
  return g.requires_grad() ? grad(g, leaf, v) : zeros_like(x);
}

}  // namespace gradus
