#include "core/check.hpp"

#include "core/grad.hpp"
#include "core/mode.hpp"
#include "core/random.hpp"

#include <bit>
#include <cmath>
#include <limits>

// Central differences with one Richardson extrapolation, of the sum of all results times their cotangents:
//
//   D(t) = sum_k c_k (y_k(x + t u) - y_k(x - t u)) / 2t,    n = (4 D(t/2) - D(t)) / 3,    error O(t^4) + O(eps / t)
//
// Steps are powers of two near the cube root of eps and directions have few bits, so that x + t u is exact. The first
// step suits nearly every function; where it disagrees with the rule a longer and a shorter one are tried and the best
// counts: a wrong rule agrees at none.
namespace gradus {
namespace {

using Numbers = std::vector<double>;
// Several results of several tensors; `graph` asks that the results can be differentiated.
using ManyResults = std::function<std::vector<Tensor>(std::span<const Tensor>, bool graph)>;

constexpr double first_step = 0x1p-17;
constexpr double step_factors[] = {1, 32, 1.0 / 32, 1.0 / 1024};

bool is_checked(const Tensor& x) { return x.defined() && x.dtype() == DType::f64; }

// Standard normal, rounded to multiples of 1/16 and never 0.
double few_bits(const Philox& random, std::int64_t i) {
  const double rounded = std::round(random.normal(static_cast<std::uint64_t>(i)) * 16) / 16;
  return rounded == 0 ? 0x1p-4 : rounded;
}

Numbers concatenated(std::span<const Tensor> tensors) {
  Numbers all;
  for (const Tensor& t : tensors) {
    const Numbers values = t.to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) return false;
  return true;
}

class Check {
 public:
  Check(const char* name, ManyResults f, std::span<const Tensor> inputs, const CheckOptions& options)
      : name_(name), f_(std::move(f)), options_(options) {
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& x = inputs[i];
      if (x.defined() && x.dtype() == DType::f32)
        fail("{}: input {} is f32; cast it to f64, since differences in f32 prove nothing", name_, i);
      any = any || is_checked(x);
      inputs_.push_back(is_checked(x) ? copy_of(x) : x);
    }
    if (!any) fail("{}: no input is f64, so there is nothing to differentiate", name_);
  }

  CheckResult run() {
    draw_cotangents();
    const std::vector<Numbers> rule = by_rule();
    const std::vector<Numbers> again = by_rule();
    CheckResult result;
    for (std::size_t i = 0; i < rule.size(); ++i)
      if (!same_bits(rule[i], again[i])) return refused("two runs give different gradients; reseed what is random");
    if (!same_bits(values(inputs_), values(inputs_)))
      return refused("two runs give different results; reseed what is random");
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (is_checked(inputs_[i])) compare(i, rule[i], result);
    return result;
  }

 private:
  CheckResult refused(const char* why) const {
    return {.ok = false,
            .difference = std::numeric_limits<double>::infinity(),
            .input = -1,
            .text = fmt::format("{}: {}", name_, why)};
  }

  // One for each result; 0 where a result is not finite, since differences mean nothing there.
  void draw_cotangents() {
    const NoGrad guard;
    const Philox random{options_.key};
    std::int64_t next = 0;
    for (const Tensor& y : f_(inputs_, false)) {
      if (!y.defined() || y.dtype() != DType::f64)
        fail("{}: the result is {}; only f64 results can be checked", name_,
             y.defined() ? name_of(y.dtype()) : "undefined");
      const Numbers at = y.to_vector<double>();
      Tensor c(y.shape(), DType::f64);
      for (std::size_t k = 0; k < at.size(); ++k)
        c.fresh_data<double>()[k] = std::isfinite(at[k]) ? random.normal(static_cast<std::uint64_t>(next++)) : 0;
      cotangents_.push_back(c);
    }
    weights_ = concatenated(cotangents_);
  }

