// Derivations of programs, and their lines as statements of the language.
#include "study/derivation_text.hpp"

#include <doctest/doctest.h>

#include "core/differences.hpp"
#include "ops/ops.hpp"
#include "tests/op_derivations.hpp"

using namespace gradus;
using study::Derivation;
using study::Scope;

namespace {

bool same(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  return difference(x, y) <= 1e-12;
}

// Runs every line, forward and backward, on the values that it names, and returns the first that gives something else.
std::string first_line_that_differs(const Derivation& d) {
  Scope scope;
  for (const study::Quantity& q : d.quantities) scope.set(q.name, q.value);
  scope.set("cotangent", d.cotangent);
  const auto check = [&](const std::string& line, const std::string& name, const Tensor& expected) -> std::string {
    try {
      if (!same(study::as_result(study::evaluate(line, scope), "line", DType::f64), expected)) return line;
    } catch (const Error& e) { return line + ": " + e.what(); }
    scope.set(name, expected);
    return "";
  };
  for (const study::ForwardStep& s : d.forward) {
    const study::Quantity& q = d.quantities[static_cast<std::size_t>(s.output)];
    if (std::string bad = check(s.line, q.name, q.value); !bad.empty()) return bad;
  }
  for (const study::BackwardStep& s : d.backward)
    if (std::string bad = check(s.line, s.name, s.value); !bad.empty()) return bad;
  return "";
}

Scope drawn(const std::vector<std::pair<std::string, Shape>>& variables) {
  Scope scope;
  for (const auto& [name, shape] : variables) scope.set(name, randn(shape, DType::f64, scope.generator));
  return scope;
}

constexpr const char* multi_head = R"(
Q = permute(reshape(X @ W_Q, [2, 4, 2, 3]), [0, 2, 1, 3])
K = permute(reshape(X @ W_K, [2, 4, 2, 3]), [0, 2, 1, 3])
V = permute(reshape(X @ W_V, [2, 4, 2, 3]), [0, 2, 1, 3])
heads = reshape(permute(attention(Q, K, V, causal=True), [0, 2, 1, 3]), [2, 4, 6])
Y = layer_norm(X + linear(heads, W_O), gamma, beta)
loss = cross_entropy(Y @ W_out, [[0, 1, 2, 1], [2, 2, 0, 1]])
)";

}  // namespace

TEST_CASE("every line of a derivation is a statement that gives the value of its step, for every op and sample") {
  gradus_test::for_each_derivation({.seed = 5, .verify = false},
                                   [](const std::string& name, const Sample&, const Derivation& d) {
                                     INFO(name);
                                     CHECK(first_line_that_differs(d) == "");
                                   });
}

TEST_CASE("a multi-head block with layer norm and cross-entropy is derived in over thirty steps, each ticked") {
  Scope scope = drawn({{"X", {2, 4, 6}},
                       {"W_Q", {6, 6}},
                       {"W_K", {6, 6}},
                       {"W_V", {6, 6}},
                       {"W_O", {6, 6}},
                       {"gamma", {6}},
                       {"beta", {6}},
                       {"W_out", {6, 3}}});
  const Derivation d = study::derive(multi_head, scope, {"W_Q", "W_K", "W_V", "W_O", "gamma", "beta", "W_out", "X"});
  CHECK(d.backward.size() > 30);
  CHECK(d.crosses() == 0);
  CHECK(first_line_that_differs(d) == "");
  for (const char* const name : {"Q", "K", "V", "heads", "Y", "loss"}) CHECK(d.find(name) >= 0);
}

TEST_CASE("names are the user's; a name assigned twice is told apart; an alias names the same value") {
  Scope scope = drawn({{"x", {3}}});
  const Derivation d = study::derive("y = exp(x); same = y; y = y * same; sum(y)", scope, {"x"});
  CHECK(d.forward[0].line == "y = exp(x)");
  CHECK(d.forward[1].line == "y_2 = y * y");
  CHECK(d.forward[2].line == "result = sum(y_2)");
  CHECK(d.find("same") == d.find("y"));
  CHECK(d.crosses() == 0);
}

