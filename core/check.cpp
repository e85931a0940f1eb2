#include "core/check.hpp"

#include "core/grad.hpp"
#include "core/mode.hpp"
#include "core/random.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace gradus {
namespace {

// Several results of several tensors; `graph` asks that the results can be differentiated.
using ManyResults = std::function<std::vector<Tensor>(std::span<const Tensor>, bool graph)>;

bool is_checked(const Tensor& x) { return x.defined() && x.dtype() == DType::f64; }

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

  void compare(std::size_t i, const Numbers& gradient, CheckResult& result) const {
    const auto f = [&](const Tensor& moved) {
      std::vector<Tensor> x = inputs_;
      x[i] = moved;
      return values(x);
    };
    const Comparison c = compare_with_differences(f, weights_, inputs_[i], gradient,
                                                  {.tolerance = options_.tolerance,
                                                   .key = options_.key,
                                                   .every_entry = options_.every_entry,
                                                   .directions = options_.directions});
    if (result.input >= 0 && c.difference <= result.difference) return;
    result.difference = c.difference;
    result.input = static_cast<int>(i);
    result.ok = c.ok;
    result.text = describe(i, c);
  }

  std::string describe(std::size_t i, const Comparison& c) const {
    const Numbers &a = c.rule, &n = c.numeric;
    const char* const how = c.every_entry ? "entry" : "direction";
    const std::string head = fmt::format("{}: input {} {}", name_, i, inputs_[i].shape());
    if (c.ok) return fmt::format("{}: difference {:.2g} ({} of {})", head, c.difference, how, a.size());
    std::size_t worst = 0;
    for (std::size_t j = 0; j < a.size(); ++j)
      if (!(std::abs(a[j] - n[j]) <= std::abs(a[worst] - n[worst]))) worst = j;
    return fmt::format(
        "{}: the rule gives {:.12g}, central differences {:.12g} at {} {} of {}; difference {:.2g} is above {:.2g}",
        head, a[worst], n[worst], how, worst, a.size(), c.difference, options_.tolerance);
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

}  // namespace gradus
