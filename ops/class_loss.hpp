#pragma once
#include "core/reduce.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

// What the losses over classes share. Scores are [..., C], targets i64 [...], class weights [C] or undefined. A row
// counts unless its target is `ignore_index`; with W the weights of the targets of the rows that count, added up, the
// mean is the sum of their losses over W. When W is 0 nothing counts: the loss is 0, with zero gradients.
namespace gradus::loss {

/// The checks of a public function, before anything is computed.
inline void check_classes(const char* op, const Tensor& scores, const Tensor& target, const Tensor& class_weight,
                          std::int64_t ignore_index) {
  if (!is_floating(scores.dtype())) fail_not_floating(op, scores.dtype());
  if (scores.rank() == 0) fail("{}: the scores have shape []; classes are the last axis, so give at least [C]", op);
  if (target.dtype() != DType::i64)
    fail("{}: the target has dtype {}, not i64; give class numbers, or cast", op, target.dtype());
  Shape rows = scores.shape();
  rows.erase(rows.rank() - 1);
  if (target.shape() != rows)
    fail(
        "{}: scores {} need a target of shape {}, not {}; classes are the last axis, the target has the shape without "
        "it",
        op, scores.shape(), rows, target.shape());
  const std::int64_t classes = scores.shape().back();
  if (classes == 0)
    fail("{}: scores of shape {} have no classes; the last axis needs at least one", op, scores.shape());
  if (class_weight.defined()) {
    operands(op, scores, class_weight);
    if (class_weight.shape() != Shape{classes})
      fail("{}: class_weight has shape {}, but scores {} have {} classes; give one weight for each class", op,
           class_weight.shape(), scores.shape(), classes);
  }
  const Tensor packed_target = packed(target);
  const std::int64_t* const t = packed_target.data<std::int64_t>();
  for (std::int64_t i = 0, n = target.numel(); i < n; ++i) {
    if (t[i] == ignore_index || (t[i] >= 0 && t[i] < classes)) continue;
    Shape position;
    for (std::int64_t axis = rows.rank() - 1, rest = i; axis >= 0; rest /= rows[static_cast<int>(axis--)])
      position.insert(0, rest % rows[static_cast<int>(axis)]);
    fail(
        "{}: target {} at position {} is out of range for {} classes; use 0 to {}, or ignore_index = {} for rows that "
        "do "
        "not count",
        op, t[i], position, classes, classes - 1, ignore_index);
  }
}

/// Scores as rows, targets and weights, contiguous: what the kernels read.
template <class T>
struct ClassRows {
  Rows rows;
  Tensor packed_target, packed_weight;
  std::int64_t outer, classes, ignore_index;
  const T* scores;
  const std::int64_t* target;
  const T* weight = nullptr;  ///< null when no class weights are given

  ClassRows(const Tensor& x, const Tensor& t, const Tensor& class_weight, std::int64_t ignored)
      : rows(rows_of(x, 1U << (x.rank() - 1))),
        packed_target(packed(t)),
        packed_weight(class_weight.defined() ? packed(class_weight) : Tensor{}),
        outer(rows.outer),
        classes(rows.n),
        ignore_index(ignored),
        scores(rows.x.template data<T>()),
        target(packed_target.data<std::int64_t>()) {
    if (packed_weight.defined()) weight = packed_weight.data<T>();
  }
  bool counts(std::int64_t row) const { return target[row] != ignore_index; }
  double weight_of(std::int64_t c) const { return weight ? static_cast<double>(weight[c]) : 1.0; }

  /// W: the weights of the targets of the rows that count, added up.
  double total_weight() const {
    PoolVector<double> each(static_cast<std::size_t>(outer));
    for (std::int64_t row = 0; row < outer; ++row)
      each[static_cast<std::size_t>(row)] = counts(row) ? weight_of(target[row]) : 0.0;
    return sum_of(each.data(), outer);
  }

  /// The losses of the rows (f64, 0 where a row does not count) folded into the result.
  Tensor fold(const Tensor& losses, const Shape& shape, Reduction reduction, double total) const {
    const double* const each = losses.data<double>();
    if (reduction != Reduction::none) {
      const double sum = reduction == Reduction::mean && total == 0 ? 0.0 : sum_of(each, outer);
      return scalar(reduction == Reduction::mean && total != 0 ? sum / total : sum, dtype_of<T>);
    }
    Tensor y(shape, dtype_of<T>);
    std::copy(each, each + outer, y.template fresh_data<T>());
    return y;
  }
};

/// The cotangent of each row's loss, for fused rules: g over W for the mean, g for the sum, g_i without reduction.
template <class T>
class RowCotangent {
 public:
  RowCotangent(const Tensor& g, Reduction reduction, double total) : packed_(packed(g)), each_(packed_.data<T>()) {
    step_ = reduction == Reduction::none ? 1 : 0;
    if (reduction == Reduction::mean) scale_ = total == 0 ? 0.0 : 1 / total;
  }
  double operator()(std::int64_t row) const { return static_cast<double>(each_[row * step_]) * scale_; }

 private:
  Tensor packed_;
  const T* each_;
  std::int64_t step_ = 0;
  double scale_ = 1;
};

// ---- the same as compositions, for references

/// Which rows count, and targets that are safe to gather with.
struct Counted {
  Tensor mask;   ///< b8, the target's shape
  Tensor index;  ///< the target, 0 where the row does not count
  bool all;      ///< every row counts

  Counted(const Tensor& target, std::int64_t ignore_index)
      : mask(ne(target, ignore_index)), index(where(mask, target, 0)), all(sum(mask).item() == target.numel()) {}
};

/// values[..., target]: of each row the element that its target names.
inline Tensor picked(const Tensor& values, const Tensor& index) {
  Shape column = index.shape();
  column.push_back(1);
  return reshape(gather(values, reshape(index, column), -1), index.shape());
}

/// The weight of each row's target.
inline Tensor target_weights(const Tensor& class_weight, const Tensor& index) {
  return reshape(gather(class_weight, reshape(index, {index.numel()}), 0), index.shape());
}

/// The losses of the rows, folded; `class_weight` may be undefined.
inline Tensor fold_rows(const Tensor& losses, const Counted& counted, const Tensor& class_weight, Reduction reduction) {
  const Tensor selected = counted.all ? losses : where(counted.mask, losses, 0);
  if (reduction == Reduction::none) return selected;
  if (reduction == Reduction::sum) return sum(selected);
  if (!class_weight.defined()) return sum(selected) / std::max(sum(counted.mask).item(), 1.0);
  const Tensor weights = where(counted.mask, target_weights(class_weight, counted.index), 0);
  const Tensor total = sum(weights);
  if (total.item() == 0) return sum(where(zeros(losses.shape(), DType::b8), losses, 0));
  return sum(selected) / total;
}

}  // namespace gradus::loss
