#pragma once
#include "tests/sweep/call.hpp"

#include <cstring>
#include <functional>
#include <set>

// The same numbers in other places: views that no op made, built from storage and strides alone.
namespace sweep {

/// Calls f(position in row-major order, offset) for each element.
template <class F>
void for_offsets(const Layout& layout, F&& f) {
  const std::int64_t n = layout.shape.numel();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, offset = layout.offset;
    for (int axis = layout.shape.rank() - 1; axis >= 0; rest /= layout.shape[axis], --axis)
      offset += rest % layout.shape[axis] * layout.strides[axis];
    f(i, offset);
  }
}

/// x's elements read by `layout` from a new storage of `elements`, whose other elements are NaN, true, or no valid
/// index.
inline Tensor placed(const Tensor& x, const Layout& layout, std::int64_t elements) {
  Storage storage(elements * bytes_of(x.dtype()));
  const Tensor dense = packed(x);
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const to = static_cast<T*>(storage.data());
    for (std::int64_t i = 0; i < elements; ++i)
      to[i] = std::is_same_v<T, bool> ? T(true) : is_floating(x.dtype()) ? T(NAN) : T(std::int64_t{1} << 40);
    for_offsets(layout, [&](std::int64_t i, std::int64_t offset) { to[offset] = dense.data<T>()[i]; });
  });
  return Tensor(storage, layout, x.dtype());
}

/// First axis dense, last axis furthest apart: what a transpose gives.
inline Tensor transposed_copy(const Tensor& x) {
  Layout layout{x.shape(), x.shape(), 0};
  std::int64_t stride = 1;
  for (int i = 0; i < x.rank(); ++i) {
    layout.strides[i] = stride;
    stride *= std::max<std::int64_t>(x.shape()[i], 1);
  }
  return placed(x, layout, stride);
}

/// Every `step`-th element from the second on, along each axis of a larger array.
inline Tensor sliced_copy(const Tensor& x, std::int64_t step) {
  Shape larger;
  for (const std::int64_t n : x.shape()) larger.push_back(step * n + 2);
  Layout layout{x.shape(), contiguous_strides(larger), 0};
  for (int i = 0; i < x.rank(); ++i) {
    layout.offset += layout.strides[i];
    layout.strides[i] *= step;
  }
  return placed(x, layout, larger.numel());
}

/// x with its first slice along `axis` repeated: as a copy, and as a view of stride 0.
struct Expanded {
  Tensor copy, view;
};
inline Expanded expanded(const Tensor& x, int axis) {
  Layout once = x.layout(), view{x.shape(), {}, 0};
  once.shape[axis] = 1;
  view.strides = contiguous_strides(once.shape);
  view.strides[axis] = 0;
  const Tensor repeated(copy_of(Tensor(x.storage(), once, x.dtype())).storage(), view, x.dtype());
  return {copy_of(repeated), repeated};
}

/// The elements as another dtype.
inline Tensor converted(const Tensor& x, DType dtype) { return tensor(x.to_vector<double>(), x.shape(), dtype); }
/// Floating tensors as another dtype, others as they are.
inline std::vector<Tensor> converted(std::span<const Tensor> tensors, DType dtype) {
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) result.push_back(is_floating(t.dtype()) ? converted(t, dtype) : t);
  return result;
}

/// The tensors with every extent above 1 multiplied by `factor`: repeated, each copy scaled by up to 1 % so that no
/// ties arise.
inline std::vector<Tensor> grown_by(std::span<const Tensor> tensors, std::int64_t factor) {
  const Philox random{5};
  std::vector<Tensor> result;
  for (const Tensor& t : tensors) {
    Shape shape = t.shape();
    for (int i = 0; i < shape.rank(); ++i) shape[i] *= shape[i] > 1 ? factor : 1;
    const std::vector<double> small = t.to_vector<double>();
    std::vector<double> large(static_cast<std::size_t>(shape.numel()));
    const Strides strides = contiguous_strides(t.shape());
    for_offsets({shape, contiguous_strides(shape), 0}, [&](std::int64_t i, std::int64_t) {
      std::int64_t rest = i, from = 0;
      for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis], --axis)
        from += rest % shape[axis] % t.shape()[axis] * strides[axis];
      const double scale = is_floating(t.dtype()) ? 1 + 0.01 * random.uniform53(static_cast<std::uint64_t>(i)) : 1;
      large[static_cast<std::size_t>(i)] = small[static_cast<std::size_t>(from)] * scale;
    });
    result.push_back(tensor(large, shape, t.dtype()));
  }
  return result;
}

/// The call's tensors grown until the largest of them, the result, or the product of all different extents (the work of
/// a matrix product) has about `elements`. Its own tensors when larger ones do not fit its attributes any more.
inline std::vector<Tensor> grown(const Call& call, std::int64_t elements) {
  double factor = static_cast<double>(elements);
  const auto bound = [&](double now, double doubled) {
    if (now > 0 && doubled > now)
      factor = std::min(factor, std::pow(static_cast<double>(elements) / now, 1 / std::log2(doubled / now)));
  };
  std::set<std::int64_t> extents;
  try {
    const std::vector<Tensor> doubled = grown_by(call.tensors, 2);
    bound(static_cast<double>(call(call.tensors).numel()), static_cast<double>(call(doubled).numel()));
    for (std::size_t i = 0; i < doubled.size(); ++i) {
      bound(static_cast<double>(call.tensors[i].numel()), static_cast<double>(doubled[i].numel()));
      extents.insert(call.tensors[i].shape().begin(), call.tensors[i].shape().end());
    }
  } catch (const Error&) { return call.tensors; }
  double product = 1, doubled_product = 1;
  for (const std::int64_t n : extents)
    if (n > 1) product *= static_cast<double>(n), doubled_product *= 2 * static_cast<double>(n);
  bound(product, doubled_product);
  return doubled_product > product && factor >= 2 ? grown_by(call.tensors, static_cast<std::int64_t>(factor))
                                                  : call.tensors;
}

}  // namespace sweep
