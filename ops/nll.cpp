#include "ops/class_loss.hpp"

namespace gradus {
namespace {

struct Nll {
  std::int64_t ignore_index;
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "nll",
      .math = R"(y = -\frac{1}{W} \sum_i w_{t_i} x_{i t_i}, W = \sum_i w_{t_i})",
      .rule =
          "\\bar x_{i c} = -\\frac{1}{W} \\bar y w_c \\delta_{c t_i}\n"
          "\\text{none}\n"
          "\\bar w_c = -\\frac{1}{W} \\bar y \\sum_i \\delta_{c t_i} (x_{i c} + y)",
      .derivation = R"(Row i reads one log-probability, that of its target t_i, with the weight of that class:
all others get 0, and so do rows whose target is ignored. W is 1 for the sum and without reduction. In the mean a weight also
enters W: \partial (S / W) / \partial w_c = (\partial S / \partial w_c - y \partial W / \partial w_c) / W.)",
      .why_kept = "the rule needs targets and weights; the log-probabilities only for the weights' rule",
      .numpy = "nll({log_probs}, {target}, {class_weight}, ignore_index={ignore_index}, reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  // The composition: gather, weigh, fold.
  Tensor reference(const Tensor& log_probs, const Tensor& target, const Tensor& class_weight) const {
    const loss::Counted counted(target, ignore_index);
    Tensor losses = -loss::picked(log_probs, counted.index);
    if (class_weight.defined()) losses = losses * loss::target_weights(class_weight, counted.index);
    return loss::fold_rows(losses, counted, class_weight, reduction);
  }

  Forward forward(const Tensor& log_probs, const Tensor& target, const Tensor& class_weight) const {
    return dispatch_floating("nll", log_probs.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const loss::ClassRows<T> rows(log_probs, target, class_weight, ignore_index);
      Tensor losses({rows.outer}, DType::f64);
      double* const each = losses.fresh_data<double>();
      for (std::int64_t row = 0; row < rows.outer; ++row) {
        const std::int64_t t = rows.target[row];
        each[row] =
            rows.counts(row) ? -rows.weight_of(t) * static_cast<double>(rows.scores[row * rows.classes + t]) : 0.0;
      }
      const double total = rows.total_weight();
      return Forward(rows.fold(losses, target.shape(), reduction, total), scalar(total, DType::f64));
    });
  }

  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }

  // dx[i, t_i] = -c_i w_{t_i}, with c_i the cotangent of row i's loss
  Grads fused_vjp(const Vjp& v) const {
    if (v.wants(2)) return vjp(v);
    Tensor dx = zeros(v.x[0].shape(), v.x[0].dtype());
    dispatch_floating("nll", dx.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const loss::ClassRows<T> rows(v.x[0], v.x[1], v.x[2], ignore_index);
      const loss::RowCotangent<T> c(v.g, reduction, v.residuals[0].item());
      T* const to = dx.fresh_data<T>();
      for (std::int64_t row = 0; row < rows.outer; ++row)
        if (const std::int64_t t = rows.target[row]; rows.counts(row))
          to[row * rows.classes + t] = static_cast<T>(-c(row) * rows.weight_of(t));
    });
    return {dx, Tensor{}, Tensor{}};
  }

  static void samples(Samples& s) {
    const Tensor x = log_softmax(s.randn({4, 3})), target = indices({2, 0, -100, 1}), w = s.uniform({3}, 0.5, 2);
    s.add(nll, x, target).for_benchmark();
    s.add(nll, x, target, w);
    s.add(nll, x, target, w, -100, Reduction::sum);
    s.add(nll, x, target, w, -100, Reduction::none);
    s.add(nll, x, indices({2, 0, 1, 1}), Tensor{}, 1);
    s.add(nll, x, indices({-100, -100, -100, -100}), w);
    s.add(nll, s.randn({2, 3, 5}), s.indices({2, 3}, 5), Tensor{}, -100, Reduction::none);
    s.add(nll, s.randn({5}), s.indices({}, 5));
    s.add(nll, s.randn({0, 3}), s.indices({0}, 3));
    s.error("target 3 at position [1] is out of range for 3 classes", nll, s.randn({2, 3}), indices({0, 3}));
    s.error("scores [2, 3] need a target of shape [2], not [3]", nll, s.randn({2, 3}), indices({0, 1, 2}));
    s.error("target has dtype f64, not i64", nll, s.randn({2, 3}), s.randn({2}));
    s.error("class_weight has shape [2], but scores [2, 3] have 3 classes", nll, s.randn({2, 3}), indices({0, 1}),
            s.randn({2}));
  }
};

const Register<Nll> registered{
    nll, {"log_probs", "target", {"class_weight", None}, {"ignore_index", -100}, {"reduction", "mean"}}};

}  // namespace

Tensor nll(const Tensor& log_probs, const Tensor& target, const Tensor& class_weight, std::int64_t ignore_index,
           Reduction reduction) {
  loss::check_classes("nll", log_probs, target, class_weight, ignore_index);
  return apply(Nll{ignore_index, reduction}, log_probs, target, class_weight);
}

}  // namespace gradus