TEST_CASE("a gradient over several paths says which") {
  Scope scope = drawn({{"x", {2}}});
  const Derivation d = study::derive("a = sin(x); b = a * x; sum(b + x)", scope, {"x"});
  const study::BackwardStep& last = d.backward.back();
  CHECK(last.line == "d_x = d_x_via_t1 + d_x_via_b + d_x_via_a");
  CHECK(last.parts.size() == 3);
}

TEST_CASE("a parameter that the result does not depend on has a zero gradient, not an error") {
  Scope scope = drawn({{"x", {2}}, {"w", {3}}});
  const Derivation d = study::derive("sum(x * x)", scope, {"x", "w"});
  CHECK(same(d.value_of("d_w"), zeros({3}, DType::f64)));
  CHECK(d.crosses() == 0);
}

TEST_CASE("the gradient of an assigned value stops there") {
  Scope scope = drawn({{"x", {2, 2}}});
  const Derivation d = study::derive("h = tanh(x); sum(h @ h)", scope, {"h"});
  CHECK(d.value_of("d_x").defined() == false);
  CHECK(same(d.value_of("d_h"), d.backward.back().value));
  CHECK(d.crosses() == 0);
}

TEST_CASE("the scope's cotangent is used, whatever the shape of the result") {
  Scope scope = drawn({{"x", {2}}});
  scope.set("cotangent", tensor({1.0, -2.0}, DType::f64));
  const Derivation d = study::derive("y = 3 * x", scope, {"x"});
  CHECK(d.value_of("d_x").at({1}) == doctest::Approx(-6));
  CHECK(d.cotangent_drawn == false);
}

TEST_CASE("at a kink the verdict says so, and a wrong side is not accepted elsewhere") {
  Scope scope;
  scope.set("x", tensor({0.0, 1.0, -1.0}, DType::f64));
  const Derivation d = study::derive("relu(x)", scope, {"x"});
  CHECK(d.backward.back().verdict.how == "kink");
  CHECK(d.backward.back().verdict.ok);
}

TEST_CASE("mistakes are named") {
  Scope scope = drawn({{"x", {2}}});
  CHECK_THROWS_WITH_AS(study::derive("sum(x)", scope, {"z"}), doctest::Contains("z"), Error);
  CHECK_THROWS_WITH_AS(study::derive("argmax(x)", scope, {"x"}), doctest::Contains("does not depend"), Error);
  scope.set("cotangent", tensor({1.0, 2.0, 3.0}, DType::f64));
  CHECK_THROWS_WITH_AS(study::derive("x * 2", scope, {"x"}), doctest::Contains("[3]"), Error);
}

TEST_CASE("one entry is a sum of products of entries, with the numbers") {
  Scope scope;
  scope.set("X", tensor({{1.0, 2.0}, {3.0, 4.0}}, DType::f64));
  scope.set("W", tensor({0.5, -1.0}, {2, 1}, DType::f64));
  scope.set("cotangent", tensor({10.0, 100.0}, {2, 1}, DType::f64));
  const Derivation d = study::derive("Y = X @ W", scope, {"W"});
  CHECK(study::scalar_text(d, "W[1,0]") ==
        "d_W[1,0] = X[0,1]·d_Y[0,0] + X[1,1]·d_Y[1,0]\n"
        "         = 2·10 + 4·100\n"
        "         = 420\n"
        "d_Y[0,0] = cotangent[0,0]\n"
        "         = 10\n"
        "         = 10\n"
        "d_Y[1,0] = cotangent[1,0]\n"
        "         = 100\n"
        "         = 100\n");
  CHECK_THROWS_WITH_AS(study::scalar_text(d, "W[2,0]"), doctest::Contains("out of range"), Error);
  CHECK_THROWS_WITH_AS(study::scalar_text(d, "W[0"), doctest::Contains("no entry"), Error);
  CHECK_THROWS_WITH_AS(study::scalar_text(d, "Q[0]"), doctest::Contains("no gradient"), Error);
}