  std::vector<Numbers> by_rule() const {
    const EnableGrad guard;
    std::vector<Tensor> x, wrt;
    for (const Tensor& given : inputs_) {
      x.push_back(is_checked(given) ? copy_of(given).requires_grad(true) : given);
      if (is_checked(given)) wrt.push_back(x.back());
    }
    std::vector<Numbers> gradients;
    for (const Tensor& t : inputs_) gradients.emplace_back(is_checked(t) ? static_cast<std::size_t>(t.numel()) : 0);
    const std::vector<Tensor> y = f_(x, true);
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (!y[k].requires_grad()) continue;
      const std::vector<Tensor> dx = grad(y[k], wrt, cotangents_[k]);
      for (std::size_t i = 0, w = 0; i < inputs_.size(); ++i) {
        if (!is_checked(inputs_[i])) continue;
        const Numbers part = dx[w++].to_vector<double>();
        for (std::size_t j = 0; j < part.size(); ++j) gradients[i][j] += part[j];
      }
    }
    return gradients;
  }

  Numbers values(std::span<const Tensor> x) const {
    const NoGrad guard;
    return concatenated(f_(x, false));
  }

  // D(t) along direction u of input i.
  double central(std::size_t i, const Numbers& u, double t) const {
    Numbers y[2];
    for (const int side : {0, 1}) {
      std::vector<Tensor> x = inputs_;
      x[i] = copy_of(inputs_[i]);
      double* const moved = x[i].fresh_data<double>();
      for (std::size_t j = 0; j < u.size(); ++j) moved[j] += (side ? -t : t) * u[j];
      y[side] = values(x);
    }
    double sum = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k)
      if (weights_[k] != 0 && y[0][k] != y[1][k]) sum += weights_[k] * (y[0][k] - y[1][k]);
    return sum / (2 * t);
  }
  double extrapolated(std::size_t i, const Numbers& u, double t) const {
    return (4 * central(i, u, t / 2) - central(i, u, t)) / 3;
  }

  // The derivatives of input i at one step: of each entry, or along each direction.
  Numbers by_differences(std::size_t i, double step) const {
    const auto n = static_cast<std::size_t>(inputs_[i].numel());
    Numbers found;
    Numbers u(n);
    if (every_entry(i)) {
      const double* const x = inputs_[i].data<double>();
      for (std::size_t j = 0; j < n; ++j) {
        u[j] = 1;
        const double size = std::isfinite(x[j]) ? std::max(1.0, std::abs(x[j])) : 1.0;
        found.push_back(extrapolated(i, u, step * std::exp2(std::floor(std::log2(size)))));
        u[j] = 0;
      }
      return found;
    }
    for (int d = 0; d < options_.directions; ++d) found.push_back(extrapolated(i, direction(i, d), step));
    return found;
  }
  Numbers direction(std::size_t i, int d) const {
    const Philox random{options_.key + 1 + static_cast<std::uint64_t>(d)};
    Numbers u(static_cast<std::size_t>(inputs_[i].numel()));
    for (std::size_t j = 0; j < u.size(); ++j) u[j] = few_bits(random, static_cast<std::int64_t>(j));
    return u;
  }
  bool every_entry(std::size_t i) const { return inputs_[i].numel() <= options_.every_entry; }

  // What the rule says of the same derivatives.
  Numbers along(std::size_t i, const Numbers& gradient) const {
    if (every_entry(i)) return gradient;
    Numbers found;
    for (int d = 0; d < options_.directions; ++d) {
      const Numbers u = direction(i, d);
      double sum = 0;
      for (std::size_t j = 0; j < u.size(); ++j) sum += gradient[j] * u[j];
      found.push_back(sum);
    }
    return found;
  }

  void compare(std::size_t i, const Numbers& gradient, CheckResult& result) const {
    const Numbers a = along(i, gradient);
    Numbers best;
    double smallest = std::numeric_limits<double>::infinity();
    for (const double factor : step_factors) {
      const Numbers n = by_differences(i, first_step * factor);
      const double d = difference(a, n);
      if (best.empty() || d < smallest) best = n, smallest = d;
      if (d <= options_.tolerance) break;
    }
    if (result.input >= 0 && smallest <= result.difference) return;
    result.difference = smallest;
    result.input = static_cast<int>(i);
    result.ok = smallest <= options_.tolerance;
    result.text = describe(i, a, best, smallest);
  }

  std::string describe(std::size_t i, const Numbers& a, const Numbers& n, double found) const {
    const char* const how = every_entry(i) ? "entry" : "direction";
    const std::string head = fmt::format("{}: input {} {}", name_, i, inputs_[i].shape());
    if (found <= options_.tolerance) return fmt::format("{}: difference {:.2g} ({} of {})", head, found, how, a.size());
    std::size_t worst = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
      if (!(std::abs(a[j] - n[j]) <= std::abs(a[worst] - n[worst]))) worst = j;
    return fmt::format(
        "{}: the rule gives {:.12g}, central differences {:.12g} at {} {} of {}; difference {:.2g} is above {:.2g}",
        head, a[worst], n[worst], how, worst, a.size(), found, options_.tolerance);
  }

  const char* name_;
  ManyResults f_;
  CheckOptions options_;
  std::vector<Tensor> inputs_, cotangents_;
  Numbers weights_;
};

