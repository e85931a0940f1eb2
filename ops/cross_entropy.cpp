#include "core/vector_math.hpp"
#include "ops/class_loss.hpp"

namespace gradus {
namespace {

// log sum_j e^{x_j} of one row as `top`, the largest element, plus `rest`: kept apart, since their sum rounds.
struct LogSumExp {
  double top, rest;
};
template <class T>
LogSumExp log_sum_exp(const T* x, std::int64_t n) {
  constexpr std::int64_t block = 512;
  const T top = max_of(x, n);
  T powers[block];
  double total = 0;
  for (std::int64_t at = 0; at < n; at += block) {
    const std::int64_t count = std::min(block, n - at);
    for (std::int64_t i = 0; i < count; ++i) powers[i] = math::exp(x[at + i] - top);
    total += sum_of(powers, count);
  }
  return {static_cast<double>(top), std::log(total)};
}

struct CrossEntropy {
  double label_smoothing;
  std::int64_t ignore_index;
  Reduction reduction;
  static constexpr OpInfo info{
      .name = "cross_entropy",
      .math =
          R"(y = -\frac{1}{W} \sum_i ((1 - \epsilon) w_{t_i} \log p_{i t_i} + \frac{\epsilon}{C} \sum_c w_c \log p_{i c}),
p_{i c} = e^{x_{i c}} / \sum_j e^{x_{i j}}, W = \sum_i w_{t_i})",
      .rule =
          "\\bar x_{i c} = \\frac{1}{W} \\bar y (p_{i c} \\sum_j q_{i j} - q_{i c}), "
          "q_{i c} = (1 - \\epsilon) w_c \\delta_{c t_i} + \\frac{\\epsilon}{C} w_c\n"
          "\\text{none}\n"
          "\\bar w_c = -\\frac{1}{W} \\bar y \\sum_i (((1 - \\epsilon) \\delta_{c t_i} + \\frac{\\epsilon}{C}) \\log "
          "p_{i c} + "
          "\\delta_{c t_i} y)",
      .derivation =
          R"(Row i is -\sum_c q_{i c} \log p_{i c}, and \log p_{i c} = x_{i c} - \log \sum_j e^{x_{i j}} has the derivative
\partial \log p_{i c} / \partial x_{i j} = \delta_{c j} - p_{i j}. So \bar x_{i j} = -\sum_c q_{i c} (\delta_{c j} - p_{i j})
= p_{i j} \sum_c q_{i c} - q_{i j}: the prediction minus the target. Rows whose target is ignored get 0. W is 1 for the sum and
without reduction; in the mean a weight also enters W.)",
      .why_kept =
          "the probabilities come again from the logits and one log-sum-exp per row, which costs less than keeping "
          "them",
      .numpy =
          "cross_entropy({logits}, {target}, {class_weight}, label_smoothing={label_smoothing}, "
          "ignore_index={ignore_index}, "
          "reduction={reduction})"};
  static constexpr Keep keeps = Keep::inputs;

  // The composition: log_softmax, gather, smooth, fold. Logits of rows that do not count are selected away first, so
  // that whatever they hold cannot reach a gradient.
  Tensor reference(const Tensor& logits, const Tensor& target, const Tensor& class_weight) const {
    const loss::Counted counted(target, ignore_index);
    Shape column = target.shape();
    column.push_back(1);
    const Tensor log_p = log_softmax(counted.all ? logits : where(reshape(counted.mask, column), logits, 0));
    Tensor losses = -loss::picked(log_p, counted.index);
    if (class_weight.defined()) losses = losses * loss::target_weights(class_weight, counted.index);
    if (label_smoothing > 0) {
      const Tensor all = sum(class_weight.defined() ? log_p * class_weight : log_p, -1);
      losses = losses * (1 - label_smoothing) - all * smoothing_of(logits);
    }
    return loss::fold_rows(losses, counted, class_weight, reduction);
  }
  // epsilon / C
  double smoothing_of(const Tensor& logits) const {
    return label_smoothing / static_cast<double>(std::max<std::int64_t>(logits.shape().back(), 1));
  }

