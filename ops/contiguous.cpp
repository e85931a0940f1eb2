#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct Contiguous {
  static constexpr OpInfo info{.name = "contiguous",
                               .math = R"(y = x)",
                               .rule = R"(\bar x = \bar y)",
                               .derivation = R"(The same elements in row-major order in memory: the cotangent stays.)",
                               .why_kept = "",
                               .numpy = "np.ascontiguousarray({x})"};

  Tensor forward(const Tensor& x) const { return packed(x); }
  Grads vjp(const Vjp& v) const { return {Tensor(v.g)}; }

  static void samples(Samples& s) {
    s.add(contiguous, s.randn({2, 3})).for_benchmark();
    s.add(contiguous, transpose(s.randn({2, 3, 4})));
    s.add(contiguous, expand(s.randn({3, 1}), {2, 3, 4}));
    s.add(contiguous, s.randn({}));
    s.add(contiguous, s.randn({0, 3}));
    s.add(contiguous, transpose(s.indices({2, 3}, 9)));
    s.error("give a tensor", contiguous, Tensor{});
  }
};

const Register<Contiguous> registered{contiguous, {"x"}};

}  // namespace

// x itself where its elements lie in row-major order already, so that calling it costs nothing.
Tensor contiguous(const Tensor& x) {
  if (!x.defined()) fail("contiguous: the tensor is undefined; give a tensor");
  return x.is_contiguous() ? x : apply(Contiguous{}, x);
}
Tensor Tensor::contiguous() const { return gradus::contiguous(*this); }

}  // namespace gradus
