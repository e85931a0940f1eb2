#pragma once
#include "core/shape.hpp"

namespace gradus {

/// The axes of a reduction: one int, a list, or all of them.
class Axes {
 public:
  Axes(int axis) : listed_{axis} {}
  Axes(std::initializer_list<int> axes) {
    for (const int axis : axes) listed_.push_back(axis);
  }
  explicit Axes(const Shape& axes) : listed_(axes) {}
  /// All axes, as `axis=None` says.
  static Axes all() {
    Axes axes{};
    axes.all_ = true;
    return axes;
  }
  bool is_all() const { return all_; }
  const Shape& listed() const { return listed_; }

  /// Bit i is set when axis i of `shape` is reduced. Error for an axis out of range or named twice.
  unsigned mask(const char* op, const Shape& shape) const;

  friend bool operator==(const Axes&, const Axes&) = default;

 private:
  Shape listed_;
  bool all_ = false;
};

/// The shape that is left when the axes in `mask` are reduced.
Shape reduced_shape(const Shape& shape, unsigned mask, bool keepdim);

}  // namespace gradus
