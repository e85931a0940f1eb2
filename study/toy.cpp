#include "study/toy.hpp"

#include "core/error.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus::study::toy {
namespace {

double inner(const Tensor& a, const Tensor& b) { return sum(a.detach() * b.detach()).item(); }

}  // namespace

Tensor Draw::normal(const Shape& shape, double deviation) {
  const NoGrad guard;
  return randn(shape, DType::f64, generator_) * deviation;
}

Pass attend(const Tensor& x, const Tensor& wq, const Tensor& wk, const Tensor& wv) {
  Pass p;
  p.q = matmul(x, wq), p.k = matmul(x, wk), p.v = matmul(x, wv);
  p.s = matmul(p.q, p.k.T()) / std::sqrt(static_cast<double>(wk.size(-1)));
  p.a = softmax(p.s);
  p.z = matmul(p.a, p.v);
  return p;
}

Problem problem() {
  Draw draw(50);
  Problem p{draw.normal({5, 7}), draw.normal({7, 4}, 0.5), draw.normal({7, 4}, 0.5), draw.normal({7, 4}, 0.5),
            draw.normal({5, 4})};
  for (Tensor* w : {&p.wq, &p.wk, &p.wv}) w->requires_grad(true);
  return p;
}

Tensor differences(const std::function<double(const Tensor&)>& f, const Tensor& x, double step) {
  const NoGrad guard;
  const std::vector<double> at = x.to_vector<double>();
  std::vector<double> slopes;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> above = at, below = at;
    above[i] += step, below[i] -= step;
    const double rise = f(tensor(above, x.shape(), DType::f64)) - f(tensor(below, x.shape(), DType::f64));
    slopes.push_back(rise / (above[i] - below[i]));
  }
  return tensor(slopes, x.shape(), DType::f64);
}

double length(const Tensor& x) { return std::sqrt(inner(x, x)); }
double largest(const Tensor& x) { return max(abs(x.detach())).item(); }
double cosine(const Tensor& a, const Tensor& b) { return inner(a, b) / std::sqrt(inner(a, a) * inner(b, b)); }
double relative(const Tensor& a, const Tensor& b) { return length(a - b) / length(b); }
double largest_change(const Tensor& a, const Tensor& b) { return largest(a - b); }

double row_entropy(const Tensor& weights) {
  const NoGrad guard;
  const Tensor p = weights.detach();
  return mean(sum(where(p > 0.0, -p * log(p), 0.0), -1)).item();
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) { return error.what(); }
  return "";
}

}  // namespace gradus::study::toy
