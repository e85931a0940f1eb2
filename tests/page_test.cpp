// Pages of derivations in a real browser.
#include <doctest/doctest.h>

#include "file_helpers.hpp"
#include "core/files.hpp"
#include "core/op.hpp"
#include "study/page.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using namespace gradus::study;

TEST_CASE("page") {
  const auto leaf = [](const char* name, const Tensor& t) { Term x; x.name = name; x.value = t; return std::make_shared<const Term>(x); };
  Derivation d;
  Record record;
  Generator g(3);
  const Tensor x = randn({3, 4}, DType::f64, g), wq = randn({4, 4}, DType::f64, g);
  const Tensor q = matmul(x, wq);
  const Tensor s = matmul(q, x.T());
  const Tensor a = softmax(s, -1);
  d.quantities = {{"X", x, {}, Role::input}, {"W_Q", wq, {}, Role::parameter}, {"Q", q, {}, Role::intermediate, 0}, {"S", s, {}, Role::intermediate, 1}, {"A", a, {}, Role::result, 2}};
  const auto& apps = record.applications();
  auto app = [&](const char* n, int k) { for (auto& p : apps) if (std::string(p.info().name) == n && k-- == 0) return std::make_shared<const Application>(p); throw 1; };
  auto term = [&](std::shared_ptr<const Application> p, std::vector<TermPtr> in) { Term t; t.op = p; t.inputs = in; t.value = p->output; return std::make_shared<const Term>(t); };
  auto m0 = app("matmul", 0), m1 = app("matmul", 1), sm = app("softmax", 0);
  d.forward = {{1, m0, {0, 1}, 2, term(m0, {leaf("X", x), leaf("W_Q", wq)}), "Q = X @ W_Q"}, {2, m1, {2, 0}, 3, term(m1, {leaf("Q", q), leaf("X", x)}), "S = Q @ X.T"}, {3, sm, {3}, 4, term(sm, {leaf("S", s)}), "A = softmax(S)"}};
  d.result = 4; d.cotangent = randn({3,3}, DType::f64, g); d.cotangent_drawn = true; d.parameters = {1};
  BackwardStep seed; seed.number = 4; seed.kind = BackwardStep::Kind::seed; seed.name = "d_A"; seed.quantity = 4; seed.value = d.cotangent;
  BackwardStep r; r.number = 5; r.name = "d_S"; r.quantity = 3; r.through = 2; r.input = 0; r.rule = sm->info().rule; r.term = term(sm, {leaf("A", a), leaf("d_A", d.cotangent)}); r.line = "d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))"; r.value = a * (d.cotangent - sum(d.cotangent * a, -1, true)); r.verdict = {3e-10, true, "every entry"};
  d.backward = {seed, r};
  write_file("/tmp/page.html", to_html(d, {"Attention <test>", "Q = X @ W_Q\nS = Q @ X.T\nA = softmax(S)", Language::en}));
  write_file("/tmp/page_zh.html", to_html(d, {"", "Q = X @ W_Q\nS = Q @ X.T\nA = softmax(S)", Language::zh}));
}
