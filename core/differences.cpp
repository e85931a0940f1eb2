#include "core/differences.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Central differences with one Richardson extrapolation, of the sum of all results times their cotangents:
//
//   D(t) = sum_k c_k (y_k(x + t u) - y_k(x - t u)) / 2t,    n = (4 D(t/2) - D(t)) / 3,    error O(t^4) + O(eps / t)
//
// Steps are powers of two near the cube root of eps and directions have few bits, so that x + t u is exact. The first
// step, even without extrapolation, suits nearly every function; where it disagrees with the rule longer and shorter ones
// are tried and the best counts: a wrong rule agrees at none.
namespace gradus {
namespace {

constexpr double first_step = 0x1p-17;
constexpr double step_factors[] = {1, 32, 1.0 / 32, 1024, 1.0 / 1024};

// Standard normal, rounded to multiples of 1/16 and never 0.
double few_bits(const Philox& random, std::size_t i) {
  const double rounded = std::round(random.normal(i) * 16) / 16;
  return rounded == 0 ? 0x1p-4 : rounded;
}

class Differences {
 public:
  Differences(const std::function<Numbers(const Tensor&)>& f, const Numbers& weights, const Tensor& x,
              const DifferenceOptions& options)
      : f_(f), weights_(weights), x_(x), options_(options), n_(static_cast<std::size_t>(x.numel())), u_(n_) {}

  bool every_entry() const { return x_.numel() <= options_.every_entry; }
  std::size_t count() const { return every_entry() ? n_ : static_cast<std::size_t>(options_.directions); }

  // The rule's derivatives along what is compared.
  Numbers along(const Numbers& gradient) {
    if (every_entry()) return gradient;
    Numbers found;
    for (std::size_t d = 0; d < count(); ++d) {
      set_direction(d);
      double sum = 0;
      for (std::size_t j = 0; j < n_; ++j) sum += gradient[j] * u_[j];
      found.push_back(sum);
    }
    return found;
  }

  // The derivatives at one step length.
  Numbers at_step(double step, bool extrapolate) {
    Numbers found;
    for (std::size_t d = 0; d < count(); ++d) {
      const double t = step * set_direction(d);
      found.push_back(extrapolate ? (4 * central(t / 2) - central(t)) / 3 : central(t));
    }
    return found;
  }

  // True when each number of `rule` is a derivative or lies between the slopes from both sides of a kink.
  bool between_slopes(const Numbers& rule, const Numbers& numeric) {
    double scale = 1e-3;
    for (const double v : rule)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    for (std::size_t d = 0; d < count(); ++d) {
      if (std::abs(rule[d] - numeric[d]) <= options_.tolerance * scale) continue;
      const double t = first_step * set_direction(d);
      const double right = one_sided(t), left = -one_sided(-t);
      const double jump = std::abs(right - left), slack = 1e-2 * jump;
      const bool is_jump = jump > 1e-4 * scale && std::abs(one_sided(t / 16) - right) < slack &&
                           std::abs(-one_sided(-t / 16) - left) < slack;
      if (!is_jump || rule[d] < std::min(left, right) - slack || rule[d] > std::max(left, right) + slack) return false;
    }
    return true;
  }

 private:
  // Makes u the d-th entry or direction; returns the factor of the step that suits it.
  double set_direction(std::size_t d) {
    if (every_entry()) {
      std::fill(u_.begin(), u_.end(), 0.0);
      u_[d] = 1;
      const double at = std::abs(x_.data<double>()[d]);
      return std::isfinite(at) ? std::exp2(std::floor(std::log2(std::max(1.0, at)))) : 1.0;
    }
    const Philox random{options_.key + 1 + d};
    for (std::size_t j = 0; j < n_; ++j) u_[j] = few_bits(random, j);
    return 1;
  }

  Numbers moved(double t) const {
    Tensor x = copy_of(x_);
    double* const to = x.fresh_data<double>();
    for (std::size_t j = 0; j < n_; ++j)
      if (u_[j] != 0) to[j] += t * u_[j];
    return f_(x);
  }

  double change(const Numbers& to, const Numbers& from) const {
    double sum = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k)
      if (weights_[k] != 0 && to[k] != from[k]) sum += weights_[k] * (to[k] - from[k]);
    return sum;
  }
  double central(double t) const { return change(moved(t), moved(-t)) / (2 * t); }
  double one_sided(double t) {
    if (here_.empty()) here_ = f_(copy_of(x_));
    return change(moved(t), here_) / std::abs(t);
  }

  const std::function<Numbers(const Tensor&)>& f_;
  const Numbers& weights_;
  const Tensor& x_;
  DifferenceOptions options_;
  std::size_t n_;
  Numbers u_, here_;
};

}  // namespace

Comparison compare_with_differences(const std::function<Numbers(const Tensor& x)>& f, const Numbers& weights,
                                    const Tensor& x, const Numbers& gradient, const DifferenceOptions& options) {
  Differences differences(f, weights, x, options);
  Comparison best{.rule = differences.along(gradient),
                  .numeric = {},
                  .difference = std::numeric_limits<double>::infinity(),
                  .every_entry = differences.every_entry()};
  const auto attempt = [&](double step, bool extrapolate) {
    Numbers n = differences.at_step(step, extrapolate);
    const double d = difference(best.rule, n);
    if (best.numeric.empty() || d < best.difference) best.numeric = std::move(n), best.difference = d;
    best.ok = best.difference <= options.tolerance;
    return best.ok;
  };
  if (attempt(first_step, false) && best.difference <= options.tolerance / 16) return best;
  for (const double factor : step_factors)
    if (attempt(first_step * factor, true)) return best;
  best.kink = differences.between_slopes(best.rule, best.numeric);
  return best;
}

double difference(std::span<const double> a, std::span<const double> n) {
  if (a.size() != n.size()) fail("difference: {} numbers against {}", a.size(), n.size());
  double scale = 1e-3, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == n[i] || (std::isnan(a[i]) && std::isnan(n[i]))) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(n[i])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(a[i] - n[i]));
  }
  for (const auto& list : {a, n})
    for (const double v : list)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  return largest / scale;
}

}  // namespace gradus
