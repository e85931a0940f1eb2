#include "core/axes.hpp"

namespace gradus {

unsigned Axes::mask(const char* op, const Shape& shape) const {
  if (all_) return (1u << shape.rank()) - 1u;
  unsigned mask = 0;
  for (const std::int64_t listed : listed_) {
    const bool fits = listed >= -Shape::max_rank && listed < Shape::max_rank;
    const int axis = checked_axis(op, shape, fits ? static_cast<int>(listed) : Shape::max_rank);
    if (mask & (1u << axis)) fail("{}: axis {} is named twice in {}; name each axis once", op, axis, listed_);
    mask |= 1u << axis;
  }
  return mask;
}

Shape reduced_shape(const Shape& shape, unsigned mask, bool keepdim) {
  Shape reduced;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool gone = (mask >> i) & 1u;
    if (!gone) reduced.push_back(shape[i]);
    else if (keepdim) reduced.push_back(1);
  }
  return reduced;
}

}  // namespace gradus