  // Keeps the log-sum-exp of each row, and W.
  Forward forward(const Tensor& logits, const Tensor& target, const Tensor& class_weight) const {
    return dispatch_floating("cross_entropy", logits.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const loss::ClassRows<T> rows(logits, target, class_weight, ignore_index);
      Tensor losses({rows.outer}, DType::f64), kept({rows.outer}, DType::f64);
      double* const each = losses.fresh_data<double>();
      double* const lse = kept.fresh_data<double>();
      for_rows(rows.outer, rows.classes, 1.0, [&](std::int64_t row) {
        each[row] = lse[row] = 0;
        if (!rows.counts(row)) return;
        const T* const x = rows.scores + row * rows.classes;
        const LogSumExp sum = log_sum_exp(x, rows.classes);
        each[row] = row_loss(rows, x, rows.target[row], sum);
        lse[row] = sum.top + sum.rest;
      });
      const double total = rows.total_weight();
      return Forward(rows.fold(losses, target.shape(), reduction, total), kept, scalar(total, DType::f64));
    });
  }
  // (1-e) w_t (-log p_t) + e/C sum_c w_c (-log p_c), with -log p_c = rest - (x_c - top)
  template <class T>
  double row_loss(const loss::ClassRows<T>& rows, const T* x, std::int64_t t, LogSumExp lse) const {
    const double of_target = rows.weight_of(t) * (lse.rest - (static_cast<double>(x[t]) - lse.top));
    if (label_smoothing == 0) return of_target;
    constexpr std::int64_t block = 512;
    const T top = static_cast<T>(lse.top), rest = static_cast<T>(lse.rest);
    T terms[block];
    double all = 0;
    for (std::int64_t at = 0; at < rows.classes; at += block) {
      const std::int64_t count = std::min(block, rows.classes - at);
      for (std::int64_t c = 0; c < count; ++c) terms[c] = rest - (x[at + c] - top);
      all += rows.weight ? dot_of(terms, rows.weight + at, count) : sum_of(terms, count);
    }
    return (1 - label_smoothing) * of_target + label_smoothing / static_cast<double>(rows.classes) * all;
  }

  Grads vjp(const Vjp& v) const { return vjp_of_reference(*this, v); }

  Grads fused_vjp(const Vjp& v) const {
    if (v.wants(2)) return vjp(v);
    Tensor dx(v.x[0].shape(), v.x[0].dtype());
    dispatch_floating("cross_entropy", dx.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const loss::ClassRows<T> rows(v.x[0], v.x[1], v.x[2], ignore_index);
      const loss::RowCotangent<T> c(v.g, reduction, v.residuals[1].item());
      const double* const lse = v.residuals[0].data<double>();
      double weights = 0;  // sum_c w_c
      for (std::int64_t j = 0; j < rows.classes; ++j) weights += rows.weight_of(j);
      T* const to = dx.fresh_data<T>();
      for_rows(rows.outer, rows.classes, 1.0, [&](std::int64_t row) {
        T* const out = to + row * rows.classes;
        if (rows.counts(row)) row_rule(rows, row, c(row), lse[row], weights, out);
        else std::fill(out, out + rows.classes, T{0});
      });
    });
    return {dx, Tensor{}, Tensor{}};
  }
  // dx_c = g (p_c sum_j q_j - q_c) with p_c = e^{x_c - lse}; lse in two parts, since x_c - lse cancels
  template <class T>
  void row_rule(const loss::ClassRows<T>& rows, std::int64_t row, double g, double lse, double weights, T* dx) const {
    const std::int64_t n = rows.classes, t = rows.target[row];
    const T* const x = rows.scores + row * n;
    const double smooth = label_smoothing / static_cast<double>(n),
                 on_target = (1 - label_smoothing) * rows.weight_of(t);
    const T high = static_cast<T>(lse), low = static_cast<T>(lse - static_cast<double>(high));
    const T scale = static_cast<T>(g * (on_target + smooth * weights)), spread = static_cast<T>(g * smooth);
    for (std::int64_t j = 0; j < n; ++j) dx[j] = scale * math::exp((x[j] - high) - low);
    if (label_smoothing > 0)
      for (std::int64_t j = 0; j < n; ++j) dx[j] -= rows.weight ? spread * rows.weight[j] : spread;
    dx[t] -= static_cast<T>(g * on_target);
  }

  static void samples(Samples& s);
};

void CrossEntropy::samples(Samples& s) {
  const Tensor x = s.randn({4, 3}), target = indices({2, 0, -100, 1}), w = s.uniform({3}, 0.5, 2);
  s.add(cross_entropy, x, indices({2, 0, 1, 1})).for_benchmark();
  s.add(cross_entropy, x, target, w, 0.1);
  s.add(cross_entropy, x, target, w, 0.1, -100, Reduction::sum);
  s.add(cross_entropy, x, target, w, 0.1, -100, Reduction::none);
  s.add(cross_entropy, x, target, Tensor{}, 0.3);
  s.add(cross_entropy, x, indices({2, 0, 1, 1}), Tensor{}, 0.0, 1);
  s.add(cross_entropy, x, indices({-100, -100, -100, -100}), w, 0.1);
  s.add(cross_entropy, s.randn({2, 3, 5}), s.indices({2, 3}, 5), Tensor{}, 0.0, -100, Reduction::none);
  s.add(cross_entropy, s.tensor({1e4, -1e4, 0}, {1, 3}), indices({2}));
  s.add(cross_entropy, s.randn({5}), s.indices({}, 5));
  s.add(cross_entropy, s.randn({0, 3}), s.indices({0}, 3));
  s.error("target -4 at position [1] is out of range for 5 classes", cross_entropy, s.randn({2, 5}), indices({0, -4}));
  s.error("scores [2, 3] need a target of shape [2], not [3]", cross_entropy, s.randn({2, 3}), indices({0, 1, 2}));
  s.error("target has dtype f64, not i64", cross_entropy, s.randn({2, 3}), s.randn({2}));
  s.error("class_weight has shape [2], but scores [2, 3] have 3 classes", cross_entropy, s.randn({2, 3}),
          indices({0, 1}), s.randn({2}));
  s.error("label_smoothing is 1.5", cross_entropy, s.randn({2, 3}), indices({0, 1}), Tensor{}, 1.5);
  s.error("at least [C]", cross_entropy, s.randn({}), s.indices({}, 1));
}

const Register<CrossEntropy> registered{cross_entropy,
                                        {"logits",
                                         "target",
                                         {"class_weight", None},
                                         {"label_smoothing", 0.0},
                                         {"ignore_index", -100},
                                         {"reduction", "mean"}}};

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& class_weight, double label_smoothing,
                     std::int64_t ignore_index, Reduction reduction) {
  loss::check_classes("cross_entropy", logits, target, class_weight, ignore_index);
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    fail("cross_entropy: label_smoothing is {}; give a share between 0 and 1", label_smoothing);
  return apply(CrossEntropy{label_smoothing, ignore_index, reduction}, logits, target, class_weight);
}

}  // namespace gradus
