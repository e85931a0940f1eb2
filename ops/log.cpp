#include "core/local.hpp"
#include "core/registry.hpp"
#include "core/vector_math.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Log {
  static constexpr OpInfo info{
      .name = "log",
      .math = R"(y = \ln x)",
      .rule = R"(\bar x = \bar y / x)",
      .derivation =
          R"(The logarithm undoes the exponential: from e^{y} = x follows e^{y} \partial y / \partial x = 1, so
\partial y / \partial x = 1 / x.)",
      .why_kept = "the rule needs x",
      .numpy = "np.log({x})"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    return map_floating("log", x, [](auto v) { return math::log(v); });
  }
  Grads vjp(const Vjp& v) const { return {local_product(v.g, 1.0 / v.x[0])}; }

  static void samples(Samples& s) {
    s.add(log, s.uniform({2, 5}, 0.2, 3)).for_benchmark();
    s.add(log, s.uniform({}, 0.2, 3));
    s.add(log, s.randn({0, 3}));
    s.add(log, s.tensor({0.0, -1.0, 2.0})).first_order();
    s.error("dtype i64 is not floating; cast", log, s.indices({3}, 5));
  }
};

const Register<Log> registered{log, {"x"}};

}  // namespace

Tensor log(const Tensor& x) { return apply(Log{}, x); }

}  // namespace gradus
