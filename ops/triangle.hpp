#pragma once
#include "core/parallel.hpp"
#include "core/tensor.hpp"

#include <algorithm>

// The one kernel of tril and triu.
namespace gradus {

/// x [..., rows, columns] with zeros above (lower) or below (not lower) the diagonal j = i + diagonal. Selected, never
/// multiplied.
inline Tensor triangle(const Tensor& x, std::int64_t diagonal, bool lower) {
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  const std::int64_t shift = std::clamp(diagonal, -rows - 1, columns + 1);
  const Tensor dense = packed(x);
  Tensor y(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = dense.data<T>();
    T* const to = y.fresh_data<T>();
    const std::int64_t count = columns == 0 ? 0 : y.numel() / columns;
    parallel_for(count, chunk_for(3 + 0.2 * static_cast<double>(columns)), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        // Columns [0, split) are at or below the diagonal of tril, strictly below that of triu.
        const std::int64_t split = std::clamp<std::int64_t>(row % rows + shift + (lower ? 1 : 0), 0, columns);
        const T* const in = from + row * columns;
        T* const out = to + row * columns;
        std::fill(lower ? out + split : out, lower ? out + columns : out + split, T{});
        std::copy(lower ? in : in + split, lower ? in + split : in + columns, lower ? out : out + split);
      }
    });
  });
  return y;
}

}  // namespace gradus
