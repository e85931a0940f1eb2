#include "core/local.hpp"

#include "core/op.hpp"

namespace gradus {
namespace {

struct LocalProduct {
  static constexpr OpInfo info{.name = "local_product",
                               .math = R"(y = g \odot d)",
                               .rule = "\\bar g = \\bar y \\odot d\n\\bar d = \\bar y \\odot g",
                               .numpy = "{g} * {derivative}"};
  static constexpr Keep keeps = Keep::inputs;
  static constexpr bool broadcasts = true;

  Tensor forward(const Tensor& g, const Tensor& derivative) const {
    return dispatch_floating("local_product", g.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return map_broadcast<T>(
          "local_product", [](T c, T d) { return local_product_of(c, d); }, g, derivative);
    });
  }
  Grads vjp(const Vjp& v) const {
    return {v.want(0, [&] { return local_product(v.g, v.x[1]); }),
            v.want(1, [&] { return local_product(v.g, v.x[0]); })};
  }
};

}  // namespace

Tensor local_product(const Tensor& g, const Tensor& derivative) { return apply(LocalProduct{}, g, derivative); }

}  // namespace gradus
