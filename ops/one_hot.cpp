#include "core/indexing.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

namespace gradus {
namespace {

struct OneHot {
  std::int64_t classes;
  static constexpr OpInfo info{.name = "one_hot",
                               .math = R"(y_{k c} = i_{k} = c ? 1 : 0)",
                               .rule = R"(\text{none})",
                               .derivation = R"(An index is no differentiable quantity.)",
                               .numpy = "np.eye({classes}, dtype=np.float32)[{index}]"};

  Tensor forward(const Tensor& index) const {
    const Tensor checked = checked_index("one_hot", index, classes, "classes");
    Shape shape = index.shape();
    shape.push_back(classes);
    Tensor y = zeros(shape);
    float* const to = y.fresh_data<float>();
    const std::int64_t* const value = checked.data<std::int64_t>();
    for (std::int64_t k = 0; k < checked.numel(); ++k) to[k * classes + value[k]] = 1;
    return y;
  }

  static void samples(Samples& s) {
    s.add(one_hot, s.indices({3}, 5), 5).for_benchmark();
    s.add(one_hot, s.indices({2, 3}, 4), 6);
    s.add(one_hot, s.indices({}, 3), 3);
    s.add(one_hot, s.indices({0}, 3), 0);
    s.error("index 3 at position [1] is out of range for 3 classes; use 0 to 2", one_hot, gradus::indices({0, 3}), 3);
    s.error("index -1 at position [0]", one_hot, gradus::indices({-1}), 3);
    s.error("classes is -2; give 0 or more", one_hot, gradus::indices({1}), -2);
    s.error("the index has dtype f64, not i64", one_hot, s.randn({2}), 3);
  }
};

const Register<OneHot> registered{one_hot, {"index", "classes"}};

}  // namespace

// f32 [..., classes], since what follows is arithmetic; cast it where f64 is wanted.
Tensor one_hot(const Tensor& index, std::int64_t classes) {
  if (classes < 0) fail("one_hot: classes is {}; give 0 or more", classes);
  return apply(OneHot{classes}, index);
}

}  // namespace gradus
