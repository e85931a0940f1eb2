// einsum against plain loops over all indices, and its errors.
#include "core/check.hpp"
#include "core/grad.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

using namespace gradus;

// y[out] = sum over all indices of the product, by one loop over every combination. Letters only, output explicit.
std::vector<double> by_loops(const std::vector<std::string>& terms, const std::string& out,
                             const std::vector<Tensor>& x) {
  std::map<char, std::int64_t> extent;
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (std::size_t i = 0; i < terms[k].size(); ++i) extent[terms[k][i]] = x[k].shape()[static_cast<int>(i)];
  std::int64_t total = 1, size = 1;
  for (const auto& [c, n] : extent) total *= n;
  for (const char c : out) size *= extent[c];
  std::vector<double> y(static_cast<std::size_t>(size), 0.0);
  for (std::int64_t k = 0; k < total; ++k) {
    std::map<char, std::int64_t> at;
    std::int64_t rest = k;
    for (const auto& [c, n] : extent) at[c] = rest % n, rest /= n;
    double product = 1;
    for (std::size_t j = 0; j < terms.size(); ++j) {
      std::int64_t offset = x[j].layout().offset;
      for (std::size_t i = 0; i < terms[j].size(); ++i) offset += at[terms[j][i]] * x[j].strides()[static_cast<int>(i)];
      product *= (x[j].data<double>() - x[j].layout().offset)[offset];
    }
    std::int64_t place = 0;
    for (const char c : out) place = place * extent[c] + at[c];
    y[static_cast<std::size_t>(place)] += product;
  }
  return y;
}

struct Contraction {
  std::vector<std::string> terms;
  std::string out;
};
const std::map<char, std::int64_t> extents{{'a', 2}, {'b', 3}, {'c', 4}, {'d', 2},
                                           {'i', 3}, {'j', 4}, {'k', 2}, {'l', 3}};

Tensor operand_for(const std::string& term) {
  Shape shape;
  for (const char c : term) shape.push_back(extents.at(c));
  return randn(shape, DType::f64);
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("einsum is the sum over all indices, for contractions of every kind, forward, backward and twice") {
  const std::vector<Contraction> cases{
      {{"i"}, "i"},
      {{"ij"}, "ji"},
      {{"ij"}, "j"},
      {{"ii"}, "i"},
      {{"ii"}, ""},
      {{"iji"}, "j"},
      {{"iij"}, "ji"},
      {{"iii"}, "i"},
      {{"ij", "jk"}, "ik"},
      {{"ij", "jk"}, "ki"},
      {{"ij", "kj"}, ""},
      {{"ij", "ij"}, "ij"},
      {{"ij", "ij"}, "i"},
      {{"ij", "ji"}, ""},
      {{"i", "j"}, "ji"},
      {{"i", "i"}, ""},
      {{"", "ij"}, "j"},
      {{"abij", "abjk"}, "abik"},
      {{"aibj", "akbj"}, "abik"},
      {{"abij", "jk"}, "akbi"},
      {{"ai", "aj"}, "aij"},
      {{"aij", "bjk"}, "abik"},
      {{"ij", "jk", "kl"}, "il"},
      {{"ij", "jk", "kl"}, "li"},
      {{"ij", "ik", "il"}, "jkl"},
      {{"i", "i", "i"}, "i"},
      {{"ai", "bi", "ci"}, "abc"},
      {{"iij", "jkk"}, "ik"},
      {{"ij", "j", "i"}, ""},
      {{"ab", "cd", "bc"}, "ad"},
      {{"ijij"}, "ij"},
      {{"iij", "ab"}, "a"},
  };
  for (const auto& [terms, out] : cases) {
    std::vector<Tensor> x;
    for (const std::string& term : terms) x.push_back(operand_for(term));
    const std::string equation = fmt::format("{}->{}", fmt::join(terms, ","), out);
    INFO(equation);
    const std::vector<double> y = einsum(equation, x).to_vector<double>(), expected = by_loops(terms, out, x);
    REQUIRE(y.size() == expected.size());
    CHECK(difference(y, expected) < 1e-12);
    const TensorFunction f = [&](std::span<const Tensor> t) { return einsum(equation, t); };
    const CheckResult first = gradcheck(f, x), second = gradgradcheck(f, x);
    CHECK_MESSAGE(first.ok, first.text);
    CHECK_MESSAGE(second.ok, second.text);
  }
}

TEST_CASE("spaces, ellipses and an implicit output mean what they mean in NumPy") {
  const Tensor a = randn({2, 3, 4}, DType::f64), b = randn({4, 5}, DType::f64);
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.shape() == y.shape() && difference(x.to_vector<double>(), y.to_vector<double>()) < 1e-12;
  };
  CHECK(same(einsum(" ...ij , jk -> ...ik", {a, b}), matmul(a, b)));
  CHECK(same(einsum("...j,jk", {a, b}), matmul(a, b)));
  CHECK(same(einsum("...->...", {a}), a));
  CHECK(same(einsum("i...->...i", {a}), permute(a, {1, 2, 0})));
  CHECK(same(einsum("ba", {b}), transpose(b)));
  CHECK(same(einsum("bA,bc", {b, b}), einsum("bA,bc->Ac", {b, b})));
  CHECK(same(einsum("ij,kj", {b, b}), matmul(b, transpose(b))));
  CHECK(same(einsum("...i,...i->...", {a, select(a, 0, 0)}), sum(a * select(a, 0, 0), -1)));
}

