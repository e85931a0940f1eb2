#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/reduction.hpp"

namespace gradus {
namespace {

// In double; i64 wraps around, as in NumPy.
template <class T>
T product_of(const T* x, std::int64_t n) {
  using P = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  P product = 1;
  for (std::int64_t i = 0; i < n; ++i) product *= static_cast<P>(x[i]);
  return static_cast<T>(product);
}

// The product of all others as that of those before and those after: no division, so zeros need no care.
template <class T>
void product_rule(T g, const T* x, std::int64_t n, T* dx) {
  PoolVector<double> before(static_cast<std::size_t>(n));
  double product = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    before[static_cast<std::size_t>(i)] = product;
    product *= static_cast<double>(x[i]);
  }
  double after = 1;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    dx[i] = local_product_of(g, static_cast<T>(before[static_cast<std::size_t>(i)] * after));
    after *= static_cast<double>(x[i]);
  }
}

struct Prod {
  Axes axis;
  bool keepdim;
  static constexpr OpInfo info{
      .name = "prod",
      .math = R"(y = \prod_{i} x_i)",
      .rule = R"(\bar x_i = \bar y \prod_{j \ne i} x_j)",
      .derivation = R"(y is linear in each x_i, with the product of the others as its factor. Writing that as
y / x_i would divide by zero where an element is 0.)",
      .why_kept = "the rule multiplies the other elements",
      .numpy = "np.prod({x}, axis={axis}, keepdims={keepdim})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return dispatch_number("prod", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return reduce_rows<T, T>(x, axis.mask("prod", x.shape()), keepdim, 1,
                               [](const T* row, std::int64_t n) { return product_of(row, n); });
    });
  }

  // Right to any order because it differentiates a tree of products of two.
  Grads vjp(const Vjp& v) const {
    if (v.x[0].numel() == 0) return {zeros_like(v.x[0])};
    return detail::vjp_by_differentiating(
        v, [&](std::span<const Tensor> x) { return reshape(halved(x[0]), v.g.shape()); });
  }
  // Halves multiplied elementwise until one column is left; columns that were odd ones out come last.
  Tensor halved(const Tensor& x) const {
    const unsigned mask = axis.mask("prod", x.shape());
    Shape order;
    for (const unsigned reduced : {0U, 1U})
      for (int i = 0; i < x.rank(); ++i)
        if (((mask >> i) & 1U) == reduced) order.push_back(i);
    std::int64_t n = reduced_count(x.shape(), mask);
    Tensor rest = reshape(permute(x, order), {x.numel() / n, n}), odd;
    for (; n > 1; n /= 2) {
      const std::int64_t half = n / 2;
      if (n % 2) odd = odd.defined() ? odd * slice(rest, 1, n - 1) : slice(rest, 1, n - 1);
      rest = slice(rest, 1, 0, half) * slice(rest, 1, half, 2 * half);
    }
    return odd.defined() ? rest * odd : rest;
  }

  Grads fused_vjp(const Vjp& v) const {
    return {rule_by_rows(v, axis.mask("prod", v.x[0].shape()), 3,
                         [](auto g, auto, const auto* x, std::int64_t n, auto* dx) { product_rule(g, x, n, dx); })};
  }

  static void samples(Samples& s) {
    s.add(prod, s.randn({2, 3, 4}), 1).for_benchmark();
    s.add(prod, s.randn({5}));
    s.add(prod, s.randn({2, 3, 2}), Axes{0, -1}, true);
    s.add(prod, s.tensor({1.5, 0, 2, -1, 0, 3, 0, 2, 0.5, 1, 2, 3}, {3, 4}), 1);
    s.add(prod, s.randn({3, 0}), 1);
    s.add(prod, s.randn({}));
    s.add(prod, s.indices({2, 3}, 5), 0);
    s.error("axis 2 is out of range for shape [3, 3]", prod, s.randn({3, 3}), 2);
    s.error("cast", prod, s.bools({3}));
  }
};

const Register<Prod> registered{prod, {"x", {"axis", None}, {"keepdim", false}}};

}  // namespace

Tensor prod(const Tensor& x, const Axes& axis, bool keepdim) { return apply(Prod{axis, keepdim}, x); }

}  // namespace gradus
