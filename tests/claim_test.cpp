// Claims in the expression language, as `gradus check` judges them.
#include "study/claim.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "file_helpers.hpp"
#include "ops/ops.hpp"
#include "study/exercise.hpp"

using namespace gradus;
using gradus::test::contains;
using gradus::test::error_of;
using study::JudgedClaim;
using study::Scope;
using study::Slip;

namespace {

/// A program with random inputs, derived once.
struct Derived {
  Scope scope;
  study::Derivation derivation;

  Derived(std::string_view program, std::initializer_list<std::pair<const char*, Shape>> inputs,
          const std::vector<std::string>& wrt) {
    Generator generator(11);
    for (const auto& [name, shape] : inputs) scope.set(name, randn(shape, DType::f64, generator));
    derivation = study::derive(program, scope, wrt, {.verify = false});
  }
  std::vector<JudgedClaim> judge(const std::vector<std::string>& claims) const {
    return study::judge(derivation, scope, claims);
  }
  JudgedClaim one(const std::string& claim) const {
    const auto all = judge({claim});
    REQUIRE(all.size() == 1);
    return all[0];
  }
  Slip slip(const std::string& claim) const { return one(claim).guess.slip; }
};

const char* const v4 = "Q = X @ W_Q; K = X @ W_K; V = X @ W_V; S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V";

const Derived& attention() {
  static const Derived once(v4, {{"X", {5, 7}}, {"W_Q", {7, 4}}, {"W_K", {7, 4}}, {"W_V", {7, 4}}},
                            {"W_Q", "W_K", "W_V", "X"});
  return once;
}

}  // namespace

TEST_CASE("a whole derivation by hand, in any right form, is right at every step") {
  const auto all = attention().judge(
      {"d_A = d_Z @ V.T", "d_V = A.T @ d_Z", "d_S = A * d_A - A * sum(A * d_A, axis=1, keepdim=True)",
       "d_Q = d_S @ K / 2", "d_K = (Q.T @ d_S).T / 2", "d_W_Q = X.T @ d_Q", "d_W_K = X.T @ d_S.T @ Q / sqrt(4)",
       "d_W_V = (A @ X).T @ d_Z", "d_X = d_Q @ W_Q.T + d_K @ W_K.T + d_V @ W_V.T"});
  REQUIRE(all.size() == 9);
  for (const JudgedClaim& c : all) {
    CAPTURE(c.name);
    CHECK(c.right);
    CHECK(c.difference.largest < 1e-12);
    CHECK(c.guess.slip == Slip::none);
  }
}

TEST_CASE("E1: a * (1 - a) for the softmax derivative is a row sum") {
  Scope scope;
  scope.set("s", tensor({1, 2, .5}, DType::f64));
  scope.set("cotangent", ones({3}, DType::f64));
  const study::Derivation d = study::derive("a = softmax(s)", scope, {"s"}, {.verify = false});
  const JudgedClaim c = study::judge(d, scope, {"d_s = a * (1 - a)"}).at(0);
  CHECK_FALSE(c.right);
  CHECK(c.guess.slip == Slip::row_sum);
  CHECK(c.claimed.at({0}) == doctest::Approx(.178).epsilon(.005));
  CHECK(c.claimed.at({1}) == doctest::Approx(.234).epsilon(.005));
  CHECK(c.claimed.at({2}) == doctest::Approx(.121).epsilon(.005));
  CHECK(std::abs(c.value.at({0})) < 1e-12);
  const Derived drawn("a = softmax(s)", {{"s", {3}}}, {"s"});
  CHECK(drawn.slip("d_s = a * (1 - a)") == Slip::row_sum);
  CHECK(drawn.slip("d_s = a * (1 - a) * d_a") == Slip::row_sum);
  CHECK(drawn.slip("d_s = a * d_a") == Slip::row_sum);
}

TEST_CASE("E1b: the elementwise softmax derivative inside dW_Q, with K and the scale supplied, is a row sum") {
  const JudgedClaim c = attention().one("d_W_Q = X.T @ ((d_Z @ V.T) * A * (1 - A) @ K) / sqrt(4)");
  CHECK(c.guess.slip == Slip::row_sum);
  CHECK(contains(c.guess.sentence, "d_S = "));
}

TEST_CASE("E2: the printed dW_Q does not fit, which is a verdict with both shapes and no error") {
  const JudgedClaim c = attention().one("d_W_Q = X.T @ (d_Z @ (V.T * (A * (1 - A))))");
  CHECK_FALSE(c.right);
  CHECK(c.name == "d_W_Q");
  CHECK(c.guess.slip == Slip::shape);
  CHECK(contains(c.guess.sentence, "[4, 5]"));
  CHECK(contains(c.guess.sentence, "[5, 5]"));
}

TEST_CASE("E3: without 1/sqrt(d) the ratio is exactly sqrt(d)") {
  const JudgedClaim c = attention().one("d_W_Q = X.T @ d_S @ K");
  CHECK(c.guess.slip == Slip::scale);
  CHECK(c.guess.ratio == doctest::Approx(2).epsilon(1e-12));
  CHECK(contains(c.guess.sentence, "sqrt(4) = 2 times"));
}

