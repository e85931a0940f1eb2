#pragma once
#include "core/parallel.hpp"
#include "core/tensor.hpp"

#include <array>
#include <tuple>

// The one loop behind every elementwise kernel: any layout, broadcasting, fixed chunks over threads, vectorised by the
// compiler where the innermost strides are 0 and 1. `map<R>(f, x...)` returns f of each element; `map_into` writes it
// into an existing tensor.
namespace gradus {

/// y <- value, without check or version: for tensors just made.
void fill_fresh(Tensor& y, double value);

/// The joint loop over an output and its inputs: axes of extent 1 dropped, neighbours merged where every operand allows
/// it.
template <int operands>
struct Loop {
  Shape shape;                            // merged extents, outermost first
  std::array<Strides, operands> strides;  // per operand, in elements
  std::int64_t numel = 1;

  void add(const std::array<const Layout*, operands>& layouts, const Shape& full) {
    for (int axis = 0; axis < full.rank(); ++axis) {
      const std::int64_t n = full[axis];
      numel *= n;
      if (n == 1) continue;
      bool merges = shape.rank() > 0;
      std::array<std::int64_t, operands> step{};
      for (std::size_t o = 0; o < operands; ++o) {
        step[o] = layouts[o]->strides[axis];
        merges = merges && strides[o].back() == step[o] * n;
      }
      if (merges) {
        shape[shape.rank() - 1] *= n;
        for (std::size_t o = 0; o < operands; ++o) strides[o][shape.rank() - 1] = step[o];
      } else {
        shape.push_back(n);
        for (std::size_t o = 0; o < operands; ++o) strides[o].push_back(step[o]);
      }
    }
  }
  std::int64_t inner() const { return shape.rank() == 0 ? 1 : shape.back(); }
  std::int64_t inner_stride(std::size_t o) const { return shape.rank() == 0 ? 1 : strides[o].back(); }
  std::array<std::int64_t, operands - 1> input_strides() const {
    std::array<std::int64_t, operands - 1> inputs{};
    for (std::size_t o = 1; o < operands; ++o) inputs[o - 1] = inner_stride(o);
    return inputs;
  }
};

namespace detail {

/// One run of n elements. The cases that compilers vectorise come first: everything dense, or one input a constant.
template <class R, class F, class... T>
inline void run_inner(const F& f, std::int64_t n, R* y, std::int64_t ys,
                      const std::array<std::int64_t, sizeof...(T)>& xs, const T*... x) {
  if constexpr (sizeof...(T) == 0) {
    if (ys == 1) {
      for (std::int64_t i = 0; i < n; ++i) y[i] = f();
    } else {
      for (std::int64_t i = 0; i < n; ++i) y[i * ys] = f();
    }
  } else {
    bool dense = ys == 1;
    for (const std::int64_t s : xs) dense = dense && s == 1;
    if (dense) {
      for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]...);
      return;
    }
    if constexpr (sizeof...(T) == 2) {
      const auto& [a, b] = std::tie(x...);
      if (ys == 1 && xs[0] == 1 && xs[1] == 0) {
        const auto c = *b;
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], c);
        return;
      }
      if (ys == 1 && xs[0] == 0 && xs[1] == 1) {
        const auto c = *a;
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(c, b[i]);
        return;
      }
    }
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      for (std::int64_t i = 0; i < n; ++i) y[i * ys] = f(x[i * xs[k]]...);
    }
    (std::index_sequence_for<T...>{});
  }
}

/// Elements [begin, end) of the loop in row-major order.
template <class R, class F, class... T>
void run_range(const Loop<1 + sizeof...(T)>& loop, std::int64_t begin, std::int64_t end, const F& f, R* y,
               const T*... x) {
  constexpr std::size_t inputs = sizeof...(T);
  const std::int64_t inner = loop.inner();
  const std::array<std::int64_t, inputs> xs = loop.input_strides();
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t column = at % inner;
    std::array<std::int64_t, 1 + inputs> offset{};
    std::int64_t rest = at / inner;
    for (int axis = loop.shape.rank() - 2; axis >= 0; --axis) {
      const std::int64_t i = rest % loop.shape[axis];
      rest /= loop.shape[axis];
      for (std::size_t o = 0; o <= inputs; ++o) offset[o] += i * loop.strides[o][axis];
    }
    const std::int64_t n = std::min(inner - column, end - at);
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      run_inner<R>(f, n, y + offset[0] + column * loop.inner_stride(0), loop.inner_stride(0), xs,
                   (x + offset[k + 1] + column * xs[k])...);
    }
    (std::index_sequence_for<T...>{});
    at += n;
  }
}

template <class F, class... T>
struct ArgumentTypes;
template <class C, class R, class... A>
std::tuple<std::remove_cvref_t<A>...> arguments_of(R (C::*)(A...) const);
template <class F>
using Arguments = decltype(arguments_of(&F::operator()));

}  // namespace detail

/// y[i] <- f(x[i]...) for every index of y; the inputs already have y's shape. Element types are those of f's
/// parameters.
template <class R, class F, class... X>
void map_into(const F& f, Tensor& y, const X&... x) {
  Loop<1 + sizeof...(X)> loop;
  loop.add({&y.layout(), &x.layout()...}, y.shape());
  if (loop.numel == 0) return;
  constexpr std::int64_t chunk = 16384;
  [&]<class... T>(std::tuple<T...>*) {
    static_assert(sizeof...(T) == sizeof...(X), "f takes one argument per input");
    R* const to = y.fresh_data<R>();
    const std::tuple<const T*...> from{x.template data<T>()...};
    std::apply(
        [&](const T*... p) {
          if (loop.shape.rank() <= 1 && loop.numel <= chunk) {
            detail::run_inner<R>(f, loop.numel, to, loop.inner_stride(0), loop.input_strides(), p...);
          } else {
            parallel_for(loop.numel, chunk, [&](std::int64_t begin, std::int64_t end) {
              detail::run_range<R>(loop, begin, end, f, to, p...);
            });
          }
        },
        from);
  }(static_cast<detail::Arguments<F>*>(nullptr));
}

/// A new contiguous tensor of element type R and the inputs' (common) shape with f of each element.
template <class R, class F, class X>
Tensor map(const F& f, const X& x) {
  Tensor y(x.shape(), dtype_of<R>);
  map_into<R>(f, y, x);
  return y;
}

/// Two or three inputs that broadcast against each other. `op` names the caller in errors.
template <class R, class F, class... X>
Tensor map_broadcast(const char* op, const F& f, const X&... x) {
  const Shape& first = std::get<0>(std::tie(x...)).shape();
  if (((x.shape() == first) && ...)) {
    Tensor y(first, dtype_of<R>);
    map_into<R>(f, y, x...);
    return y;
  }
  Shape shape;
  ((shape = broadcast_shapes(op, shape, x.shape())), ...);
  Tensor y(shape, dtype_of<R>);
  const auto reader = [&](const Tensor& t) {
    return t.shape() == shape ? t.detach() : Tensor(t.storage(), broadcast_to(op, t.layout(), shape), t.dtype());
  };
  map_into<R>(f, y, reader(x)...);
  return y;
}

}  // namespace gradus