// The gradients of f, times a cotangent, as a function of the inputs and (last) of the cotangent.
std::vector<Tensor> gradients(const TensorFunction& f, std::span<const Tensor> x, bool graph) {
  const EnableGrad guard;
  std::vector<Tensor> inputs, wrt;
  for (const Tensor& t : x.first(x.size() - 1)) {
    inputs.push_back(is_checked(t) && !t.requires_grad() ? t.detach().requires_grad(true) : t);
    if (is_checked(t)) wrt.push_back(inputs.back());
  }
  const Tensor y = f(inputs);
  if (y.requires_grad()) return grad(y, wrt, x.back(), {.create_graph = graph});
  std::vector<Tensor> none;
  for (const Tensor& t : wrt) none.push_back(zeros(t.shape(), DType::f64));
  return none;
}

}  // namespace

CheckResult gradcheck(const TensorFunction& f, std::span<const Tensor> inputs, const CheckOptions& options) {
  return Check(
             "gradcheck", [&](std::span<const Tensor> x, bool) { return std::vector<Tensor>{f(x)}; }, inputs, options)
      .run();
}

CheckResult gradgradcheck(const TensorFunction& f, std::span<const Tensor> inputs, const CheckOptions& options) {
  std::vector<Tensor> extended;
  for (const Tensor& x : inputs) extended.push_back(x.defined() ? x.detach() : x);
  const Tensor y = [&] {
    const NoGrad guard;
    return copy_of(f(extended));
  }();
  if (y.dtype() != DType::f64) fail("gradgradcheck: the result is {}; only f64 results can be checked", y.dtype());
  Tensor c(y.shape(), DType::f64);
  const Philox random{options.key + 1000};
  for (std::int64_t k = 0; k < y.numel(); ++k)
    c.fresh_data<double>()[k] = std::isfinite(y.data<double>()[k]) ? random.normal(static_cast<std::uint64_t>(k)) : 0;
  extended.push_back(c);
  return Check(
             "gradgradcheck", [&](std::span<const Tensor> x, bool graph) { return gradients(f, x, graph); }, extended,
             options)
      .run();
}

CheckResult gradcheck(const TensorFunction& f, std::initializer_list<Tensor> inputs, const CheckOptions& options) {
  return gradcheck(f, std::span(inputs.begin(), inputs.size()), options);
}
CheckResult gradgradcheck(const TensorFunction& f, std::initializer_list<Tensor> inputs, const CheckOptions& options) {
  return gradgradcheck(f, std::span(inputs.begin(), inputs.size()), options);
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