TEST_CASE("each kind of slip is named, at the claimed line and through later ones") {
  const Derived& a = attention();
  CHECK(a.slip("d_A = d_Z @ V") == Slip::shape);
  CHECK(a.slip("d_W_Q = d_Q.T @ X") == Slip::shape);
  CHECK(a.slip("d_Q = -d_S @ K / 2") == Slip::sign);
  CHECK(a.slip("d_Q = 2 * d_S @ K") == Slip::scale);
  CHECK(a.slip("d_K = d_S @ Q / 2") == Slip::transpose);
  CHECK(a.slip("d_W_K = X.T @ (d_S @ Q) / 2") == Slip::transpose);
  CHECK(a.slip("d_W_V = X.T @ (A @ d_Z)") == Slip::transpose);
  CHECK(a.slip("d_S = A * d_A") == Slip::row_sum);
  CHECK(a.slip("d_S = A * (d_A - mean(d_A * A, axis=-1, keepdim=True))") == Slip::row_sum);
  CHECK(
      contains(a.one("d_Q = (A * (d_A - sum(d_A * A, axis=0, keepdim=True))) @ K / 2").guess.sentence, "along axis 0"));
  CHECK(a.slip("d_W_K = X.T @ ((A * d_A).T @ Q) / 2") == Slip::row_sum);
  CHECK(a.slip("d_X = d_Q @ W_Q.T + d_V @ W_V.T") == Slip::path);
  CHECK(a.slip("d_X = d_V @ W_V.T") == Slip::path);
  CHECK(a.slip("d_S = A * d_A + 1") == Slip::other);
  const Derived square("y = x ** 2", {{"x", {2, 3}}}, {"x"});
  CHECK(contains(square.one("d_x = 2 * x").guess.sentence, "becomes right when it is multiplied by d_y"));
  const Derived affine("Y = relu(X @ W + b)", {{"X", {5, 3}}, {"W", {3, 4}}, {"b", {4}}}, {"W", "b"});
  CHECK(affine.slip("d_b = where(Y > 0, d_Y, 0)") == Slip::broadcast);
  CHECK(affine.slip("d_b = where(Y > 0, d_Y, 0)[0]") == Slip::broadcast);
  CHECK(affine.slip("d_b = sum(where(Y > 0, d_Y, 0), axis=1)") == Slip::shape);
  const JudgedClaim passed = affine.one("d_W = X.T @ d_Y");
  CHECK(passed.guess.slip == Slip::other);
  CHECK(contains(passed.guess.sentence, "the derivative of relu is missing"));
  CHECK(
      contains(a.one("d_Q = d_S @ K / sqrt(7)").guess.sentence, "sqrt(4)/sqrt(7) = 0.7559 times"));  // width, not head
  const Derived product("y = sum(x * x)", {{"x", {3}}}, {"x"});
  CHECK(product.slip("d_x = x") == Slip::scale);
  CHECK(contains(product.one("d_x = x").guess.sentence, "1/2 = 0.5 times"));
  CHECK(contains(product.one("d_x = x").guess.sentence, "is forgotten"));
  const Derived twice("u = x * 3; y = sin(u) * u", {{"x", {2, 3}}}, {"x"});
  CHECK(twice.slip("d_x = 3 * d_y * sin(u)") == Slip::path);
  CHECK(twice.slip("d_x = 3 * d_y * u * cos(u)") == Slip::path);
  CHECK(twice.slip("d_x = 3 * d_y * (sin(u) - u * cos(u))") == Slip::sign);
}

TEST_CASE("the same slip in both heads is one slip") {
  const Derived heads(
      "S1 = X @ W @ X.T / 2; S2 = X @ U @ X.T / 2; A1 = softmax(S1); A2 = softmax(S2); Z = concat([A1 @ X, A2 @ X], "
      "axis=1)",
      {{"X", {5, 4}}, {"W", {4, 4}}, {"U", {4, 4}}}, {"X"});
  const std::string rest =
      " d_X = (D1 @ X @ W.T + D1.T @ X @ W + D2 @ X @ U.T + D2.T @ X @ U) / 2 + A1.T @ d_Z[:, 0:4] + A2.T @ d_Z[:, "
      "4:8]";
  CHECK(heads
            .one("D1 = A1 * (d_A1 - sum(d_A1 * A1, axis=-1, keepdim=True)); "
                 "D2 = A2 * (d_A2 - sum(d_A2 * A2, axis=-1, keepdim=True));" +
                 rest)
            .right);
  const JudgedClaim wrong = heads.one("D1 = d_A1 * A1 * (1 - A1); D2 = d_A2 * A2 * (1 - A2);" + rest);
  CHECK(wrong.guess.slip == Slip::row_sum);
  CHECK(contains(wrong.guess.sentence, "2 times the same"));
  CHECK(heads.slip("D1 = d_A1 * A1 * (1 - A1); D2 = A2 * (d_A2 - sum(d_A2 * A2, axis=-1, keepdim=True));" + rest) ==
        Slip::row_sum);
}

