// The LaTeX document of a derivation goes through pdflatex.
#include "study/document.hpp"

#include <doctest/doctest.h>

#include "core/files.hpp"
#include "core/random.hpp"
#include "ops/ops.hpp"
#include "tests/file_helpers.hpp"
#include "tests/op_derivations.hpp"

using namespace gradus;
using namespace gradus::study;
using gradus::test::contains;
using gradus::test::Folder;
using gradus::test::put;

namespace {

// What pdflatex says after two passes. Fails where there is none.
std::string compiled(const std::string& document) {
  const Folder folder;
  put(folder / "derivation.tex", document);
  REQUIRE_MESSAGE(std::system("command -v pdflatex >/dev/null") == 0,
                  "pdflatex is not on PATH; apt-get install texlive-latex-base");
  const std::string once =
      fmt::format("cd '{}' && pdflatex -interaction=nonstopmode -halt-on-error derivation.tex >/dev/null </dev/null",
                  folder.path.string());
  for (int pass = 1; pass <= 2; ++pass) {
    const int status = std::system(once.c_str());
    const std::string log = read_file(folder / "derivation.log");
    INFO(log.substr(std::min(log.find("\n!"), log.size())).substr(0, 500));
    CHECK(status == 0);
  }
  CHECK(std::filesystem::file_size(folder / "derivation.pdf") > 10'000);
  return read_file(folder / "derivation.log");
}

// The widest piece that stands out into the margin, in points.
double overfull(const std::string& log) {
  const std::string mark = "Overfull \\hbox (";
  double widest = 0;
  for (std::size_t at = 0; (at = log.find(mark, at)) != std::string::npos; ++at)
    widest = std::max(widest, std::stod(log.substr(at + mark.size(), 20)));
  return widest;
}

}  // namespace

TEST_CASE("the document of attention compiles, with every step and its numbers") {
  Record record;
  Generator generator(5);
  const auto draw = [&](const char* name, const Shape& shape) {
    Tensor x = randn(shape, DType::f64, generator);
    x.requires_grad(true);
    record.name(name, x);
    return x;
  };
  const Tensor x = draw("X", {5, 4}), wq = draw("W_Q", {4, 4}), wk = draw("W_K", {4, 4}), wv = draw("W_V", {4, 4});
  const Tensor a = softmax(matmul(matmul(x, wq), transpose(matmul(x, wk))) / 2.0, -1);
  record.name("A", a);
  const Tensor y = layer_norm(matmul(a, matmul(x, wv)), {}, {});
  const Derivation d = derive(cross_entropy(y, indices({0, 1, 2, 3, 0})), {x, wq, wk, wv});
  const std::string program =
      "A = softmax((X @ W_Q) @ (X @ W_K).T / 2)\n# 100% & more: {a_b} ~ ^2 \\ $5 \"quoted\" <x> α 中\n"
      "loss = cross_entropy(layer_norm(A @ (X @ W_V)), target)";
  const std::string document = to_latex_document(d, {"Attention & 100 % of_it: W_Q^2 <α> 中", program, Language::en});
  CHECK(document.starts_with("% Compile with pdflatex.\n"));
  for (const char* part : {"section*{Given}", "section*{Forward}", "section*{Backward}"})
    CHECK(contains(document, part));
  for (const BackwardStep& step : d.backward) CHECK(contains(document, fmt::format("\\numbered{{{}}}", step.number)));
  const std::string log = compiled(document);
  CHECK(overfull(log) < 20);
}

TEST_CASE(
    "the document compiles with names of every kind, and with tensors that are large, deep, empty or not finite") {
  Record record;
  Generator generator(5);
  Tensor w = randn({20, 30}, DType::f64, generator), b = zeros({0, 3}, DType::f64);
  w.requires_grad(true), b.requires_grad(true);
  const Tensor bad = tensor({1e-9, 1e300, std::numeric_limits<double>::infinity(), std::nan(""), -2.5}, DType::f64);
  record.name("alpha_1", w), record.name("d_h1_2", b), record.name("Omega_lambda_2_x", bad);
  const Tensor deep = reshape(w, {2, 3, 100});
  record.name("_hidden_3d", deep);
  const Tensor result = sum(deep * deep) + sum(b) + sum(select(bad, 0, 0));
  const Derivation d = derive(result, {w, b}, {.cotangent = {}, .seed = 0, .verify = false});
  compiled(to_latex_document(d));
}

TEST_CASE("the Chinese document says how to compile it and keeps its characters") {
  Record record;
  Tensor x = full({2}, 0.5, DType::f64).requires_grad(true);
  record.name("x", x);
  const std::string document = to_latex_document(derive(sum(x * x), {x}), {"注意力", "y = x # 中", Language::zh});
  CHECK(document.starts_with("% Compile with xelatex; needs the package ctex.\n"));
  CHECK(contains(document, "\\usepackage[UTF8]{ctex}"));
  for (const char* part : {"注意力", "反向", "中"}) CHECK(contains(document, part));
}

TEST_CASE("the steps of every op's samples compile, all in one document") {
  std::string all, head;
  gradus_test::for_each_derivation({.verify = false}, [&](const std::string&, const Sample&, const Derivation& d) {
    const std::string document = to_latex_document(d);
    const std::string begin = "\\begin{document}\n";
    const std::size_t body = document.find(begin) + begin.size();
    head = document.substr(0, body);
    all += document.substr(body, document.rfind("\\end{document}") - body);
  });
  CHECK(all.size() > 100'000);
  CHECK(overfull(compiled(head + all + "\\end{document}\n")) < 20);
}
