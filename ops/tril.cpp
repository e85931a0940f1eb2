#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/triangle.hpp"

namespace gradus {
namespace {

struct Tril {
  std::int64_t diagonal;
  static constexpr OpInfo info{
      .name = "tril",
      .math = R"(y_{i j} = j \le i + d ? x_{i j} : 0)",
      .rule = R"(\bar x = \operatorname{tril}(\bar y))",
      .derivation = R"(What is kept passes its cotangent on; the elements above the diagonal enter nothing.)",
      .why_kept = "",
      .numpy = "np.tril({x}, {diagonal})"};

  Tensor forward(const Tensor& x) const { return triangle(x, diagonal, true); }
  Grads vjp(const Vjp& v) const { return {tril(v.g, diagonal)}; }

  static void samples(Samples& s) {
    s.add(tril, s.randn({4, 4})).for_benchmark();
    s.add(tril, s.randn({2, 3, 5}), 1);
    s.add(tril, s.randn({5, 3}), -2);
    s.add(tril, s.randn({3, 3}), 99);
    s.add(tril, s.randn({3, 3}), -99);
    s.add(tril, s.randn({2, 0, 3}));
    s.add(tril, s.bools({3, 3}));
    s.error("shape [3] has no matrix; give at least two axes", tril, s.randn({3}));
  }
};

const Register<Tril> registered{tril, {"x", {"diagonal", 0}}};

}  // namespace

Tensor tril(const Tensor& x, std::int64_t diagonal) {
  if (x.rank() < 2) fail("tril: shape {} has no matrix; give at least two axes", x.shape());
  return apply(Tril{diagonal}, x);
}

}  // namespace gradus
