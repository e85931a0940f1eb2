#pragma once
#include "core/error.hpp"

#include <array>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace gradus {

/// The extents of a tensor, outermost first, e.g. [batch, time, width]; rank 0 is a scalar. Inline, no heap, rank up
/// to 8. Strides (in elements) use the same type.
class Shape {
 public:
  static constexpr int max_rank = 8;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  constexpr explicit Shape(std::span<const std::int64_t> extents) {
    for (const std::int64_t n : extents) push_back(n);
  }

  constexpr int rank() const { return rank_; }
  constexpr std::int64_t operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  constexpr std::int64_t& operator[](int i) { return extents_[static_cast<std::size_t>(i)]; }
  constexpr std::int64_t back() const { return (*this)[rank_ - 1]; }
  constexpr const std::int64_t* begin() const { return extents_.data(); }
  constexpr const std::int64_t* end() const { return extents_.data() + rank_; }

  /// Appends one extent. Error beyond rank 8.
  constexpr void push_back(std::int64_t n) {
    if (rank_ == max_rank) too_deep();
    extents_[static_cast<std::size_t>(rank_++)] = n;
  }
  /// Inserts `n` before position `at` (0 <= at <= rank).
  constexpr void insert(int at, std::int64_t n) {
    push_back(n);
    for (int i = rank_ - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
    (*this)[at] = n;
  }
  /// Removes position `at`.
  constexpr void erase(int at) {
    for (int i = at; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
    extents_[static_cast<std::size_t>(--rank_)] = 0;
  }

  /// The number of elements: the product of the extents, 1 for rank 0. Error when it exceeds 2^63.
  constexpr std::int64_t numel() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank_; ++i)
      if (__builtin_mul_overflow(n, (*this)[i], &n)) return overflowed_numel();
    return n;
  }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  [[noreturn]] static void too_deep();
  std::int64_t overflowed_numel() const;  // 0 if some extent is 0, else an error

  std::array<std::int64_t, max_rank> extents_;  // those beyond rank_ are not set: tensors are made by the million
  int rank_ = 0;
};

using Strides = Shape;

/// How to read a storage: element (i, j, ...) is at `offset + i*strides[0] + j*strides[1] + ...`, in elements.
struct Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;

  /// True when the elements lie in row-major order without gaps (axes of extent 1 are free).
  bool is_contiguous() const {
    std::int64_t expected = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      if (shape[i] == 1) continue;
      if (shape[i] == 0) return true;
      if (strides[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }
  /// True when some element is read at two indices (an expanded axis).
  bool overlaps() const {
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] > 1 && strides[i] == 0) return true;
    return false;
  }
};

/// Row-major strides of a shape.
Strides contiguous_strides(const Shape& shape);

/// `[2, 3]`.
std::string to_string(const Shape& shape);

/// The axis counted from the front. Error `op: axis 3 is out of range for shape [2, 3]; ...` outside [-rank, rank).
int checked_axis(const char* op, const Shape& shape, int axis);

/// The common shape under NumPy's rules: aligned at the last axis, extents equal or 1. Error naming op and both shapes.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// `layout` read as `shape` (stride 0 on the axes that repeat). Error unless it broadcasts to `shape`.
Layout broadcast_to(const char* op, const Layout& layout, const Shape& shape);

}  // namespace gradus

template <>
struct fmt::formatter<gradus::Shape> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradus::Shape& value, Context& context) const {
    const auto text = gradus::to_string(value);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
