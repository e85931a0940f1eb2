#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "ops/triangle.hpp"

namespace gradus {
namespace {

struct Triu {
  std::int64_t diagonal;
  static constexpr OpInfo info{
      .name = "triu",
      .math = R"(y_{i j} = j \ge i + d ? x_{i j} : 0)",
      .rule = R"(\bar x = \operatorname{triu}(\bar y))",
      .derivation = R"(What is kept passes its cotangent on; the elements below the diagonal enter nothing.)",
      .why_kept = "",
      .numpy = "np.triu({x}, {diagonal})"};

  Tensor forward(const Tensor& x) const { return triangle(x, diagonal, false); }
  Grads vjp(const Vjp& v) const { return {triu(v.g, diagonal)}; }

  static void samples(Samples& s) {
    s.add(triu, s.randn({4, 4})).for_benchmark();
    s.add(triu, s.randn({2, 3, 5}), 1);
    s.add(triu, s.randn({5, 3}), -2);
    s.add(triu, s.randn({3, 3}), 99);
    s.add(triu, s.randn({3, 3}), -99);
    s.add(triu, s.randn({2, 0, 3}));
    s.add(triu, s.bools({3, 3}));
    s.error("shape [3] has no matrix; give at least two axes", triu, s.randn({3}));
  }
};

const Register<Triu> registered{triu, {"x", {"diagonal", 0}}};

}  // namespace

Tensor triu(const Tensor& x, std::int64_t diagonal) {
  if (x.rank() < 2) fail("triu: shape {} has no matrix; give at least two axes", x.shape());
  return apply(Triu{diagonal}, x);
}

}  // namespace gradus
