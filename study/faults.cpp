#include "study/faults.hpp"

#include "core/error.hpp"
#include "core/op.hpp"
#include "draw/text.hpp"
#include "ops/ops.hpp"
#include "study/path_through_mean.hpp"

#include <memory>
#include <set>
#include <string_view>

namespace gradus::study {
namespace {

using Inputs = std::vector<Tensor>;
using Place = std::function<Tensor(const Application& op, const Inputs& x)>;

bool is(const Term& t, std::string_view name) { return t.op && t.op->info().name == name; }

/// Constants that are written out make long expressions.
std::string text_of(const Term& term) { return draw::clipped(to_expression(term), 60); }

/// The faults of one line, as they are found.
class Faults {
 public:
  Faults(const Derivation& d, const BackwardStep& step, const Bindings& given)
      : derivation_(d), step_(step), given_(std::make_shared<const Bindings>(given)), line_(line_with_steps()) {}
  std::vector<Fault> found;

  void transpose_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (is(t, "transpose")) add(t, first_input, "{} in place of {}", text_of(*t.inputs[0]), text_of(t));
      if (!is(t, "matmul")) return;
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) turn(t, i);
    });
  }

  /// x - R, where R holds a sum along the row: without R, or with R elementwise.
  void row_sum_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "sub") || !holds_reduction(t.inputs[1])) return;
      add(t, first_input, "{} is missing", text_of(*t.inputs[1]));
      each_part(t.inputs[1], [&](const Term& inner) {
        if (!is_reduction(inner)) return;
        other_axes(inner);
        add(inner, first_input, "elementwise, only the diagonal of the Jacobian: {} is not summed along the row",
            text_of(*inner.inputs[0]));
      });
    });
    whole_diagonal();
    path_faults(true);
  }

  void broadcast_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "sum")) return;
      const std::string summand = text_of(*t.inputs[0]);
      add(t, first_input, "{} is not summed", summand);
      add(
          t, [](auto& op, auto& x) { return row(op, x, false); }, "only the first row of {} in place of its sum",
          summand);
      add(
          t, [](auto& op, auto& x) { return row(op, x, true); }, "only the last row of {} in place of its sum",
          summand);
    });
  }

  void sign_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (is(t, "neg")) add(t, first_input, "the minus of {} is missing", text_of(t));
      if (is(t, "sub"))
        add(
            t, [](auto&, auto& x) { return x.at(0) + x.at(1); }, "plus in place of the minus of {}", text_of(t));
    });
    if (is_sum_over_paths())
      for (std::size_t i = 0; i < step_.parts.size(); ++i) weigh_one(i, -1, "has the other sign");
  }

  void scale_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "mul") && !is(t, "div")) return;
      for (std::size_t i = is(t, "div") ? 1 : 0; i < 2; ++i)
        if (is_number(*t.inputs[i]))
          add(
              t, [i](auto&, auto& x) { return x.at(1 - i); }, "the factor {} of {} is missing", text_of(*t.inputs[i]),
              text_of(t));
    });
  }

  /// A total without some of its parts. A part that comes through a mean is a row sum that was left out.
  void path_faults(bool through_means) {
    const std::size_t n = step_.parts.size();
    if (!is_sum_over_paths()) return;
    for (std::size_t subset = 1; subset + 1 < (std::size_t{1} << n); ++subset) {
      std::vector<double> factors(n, 1);
      std::string names;
      bool means = true;
      for (std::size_t i = 0; i < n; ++i)
        if (subset >> i & 1U) {
          factors[i] = 0;
          names += (names.empty() ? "" : " and ") + part(i).name;
          means = means && comes_through_mean(derivation_, step_, step_.parts[i]);
        }
      if (means == through_means)
        weigh(factors, names + (means ? " missing, which comes through a mean of the row," : " missing"));
    }
    for (std::size_t i = 0; i < n && !through_means; ++i) weigh_one(i, 2, "counted twice");
  }

  /// An elementwise function that the cotangent passes as if its derivative were 1.
  void derivative_faults() {
    if (step_.through < 0) return;
    const ForwardStep& forward = derivation_.forward.at(static_cast<std::size_t>(step_.through));
    const Quantity& y = derivation_.quantities.at(static_cast<std::size_t>(forward.output));
    const bool unary = forward.op->inputs.size() == 1 && forward.op->inputs[0].shape() == y.value.shape();
    if (!unary || !y.gradient.defined()) return;
    const auto bound = given_->find("d_" + y.name);
    found.push_back({[value = bound == given_->end() ? y.gradient.detach() : bound->second] { return value; },
                     fmt::format("the derivative of {} is missing in {}", forward.op->info().name, line_)});
  }

 private:
  static Tensor first_input(const Application&, const Inputs& x) { return x.at(0); }

  static bool is_reduction(const Term& t) { return is(t, "sum") || is(t, "mean"); }

  static bool holds_reduction(const TermPtr& term) {
    bool found = false;
    each_part(term, [&](const Term& t) { found = found || is_reduction(t); });
    return found;
  }

  /// The sum along every axis that it is not along, and over everything.
  void other_axes(const Term& reduction) {
    const Shape& shape = reduction.inputs[0]->value.shape();
    if (reduction.value.rank() != shape.rank() || shape.rank() < 2) return;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (reduction.value.shape()[axis] == 1) continue;
      const bool means = is(reduction, "mean");
      add(
          reduction,
          [axis, means](auto&, auto& x) { return means ? mean(x.at(0), axis, keepdim) : sum(x.at(0), axis, keepdim); },
          "{} along axis {} in place of {}", means ? "the mean" : "the sum", axis, text_of(reduction));
    }
  }

  static bool is_number(const Term& t) { return !t.op && t.name.empty() && t.value.defined() && t.value.numel() == 1; }

  /// The first or last of what a sum over leading axes adds up.
  static Tensor row(const Application& op, const Inputs& x, bool last) {
    const Tensor whole = op.run(x);
    Tensor y = x.at(0);
    while (y.rank() > whole.rank() && y.size(0) > 0) y = select(y, 0, last ? y.size(0) - 1 : 0);
    return y;
  }

  /// The best-known slip: softmax'(S) = A (1 - A), without even the cotangent.
  void whole_diagonal() {
    if (step_.through < 0) return;
    const ForwardStep& forward = derivation_.forward.at(static_cast<std::size_t>(step_.through));
    if (forward.op->info().name != std::string_view("softmax")) return;
    const Quantity& y = derivation_.quantities.at(static_cast<std::size_t>(forward.output));
    found.push_back({[a = y.value.detach()] { return a * (1.0 - a); },
                     fmt::format("{0} * (1 - {0}) is only the diagonal of the Jacobian, and d_{0} is missing in {1}",
                                 y.name, line_)});
  }

  /// One factor of a product transposed where the rule does not.
  void turn(const Term& product, std::size_t i) {
    const Term& factor = *product.inputs[i];
    if (is(factor, "transpose") || factor.value.rank() < 2) return;
    const std::string name = text_of(factor);
    add(
        product,
        [i](const Application& op, Inputs x) {
          x[i] = transpose(x[i]);
          return op.run(x);
        },
        factor.op ? "({0}).T in place of {0}" : "{0}.T in place of {0}", name);
  }

  bool is_sum_over_paths() const {
    return step_.kind == BackwardStep::Kind::total && step_.parts.size() >= 2 && step_.parts.size() <= 6;
  }
  const BackwardStep& part(std::size_t i) const {
    return derivation_.backward.at(static_cast<std::size_t>(step_.parts[i]));
  }

  void weigh_one(std::size_t i, double factor, std::string_view text) {
    std::vector<double> factors(step_.parts.size(), 1);
    factors[i] = factor;
    weigh(factors, fmt::format("{} {}", part(i).name, text));
  }

  /// The sum over the paths with a factor for each.
  void weigh(const std::vector<double>& factors, const std::string& text) {
    found.push_back({[this_step = &step_, derivation = &derivation_, given = given_, factors] {
                       Tensor y;
                       for (std::size_t i = 0; i < factors.size(); ++i) {
                         if (factors[i] == 0) continue;
                         const BackwardStep& part =
                             derivation->backward.at(static_cast<std::size_t>(this_step->parts[i]));
                         const auto bound = given->find(part.name);
                         const Tensor x = (bound == given->end() ? part.value : bound->second) * factors[i];
                         y = y.defined() ? y + x : x;
                       }
                       return y;
                     },
                     fmt::format("{} in {}", text, line_)});
  }

  static std::string shown(const std::string& line) { return draw::clipped(line, 100); }

  /// The line, and what the steps that nobody named compute: `d_t1 = Q.T @ d_t2 (t1 = K.T, t2 = Q @ t1)`.
  std::string line_with_steps() const {
    std::string steps;
    std::set<std::string> done;
    for (std::string name : names_with(step_.name, names_read(step_.term))) {
      if (name.rfind("d_", 0) == 0) name = name.substr(2, name.find("_via_") - 2);
      const int quantity = is_numbered(name) && done.insert(name).second ? derivation_.find(name) : -1;
      if (quantity < 0) continue;
      const int made_by = derivation_.quantities.at(static_cast<std::size_t>(quantity)).made_by;
      if (made_by >= 0)
        steps += (steps.empty() ? "" : ", ") + shown(derivation_.forward.at(static_cast<std::size_t>(made_by)).line);
    }
    return steps.empty() ? shown(step_.line) : fmt::format("{} ({})", shown(step_.line), steps);
  }
  static std::vector<std::string> names_with(const std::string& first, std::vector<std::string> names) {
    names.insert(names.begin(), first);
    return names;
  }

  template <class... A>
  void add(const Term& at, Place place, fmt::string_view text, const A&... arguments) {
    found.push_back({[&step = step_, given = given_, instead = Instead{&at, std::move(place)}] {
                       return rerun(step.term, *given, &instead);
                     },
                     fmt::format("{} in {}", fmt::vformat(text, fmt::make_format_args(arguments...)), line_)});
  }

  const Derivation& derivation_;
  const BackwardStep& step_;
  std::shared_ptr<const Bindings> given_;
  std::string line_;
};

}  // namespace

std::vector<Fault> faults_of(const Derivation& derivation, const BackwardStep& step, Slip kind, const Bindings& given) {
  Faults faults(derivation, step, given);
  switch (kind) {
    case Slip::transpose: faults.transpose_faults(); break;
    case Slip::row_sum: faults.row_sum_faults(); break;
    case Slip::broadcast: faults.broadcast_faults(); break;
    case Slip::path: faults.path_faults(false); break;
    case Slip::sign: faults.sign_faults(); break;
    case Slip::scale: faults.scale_faults(); break;
    case Slip::other: faults.derivative_faults(); break;
    case Slip::none:
    case Slip::shape: break;
  }
  return std::move(faults.found);
}

}  // namespace gradus::study