TEST_CASE("the first wrong claim is the one, and later ones are judged on the right value of it") {
  const auto all =
      attention().judge({"d_A = d_Z @ V.T", "d_S = A * d_A", "d_Q = d_S @ K / 2", "d_W_Q = X.T @ d_Q * 3"});
  REQUIRE(all.size() == 4);
  CHECK(all[0].right);
  CHECK_FALSE(all[1].right);
  CHECK(all[2].right);  // from the right d_S, not from the wrong claim
  CHECK_FALSE(all[3].right);
  CHECK(all[3].guess.slip == Slip::scale);
}

TEST_CASE("one text may hold several claims and names of its own") {
  const auto all =
      attention().judge({"d_A = d_Z @ V.T; inner = sum(d_A * A, axis=-1, keepdim=True)\n"
                         "d_S = A * (d_A - inner)  # by the Jacobian\nd_Q = d_S @ K"});
  REQUIRE(all.size() == 3);
  CHECK(all[0].right);
  CHECK(all[1].name == "d_S");
  CHECK(all[1].right);
  CHECK(all[2].guess.slip == Slip::scale);
  const auto wrong = attention().judge({"d_S = A * d_A; d_Q = d_S @ K / 2"});
  CHECK_FALSE(wrong.at(0).right);
  CHECK(wrong.at(1).right);  // d_S stands for the right value from then on
  CHECK(attention().judge({"d_A = d_Z @ V; d_V = A.T @ d_Z"}).at(0).guess.slip == Slip::shape);
}

TEST_CASE("a claim cannot lean on what it claims") {
  CHECK(contains(error_of([] { attention().judge({"d_S = d_S"}); }), "d_S is what is claimed here"));
  CHECK(contains(error_of([] { attention().judge({"x = d_S; d_S = x"}); }), "d_S is what is claimed here"));
  CHECK(attention().judge({"d_A = d_Z @ V.T; d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))"}).at(1).right);
  CHECK(attention().one("d_X = d_X_via_Q + d_X_via_K + d_X_via_V").right);
}

TEST_CASE("values of the forward pass, paths and cotangents can be claimed too") {
  CHECK(attention().one("A = exp(S) / sum(exp(S), axis=-1, keepdim=True)").right);
  CHECK(attention().one("A = exp(S)").guess.slip != Slip::none);
  CHECK(attention().one("d_X_via_Q = d_Q @ W_Q.T").right);
  CHECK(attention().one("d_X_via_Q = d_Q @ W_Q").guess.slip == Slip::shape);
  CHECK(attention().one("d_Z = cotangent").right);
}

TEST_CASE("a claim about nothing known is an error that lists what can be claimed") {
  const std::string unknown = error_of([] { attention().judge({"d_W = X"}); });
  CHECK(contains(unknown, "there is no d_W"));
  CHECK(contains(unknown, "d_W_Q"));
  CHECK(contains(error_of([] { attention().judge({"X.T @ d_Q"}); }), "names nothing"));
  CHECK_THROWS_AS(attention().judge({""}), Error);
  CHECK_THROWS_AS(attention().judge({"d_S = A * (d_A"}), study::LanguageError);
  CHECK_THROWS_AS(attention().judge({"d_S = A * nowhere"}), study::LanguageError);
  const Derived partial(v4, {{"X", {5, 7}}, {"W_Q", {7, 4}}, {"W_K", {7, 4}}, {"W_V", {7, 4}}}, {"W_Q"});
  CHECK(contains(error_of([&] { partial.judge({"d_X = X"}); }), "add X to --wrt"));
}

TEST_CASE("numbers, truth values and integers are judged as numbers, NaN is never right") {
  const Derived sums("y = sum(x)", {{"x", {3}}}, {"x"});
  CHECK(sums.one("d_x = [1, 1, 1]").right);
  CHECK(sums.one("d_x = [True, True, True]").right);
  CHECK(sums.one("d_x = arange(0, 3) * 0 + 1").right);
  CHECK(sums.one("d_y = 1").right);
  CHECK(contains(sums.one("d_x = 1").guess.sentence, "when expanded"));
  const JudgedClaim c = sums.one("d_x = [1, inf - inf, 1]");
  CHECK_FALSE(c.right);
  CHECK(c.guess.slip == Slip::other);
  CHECK(std::isnan(c.difference.largest));
}

TEST_CASE("every line that a derivation prints is a right claim, forward and backward") {
  for (const auto& e : study::exercises()) {
    CAPTURE(e.name);
    const study::WorkedExercise worked = study::work_out(e, 2);
    Scope scope;
    for (const auto& [name, x] : worked.inputs) scope.set(name, x);
    std::vector<std::string> claims;
    for (const auto& step : worked.derivation.forward) claims.push_back(step.line);
    for (const auto& step : worked.derivation.backward) claims.push_back(step.line);
    const auto all = study::judge(worked.derivation, scope, claims);
    CHECK(all.size() == claims.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK_MESSAGE(all[i].right, claims[i]);
  }
}
