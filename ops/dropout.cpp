#include "core/parallel.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus {
namespace {

struct Dropout {
  double p;
  std::int64_t key;
  static constexpr OpInfo info{
      .name = "dropout",
      .math = R"(y_i = m_i x_i / (1 - p), m_i = u_i < p ? 0 : 1)",
      .rule = R"(\bar x_i = m_i \bar y_i / (1 - p))",
      .derivation = R"(Each element is multiplied by a constant, drawn once: 0 with probability p, else 1 / (1 - p),
so that the mean stays. The cotangent passes through the same mask.)",
      .why_kept = "the mask comes again from the key, a number for each element's index",
      .numpy = "dropout({x}, p={p}, key={key})"};

  // u_i = Philox{key}.uniform(i) = (2 m + 1) / 2^24 depends on key and i alone: the same mask in f32 and f64, on any
  // number of threads.
  Tensor forward(const Tensor& x) const {
    return dispatch_floating("dropout", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Tensor from = packed(x);
      Tensor y(x.shape(), x.dtype());
      const auto dropped = static_cast<std::uint32_t>(std::ceil(p * 0x1p23 - 0.5));  // of the 2^23 values of u
      const T* const in = from.data<T>();
      T* const out = y.fresh_data<T>();
      const std::int64_t n = x.numel();
      const T scale = static_cast<T>(p < 1 ? 1 / (1 - p) : 0);
      constexpr std::int64_t batch = 4 * Philox::batch;
      parallel_for((n + batch - 1) / batch, chunk_for(100), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          std::uint32_t words[batch];
          Philox{static_cast<std::uint64_t>(key)}.words(static_cast<std::uint64_t>(b) * Philox::batch, words);
          const std::int64_t first = b * batch, count = std::min(batch, n - first);
          for (std::int64_t i = 0; i < count; ++i)
            out[first + i] = words[i] >> 9 < dropped ? T{0} : in[first + i] * scale;
        }
      });
      return y;
    });
  }
  Grads vjp(const Vjp& v) const { return {apply(*this, v.g)}; }

  static void samples(Samples& s) {
    s.add(dropout, s.randn({4, 8})).for_benchmark();
    s.add(dropout, s.randn({3, 5}), 0.1);
    s.add(dropout, s.randn({3, 5}), 1.0);
    s.add(dropout, s.randn({3, 5}), 0.5, 7);
    s.add(dropout, s.randn({}));
    s.add(dropout, s.randn({0, 3}));
    s.error("p is -0.1", dropout, s.randn({3}), -0.1);
    s.error("p is 1.5", dropout, s.randn({3}), 1.5);
    s.error("dtype i64 is not floating", dropout, s.indices({3}, 4));
  }
};

const Register<Dropout> registered{dropout, {"x", {"p", 0.5}, {"key", None}}};

}  // namespace

// Srivastava et al. 2014, "Dropout", scaled while training so that nothing is left to do in evaluation.
Tensor dropout(const Tensor& x, double p, std::optional<std::int64_t> key) {
  if (!is_floating(x.dtype())) fail_not_floating("dropout", x.dtype());
  if (!(p >= 0 && p <= 1)) fail("dropout: p is {}; give the probability of zeroing an element, from 0 to 1", p);
  if (p == 0) return x;
  return apply(Dropout{p, key ? *key : static_cast<std::int64_t>(default_generator().key())}, x);
}

}  // namespace gradus