TEST_CASE("a chain of products never makes an outer product on its way back") {
  const std::int64_t n = 60;
  std::vector<Tensor> x;
  for (int k = 0; k < 4; ++k) x.push_back(randn({n, n}).requires_grad(true));
  const Tensor y = einsum("ij,jk,kl,lm->im", x);
  reset_peak_memory();
  const std::int64_t before = memory_use().live;
  grad(y, x, ones_like(y));
  CHECK(memory_use().peak - before < 20 * n * n * 4);
}

TEST_CASE("einsum's errors name the equation and the shapes") {
  const auto text = [](std::string_view equation, std::initializer_list<Shape> shapes) {
    std::vector<Tensor> x;
    for (const Shape& shape : shapes) x.push_back(zeros(shape));
    return error_of([&] { einsum(equation, x); });
  };
  CHECK(text("ij,jk->ik", {{2, 3}, {4, 5}}) ==
        "einsum: \"ij,jk->ik\" with shapes [2, 3], [4, 5]: index j has extent 3 in operand 0 and 4 in operand 1; make "
        "them equal");
  CHECK(text("ij,ij->ij", {{2, 3}, {1, 3}}).find("an extent of 1 is repeated by expand only") != std::string::npos);
  CHECK(text("...i,...i", {{2, 3}, {4, 3}}).find("an axis under \"...\" has extent 2") != std::string::npos);
  CHECK(text("ii", {{2, 3}}).find("index i has extent 2 in operand 0 and 3 in operand 0") != std::string::npos);
  CHECK(text("i->j", {{2}}).find("output index j stands in no input") != std::string::npos);
  CHECK(text("i->i->i", {{2}}).find("is out of place") != std::string::npos);
  CHECK(text("i.i", {{2}}).find("'.' at position 1 is out of place") != std::string::npos);
  CHECK(text("......", {{2}}).find("is out of place") != std::string::npos);
  CHECK(text("", {{2}}).find("term \"\" names 0 axes, operand 0 has 1") != std::string::npos);
  CHECK(text("i,", {{2}}).find("2 terms for 1 operands") != std::string::npos);
  CHECK(text("...i->i", {{2, 3}}).find("the output lacks \"...\"") != std::string::npos);
  CHECK(text("abc,def,ghi->abcdefghi", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}).find("more than 8 axes") !=
        std::string::npos);
}
