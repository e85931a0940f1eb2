#include "study/faults.hpp"

#include "core/error.hpp"
#include "core/op.hpp"
#include "ops/ops.hpp"

#include <string_view>

namespace gradus::study {
namespace {

using Inputs = std::vector<Tensor>;
using Place = std::function<Tensor(const Application& op, const Inputs& x)>;

bool is(const Term& t, std::string_view name) { return t.op && t.op->info().name == name; }

/// The faults of one line, as they are found.
class Faults {
 public:
  Faults(const Derivation& d, const BackwardStep& step) : derivation_(d), step_(step) {}
  std::vector<Fault> found;

  void transpose_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (is(t, "transpose")) add(t, first_input, "{} in place of {}", to_expression(*t.inputs[0]), to_expression(t));
      if (!is(t, "matmul")) return;
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) turn(t, i);
    });
  }

  /// x - R, where R holds a sum along the row: without R, or with R elementwise.
  void row_sum_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "sub") || !holds_reduction(t.inputs[1])) return;
      add(t, first_input, "{} is missing", to_expression(*t.inputs[1]));
      each_part(t.inputs[1], [&](const Term& inner) {
        if (is_reduction(inner))
          add(inner, first_input, "elementwise, only the diagonal of the Jacobian: {} is not summed along the row",
              to_expression(*inner.inputs[0]));
      });
    });
    whole_diagonal();
    path_faults(true);
  }

  void broadcast_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "sum")) return;
      const std::string summand = to_expression(*t.inputs[0]);
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
      if (is(t, "neg")) add(t, first_input, "the minus of {} is missing", to_expression(t));
      if (is(t, "sub"))
        add(
            t, [](auto&, auto& x) { return x.at(0) + x.at(1); }, "plus in place of the minus of {}", to_expression(t));
    });
  }

  void scale_faults() {
    each_part(step_.term, [&](const Term& t) {
      if (!is(t, "mul") && !is(t, "div")) return;
      for (std::size_t i = is(t, "div") ? 1 : 0; i < 2; ++i)
        if (is_number(*t.inputs[i]))
          add(
              t, [i](auto&, auto& x) { return x.at(1 - i); }, "the factor {} of {} is missing",
              to_expression(*t.inputs[i]), to_expression(t));
    });
  }

  /// A total without some of its parts. A part that comes through a mean is a row sum that was left out.
  void path_faults(bool through_means) {
    const std::size_t n = step_.parts.size();
    if (step_.kind != BackwardStep::Kind::total || n < 2 || n > 6) return;
    for (std::size_t subset = 1; subset + 1 < (std::size_t{1} << n); ++subset) {
      std::vector<const BackwardStep*> gone;
      bool means = true;
      for (std::size_t i = 0; i < n; ++i)
        if (subset >> i & 1U) {
          gone.push_back(&derivation_.backward.at(static_cast<std::size_t>(step_.parts[i])));
          means = means && comes_through_mean(derivation_, step_.parts[i]);
        }
      if (means == through_means) forget(gone);
    }
  }

 private:
  static Tensor first_input(const Application&, const Inputs& x) { return x.at(0); }

  static bool is_reduction(const Term& t) { return is(t, "sum") || is(t, "mean"); }

  static bool holds_reduction(const TermPtr& term) {
    bool found = false;
    each_part(term, [&](const Term& t) { found = found || is_reduction(t); });
    return found;
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
                                 y.name, step_.line)});
  }

  /// One factor of a product transposed where the rule does not.
  void turn(const Term& product, std::size_t i) {
    const Term& factor = *product.inputs[i];
    if (is(factor, "transpose") || factor.value.rank() < 2) return;
    const std::string name = to_expression(factor);
    add(
        product,
        [i](const Application& op, Inputs x) {
          x[i] = transpose(x[i]);
          return op.run(x);
        },
        factor.op ? "({0}).T in place of {0}" : "{0}.T in place of {0}", name);
  }

  void forget(const std::vector<const BackwardStep*>& gone) {
    std::string names;
    for (const BackwardStep* part : gone) names += (names.empty() ? "" : " and ") + part->name;
    found.push_back({[&step = step_, gone] {
                       Tensor y = step.value;
                       for (const BackwardStep* part : gone) y = y - part->value;
                       return y;
                     },
                     fmt::format("{} {} missing in {}", names, gone.size() == 1 ? "is" : "are", step_.line)});
  }

  template <class... A>
  void add(const Term& at, Place place, fmt::string_view text, const A&... arguments) {
    found.push_back(
        {[&step = step_, instead = Instead{&at, std::move(place)}] { return rerun(step.term, {}, &instead); },
         fmt::format("{} in {}", fmt::vformat(text, fmt::make_format_args(arguments...)), step_.line)});
  }

  const Derivation& derivation_;
  const BackwardStep& step_;
};

}  // namespace

bool comes_through_mean(const Derivation& derivation, int line) {
  while (line >= 0) {
    const BackwardStep& step = derivation.backward.at(static_cast<std::size_t>(line));
    if (step.through < 0) return false;  // a total or the seed: paths meet here
    const ForwardStep& forward = derivation.forward.at(static_cast<std::size_t>(step.through));
    if (forward.op->info().name == std::string_view("mean")) return true;
    const int output = forward.output;
    for (--line; line >= 0; --line) {
      const BackwardStep& earlier = derivation.backward[static_cast<std::size_t>(line)];
      if (earlier.quantity == output && earlier.kind != BackwardStep::Kind::part) break;
    }
  }
  return false;
}

std::vector<Fault> faults_of(const Derivation& derivation, const BackwardStep& step, Slip kind) {
  Faults faults(derivation, step);
  switch (kind) {
    case Slip::transpose: faults.transpose_faults(); break;
    case Slip::row_sum: faults.row_sum_faults(); break;
    case Slip::broadcast: faults.broadcast_faults(); break;
    case Slip::path: faults.path_faults(false); break;
    case Slip::sign: faults.sign_faults(); break;
    case Slip::scale: faults.scale_faults(); break;
    case Slip::none:
    case Slip::shape:
    case Slip::other: break;
  }
  return std::move(faults.found);
}

}  // namespace gradus::study
