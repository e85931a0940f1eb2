// Slips are named from the numbers alone.
#include "study/slip.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "file_helpers.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using gradus::test::contains;
using study::find_slip;
using study::Guess;
using study::Slip;
using study::SlipContext;

namespace {

Tensor random(const Shape& shape) {
  static Generator generator(3);
  return randn(shape, DType::f64, generator);
}

}  // namespace

TEST_CASE("a shape that does not fit is said with both shapes, and what would help") {
  const Tensor right = random({4, 3});
  Guess f = find_slip(random({3, 5}), right);
  CHECK(f.slip == Slip::shape);
  CHECK(f.sentence == "the claim has shape [3, 5], the right value [4, 3]");
  f = find_slip(right.T(), right);
  CHECK(f.slip == Slip::shape);
  CHECK(contains(f.sentence, "its transpose would be right"));
  f = find_slip(reshape(right, {12}), right);
  CHECK(f.slip == Slip::shape);
  CHECK(contains(f.sentence, "the numbers are right"));
  f = find_slip(scalar(1, DType::f64), ones({3}, DType::f64));
  CHECK(f.slip == Slip::shape);
  CHECK(contains(f.sentence, "when expanded"));
}

TEST_CASE("a gradient of the broadcast shape is broadcast, not shape, when its sum is right") {
  const Tensor g = random({5, 4});
  CHECK(find_slip(g, sum(g, 0)).slip == Slip::broadcast);
  CHECK(find_slip(g, sum(g, 0, keepdim)).slip == Slip::broadcast);
  CHECK(find_slip(g, sum(g, 1, keepdim)).slip == Slip::broadcast);
  CHECK(find_slip(g, sum(g)).slip == Slip::broadcast);
  CHECK(find_slip(random({2, 5, 4}), sum(g, 0)).slip == Slip::shape);
  CHECK(find_slip(reshape(sum(g, 0), {1, 4}), sum(g, 0)).slip == Slip::shape);  // nothing was summed
}

TEST_CASE("the other sign is a sign, and a sign comes before a scale of -1") {
  const Tensor right = random({4, 3});
  CHECK(find_slip(-right, right).slip == Slip::sign);
  CHECK(find_slip(-right, right).ratio == 0);
}

TEST_CASE("a constant ratio is a scale with its name") {
  const Tensor right = random({5, 3});
  const SlipContext context{.extents = {{4, "4 is an extent of Q"}, {5, "5 is an extent of X"}}, .constants = {2.0}};
  const auto name = [&](double ratio) {
    const Guess f = find_slip(right * ratio, right, context);
    CHECK(f.slip == Slip::scale);
    CHECK(f.ratio == doctest::Approx(ratio));
    return study::name_of_ratio(f.ratio, context);
  };
  CHECK(name(2) == "sqrt(4)");  // the forward pass scales by 2
  CHECK(name(0.5) == "1/sqrt(4)");
  CHECK(name(-2) == "-sqrt(4)");
  CHECK(name(5) == "5");
  CHECK(name(0.2) == "1/5");
  CHECK(name(std::sqrt(5)) == "sqrt(5)");
  CHECK(name(1 / std::sqrt(5)) == "1/sqrt(5)");
  CHECK(name(1.7).empty());
  CHECK(study::name_of_ratio(2, {}) == "2");
  CHECK(study::name_of_ratio(-0.5, {}) == "-1/2");
  CHECK(find_slip(right * 2.0, right, context).sentence ==
        "the claim is sqrt(4) = 2 times the right value: a factor 1/sqrt(4) is missing (4 is an extent of Q)");
  CHECK(contains(find_slip(right * 1.7, right).sentence, "the claim is 1.7 times the right value"));
}

TEST_CASE("with one entry every claim is a multiple: only a ratio with a name is a scale before a forgotten path") {
  const Tensor right = tensor({5.0}, DType::f64);
  const SlipContext paths{
      .parts = {{"d_x_via_a", tensor({3.7}, DType::f64)}, {"d_x_via_b", tensor({1.3}, DType::f64)}}};
  CHECK(find_slip(tensor({3.7}, DType::f64), right, paths).slip == Slip::path);
  CHECK(find_slip(tensor({10.0}, DType::f64), right, paths).slip == Slip::scale);
  CHECK(find_slip(tensor({4.1}, DType::f64), right, paths).slip == Slip::scale);
}

