#include "optim/clip.hpp"

#include "core/elementwise.hpp"
#include "core/mode.hpp"

#include <cmath>
#include <limits>

// norm = (sum over all gradients and elements of |g|^p)^(1/p),   g <- g min(1, max_norm / (norm + 1e-6))
//
// Squares are summed as (g / largest)^2, so that nothing overflows or vanishes: 1e200 is an honest f64 gradient. Chunks
// of fixed size, folded in index order: the bits do not depend on the number of threads.
namespace gradus {
namespace {

constexpr std::int64_t chunk = 16384;

// fold(partial) of f(begin, end) over the chunks of n elements.
template <class F, class Fold>
double fold_chunks(std::int64_t n, F&& f, Fold&& fold) {
  PoolVector<double> partial(static_cast<std::size_t>((n + chunk - 1) / chunk));
  parallel_for(n, chunk, [&](std::int64_t begin, std::int64_t end) {
    partial[static_cast<std::size_t>(begin / chunk)] = f(begin, end);
  });
  double total = 0;
  for (const double x : partial) total = fold(total, x);
  return total;
}

// The largest magnitude, or NaN when there is one.
double largest_of(const Tensor& g) {
  const auto larger = [](double a, double b) { return b > a || b != b ? b : a; };
  return dispatch_floating("clip_by_norm", g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const x = g.data<T>();
    return fold_chunks(
        g.numel(),
        [&](std::int64_t begin, std::int64_t end) {
          double top = 0;
          for (std::int64_t i = begin; i < end; ++i) top = larger(top, std::abs(static_cast<double>(x[i])));
          return top;
        },
        [&](double a, double b) { return a != a ? a : larger(a, b); });
  });
}

// Sum of |g / unit|^p, p = 1 or 2, in double.
double sum_of_powers(const Tensor& g, double p, double unit) {
  return dispatch_floating("clip_by_norm", g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const x = g.data<T>();
    return fold_chunks(
        g.numel(),
        [&](std::int64_t begin, std::int64_t end) {
          double lane[8] = {};
          for (std::int64_t i = begin; i < end; ++i) {
            const double part = std::abs(static_cast<double>(x[i])) / unit;
            lane[(i - begin) % 8] += p == 1 ? part : part * part;
          }
          return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        },
        [](double a, double b) { return a + b; });
  });
}

// g <- f(g) in place, in double.
template <class F>
void change(Tensor g, F f) {
  g.prepare_write("clip");
  dispatch_floating("clip", g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T>([f](T x) { return static_cast<T>(f(static_cast<double>(x))); }, g, g);
  });
}

std::vector<NamedParameter> with_gradient(const char* op, const Parameters& parameters) {
  std::vector<NamedParameter> found;
  for (const NamedParameter& p : parameters.list()) {
    if (!p.tensor.defined()) fail("{}: parameter {} is undefined; leave it out", op, p.name);
    if (const Tensor g = p.tensor.grad(); g.defined()) found.push_back({p.name, g});
  }
  return found;
}

}  // namespace

Clipped clip_by_norm(const Parameters& parameters, double max_norm, double p) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(max_norm >= 0)) fail("clip_by_norm: max_norm {} is negative; it would turn the gradients round", max_norm);
  if (p != 1 && p != 2 && p != infinity) fail("clip_by_norm: p is {}; give 1, 2 or infinity", p);
  const NoGrad guard;
  const std::vector<NamedParameter> gradients = with_gradient("clip_by_norm", parameters);
  double largest = 0;
  for (const NamedParameter& g : gradients) {
    const double top = largest_of(g.tensor);
    if (!std::isfinite(top)) return {.norm = top, .scale = 1, .non_finite = g.name};
    largest = std::max(largest, top);
  }
  Clipped result{.norm = largest, .scale = 1, .non_finite = {}};
  if (p != infinity && largest > 0) {
    const double unit = std::exp2(std::floor(std::log2(largest)));  // a power of two: dividing by it is exact
    double total = 0;
    for (const NamedParameter& g : gradients) total += sum_of_powers(g.tensor, p, unit);
    result.norm = unit * (p == 1 ? total : std::sqrt(total));
  }
  const double scale = max_norm / (result.norm + 1e-6);
  if (!(scale < 1)) return result;
  result.scale = scale;
  for (const NamedParameter& g : gradients) change(g.tensor, [scale](double x) { return x * scale; });
  return result;
}

void clip_by_value(const Parameters& parameters, double limit) {
  if (!(limit >= 0)) fail("clip_by_value: limit {} is negative; give the largest magnitude to keep", limit);
  const NoGrad guard;
  for (const NamedParameter& g : with_gradient("clip_by_value", parameters))
    change(g.tensor, [limit](double x) { return x > limit ? limit : (x < -limit ? -limit : x); });
}

}  // namespace gradus
