// Pages of derivations in a real browser.
#include <doctest/doctest.h>

#include "file_helpers.hpp"
#include "core/files.hpp"
#include "core/op.hpp"
#include "study/document.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using namespace gradus::study;

TEST_CASE("page") {
  study::Record record;
  Generator g(3);
  const Tensor x = randn({3, 4}, DType::f64, g);
  Tensor wq = randn({4, 2}, DType::f64, g), wk = randn({4, 2}, DType::f64, g), wv = randn({4, 2}, DType::f64, g);
  for (Tensor* w : {&wq, &wk, &wv}) w->requires_grad(true);
  const Tensor q = matmul(x, wq), k = matmul(x, wk), v = matmul(x, wv);
  const Tensor s = matmul(q, k.T()) / std::sqrt(2.0);
  const Tensor a = softmax(s, -1);
  const Tensor y = matmul(a, v);
  for (auto& [n, t] : std::vector<std::pair<const char*, Tensor>>{{"X", x}, {"W_Q", wq}, {"W_K", wk}, {"W_V", wv}, {"Q", q}, {"K", k}, {"V", v}, {"S", s}, {"A", a}, {"Y", y}}) record.name(n, t);
  const Derivation d = derive(y, {wq, wk, wv});
  write_file("/tmp/page.html", to_html(d, {"Attention <test>", "Q = X @ W_Q\nS = Q @ X.T\nA = softmax(S)", Language::en}));
  write_file("/tmp/page_zh.html", to_html(d, {"", "Q = X @ W_Q\nS = Q @ X.T\nA = softmax(S)", Language::zh}));
  write_file("/tmp/page.tex", to_latex_document(d, {"Attention <test>", "Q = X @ W_Q\nS = Q @ X.T\nA = softmax(S)", Language::en}));
}