TEST_CASE("the transpose of a square gradient is a transpose") {
  const Tensor right = random({4, 4});
  CHECK(find_slip(right.T(), right).slip == Slip::transpose);
  const Tensor batch = random({2, 3, 3});
  CHECK(find_slip(batch.T(), batch).slip == Slip::transpose);
}

TEST_CASE("rows of the difference that are multiples of the softmax's rows are a row sum") {
  const Tensor a = softmax(random({3, 5})), g = random({3, 5});
  const Tensor right = a * (g - sum(g * a, -1, keepdim));
  const SlipContext context{.softmaxes = {{"A", a, 1}}};
  const Guess f = find_slip(a * g, right, context);
  CHECK(f.slip == Slip::row_sum);
  CHECK(contains(f.sentence, "a multiple of the row of A"));
  CHECK(find_slip(a * g + random({3, 5}), right, context).slip == Slip::other);
  const Tensor columns = softmax(a, 0);
  CHECK(find_slip(columns * g, columns * (g - sum(g * columns, 0, keepdim)), {.softmaxes = {{"A", columns, 0}}}).slip ==
        Slip::row_sum);
}

TEST_CASE("every proper subset of the paths that is forgotten is found and named") {
  const Tensor a = random({2, 3}), b = random({2, 3}), c = random({2, 3});
  const SlipContext context{.parts = {{"d_X_via_Q", a}, {"d_X_via_K", b}, {"d_X_via_V", c}}};
  const Tensor right = a + b + c;
  const auto sentence = [&](const Tensor& claimed) {
    const Guess f = find_slip(claimed, right, context);
    CHECK(f.slip == Slip::path);
    return f.sentence;
  };
  CHECK(sentence(a + b) == "the gradient is a sum over 3 paths, and d_X_via_V is forgotten");
  CHECK(sentence(b) == "the gradient is a sum over 3 paths, and d_X_via_Q and d_X_via_V are forgotten");
  CHECK(contains(sentence(a + b + c + c), "d_X_via_V is counted twice"));
  CHECK(find_slip(a - b + c, right, context).slip == Slip::sign);
  CHECK(contains(find_slip(a - b + c, right, context).sentence, "d_X_via_K has the other sign"));
  CHECK(find_slip(a + b * 2.5 + c, right, context).slip == Slip::scale);
}

TEST_CASE("a suspect that was claimed is named by its kind, also with a factor besides") {
  const Tensor right = random({3, 3}), altered = random({3, 3});
  const SlipContext context{.suspects = [&](Slip kind, const study::SuspectVisitor& visit) {
    if (kind == Slip::transpose) visit({altered, "K in place of K.T"});
  }};
  CHECK(find_slip(altered, right, context).slip == Slip::transpose);
  CHECK(find_slip(altered, right, context).sentence == "K in place of K.T");
  CHECK(contains(find_slip(altered * -2.0, right, context).sentence, "K in place of K.T; and besides a factor -2"));
}

TEST_CASE("what is nothing of all that is other, with the numbers, and never a crash") {
  const double nan = std::nan("");
  const Tensor right = tensor({1, 2, 4}, DType::f64);
  const Guess f = find_slip(tensor({1, 2, 9}, DType::f64), right);
  CHECK(f.slip == Slip::other);
  CHECK(contains(f.sentence, "5 at [2]: 9 instead of 4"));
  CHECK(contains(find_slip(tensor({1, nan, 9}, DType::f64), right).sentence, "at [1]: nan instead of 2"));
  CHECK(contains(find_slip(zeros({3}, DType::f64), right).sentence, "zero everywhere"));
  CHECK(find_slip(right, zeros({3}, DType::f64)).slip == Slip::other);
  CHECK(find_slip(zeros({0, 3}, DType::f64), zeros({3, 0}, DType::f64)).slip == Slip::shape);
}
