#include "core/local.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Rsqrt {
  static constexpr OpInfo info{
      .name = "rsqrt",
      .math = R"(y = 1 / \sqrt{x})",
      .rule = R"(\bar x = -\bar y \odot y^{3} / 2)",
      .derivation = R"(y = x^{-1/2}, so \partial y / \partial x = -x^{-3/2} / 2 = -y^{3} / 2.)",
      .why_kept = "the rule needs y alone",
      .numpy = "1 / np.sqrt({x})"};
  static constexpr Keep keeps = Keep::output;

  Tensor forward(const Tensor& x) const {
    return map_floating("rsqrt", x, [](auto v) { return 1 / std::sqrt(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, -0.5 * (v.y * v.y * v.y))}; }

  static void samples(Samples& s) {
    s.add(rsqrt, s.uniform({2, 5}, 0.2, 3)).for_benchmark();
    s.add(rsqrt, s.uniform({}, 0.2, 3));
    s.add(rsqrt, s.randn({0, 3}));
    s.add(rsqrt, s.tensor({0.0, -1.0, 4.0})).first_order();
    s.error("dtype i64 is not floating; cast", rsqrt, s.indices({3}, 5));
  }
};

const Register<Rsqrt> registered{rsqrt, {"x"}};

}  // namespace

Tensor rsqrt(const Tensor& x) { return apply(Rsqrt{}, x); }

}  // namespace gradus
