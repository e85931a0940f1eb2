#include "core/registry.hpp"
#include "draw/formula.hpp"
#include "draw/prose.hpp"
#include "tests/xml.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace gradus;
using namespace gradus::draw;

namespace {

std::string inner(const std::string& latex) {
  const std::string all = formula_to_mathml(latex, false);
  constexpr std::string_view start = "<math display=\"inline\">", end = "</math>";
  REQUIRE(all.substr(0, start.size()) == start);
  return all.substr(start.size(), all.size() - start.size() - end.size());
}

std::string message(const std::string& latex) {
  try {
    parse_formula(latex);
  } catch (const Error& e) { return e.what(); }
  return "";
}

/// [words]{formula}...
std::string marked(std::string_view text) {
  std::string out;
  for (const ProsePart& part : prose_parts(text)) out += part.formula ? "{" + part.text + "}" : part.text;
  return out;
}

}  // namespace

TEST_CASE("the words of every op are formulas that the parser knows, and their MathML is well-formed") {
  for (const OpEntry* op : all_ops()) {
    INFO(op->name());
    for (const char* latex : {op->info->math, op->info->rule}) {
      CHECK_NOTHROW(formula_to_unicode(latex));
      CHECK(gradus_test::xml_fault(formula_to_mathml(latex, true)) == "");
      CHECK(formula_to_unicode(latex).find('\\') == std::string::npos);
      CHECK(formula_to_unicode(latex).find('{') == std::string::npos);
    }
    for (const char* text : {op->info->derivation, op->info->why_kept}) {
      CHECK(gradus_test::xml_fault("<p>" + prose_to_html(text) + "</p>") == "");
      CHECK(prose_to_unicode(text).find('\\') == std::string::npos);
    }
  }
}

TEST_CASE("formulas on a terminal read as in a book") {
  CHECK(formula_to_unicode("\\bar x \\odot e^{x_i}") == "x̄ ⊙ e^(x_i)");
  CHECK(formula_to_unicode("y_i = e^{x_i} / \\sum_j e^{x_j}") == "y_i = e^(x_i) / Σ_j e^(x_j)");
  CHECK(formula_to_unicode("-\\frac{1}{N} \\sum_{i \\le n} |x_i - t_i|") == "-1/N Σ_(i ≤ n) |x_i - t_i|");
  CHECK(formula_to_unicode("\\frac{a + b}{2}") == "(a + b)/2");
  CHECK(formula_to_unicode("\\sqrt{2 / \\pi} \\sqrt x \\sqrt[3]{x}") == "√(2 / π) √x ∛x");
  CHECK(formula_to_unicode("\\partial y / \\partial x") == "∂y / ∂x");
  CHECK(formula_to_unicode("x > 0 ? \\bar y : 0") == "x > 0 ? y\u0304 : 0");
  CHECK(formula_to_unicode("h'(d) = u''") == "h'(d) = u''");
  CHECK(formula_to_unicode("Y = A V, \\quad A = \\operatorname{softmax}(s Q K^{T})") ==
        "Y = A V, A = softmax(s Q K^T)");
  CHECK(formula_to_unicode("(\\bar x_k)_{s_k}") == "(x̄_k)_(s_k)");
  CHECK(formula_to_unicode("\\tilde x \\hat y \\bar{\\mathrm{hidden}}") ==
        "x\u0303 y\u0302 h\u0305i\u0305d\u0305d\u0305e\u0305n\u0305");
  CHECK(formula_to_unicode("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\Rightarrow A^\\top") ==
        "[[a, b], [c, d]] ⇒ A^T");
  CHECK(formula_to_unicode("\\left( \\frac12 \\right)^2 \\mathbf{X}") == "(1/2)^2 X");
  CHECK(formula_to_unicode("\\text{if } x \\ne \\infty, \\dots") == "if x ≠ ∞, …");
  CHECK(formula_to_unicode("x^12") == "x^12");
  CHECK(formula_to_unicode("a = b\nc = d \\\\ e") == "a = b\nc = d\ne");
  CHECK(formula_to_unicode("[0, 1)") == "[0, 1)");
  CHECK(formula_to_unicode("") == "");
}

TEST_CASE("formulas on a page are MathML with bars, limits, fractions and roots") {
  CHECK(inner("\\bar y") == R"(<mover accent="true"><mi>y</mi><mo stretchy="false">‾</mo></mover>)");
  CHECK(inner("x_i^{2}") == "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>");
  CHECK(inner("\\sum_j y_j") == "<mrow><munder><mo>∑</mo><mi>j</mi></munder><msub><mi>y</mi><mi>j</mi></msub></mrow>");
  CHECK(inner("\\frac{1}{n}") == "<mfrac><mn>1</mn><mi>n</mi></mfrac>");
  CHECK(inner("\\sqrt{x + 1}") == "<msqrt><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></msqrt>");
  CHECK(inner("a < b \\& c") == "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi><mo>&amp;</mo><mi>c</mi></mrow>");
  CHECK(inner("\\operatorname{diag}(y)") ==
        R"(<mrow><mi>diag</mi><mrow><mo fence="true" form="prefix" stretchy="false">(</mo><mi>y</mi>)"
        R"(<mo fence="true" form="postfix" stretchy="false">)</mo></mrow></mrow>)");
  CHECK(inner("|\\frac12|").find(R"(form="prefix" stretchy="true">|</mo>)") != std::string::npos);
  CHECK(inner("\\log x") == R"(<mrow><mi>log</mi><mspace width="0.17em"/><mi>x</mi></mrow>)");
  CHECK(inner("\\mathrm{T}") == R"(<mi mathvariant="normal">T</mi>)");
  CHECK(inner("\\text{none}") == "<mtext>none</mtext>");
  CHECK(inner("u'") == "<msup><mi>u</mi><mi>′</mi></msup>");
}

TEST_CASE("a minus is a sign where nothing stands before it, and an operation otherwise") {
  CHECK(inner("-x") == R"(<mrow><mo form="prefix">−</mo><mi>x</mi></mrow>)");
  CHECK(inner("a - b") == "<mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow>");
  CHECK(inner("y = -x") == R"(<mrow><mi>y</mi><mo>=</mo><mo form="prefix">−</mo><mi>x</mi></mrow>)");
}

TEST_CASE("bars are magnitudes where they pair up, also within each other's neighbourhood") {
  CHECK(parse_formula("|x| + |y|").parts.size() == 3);
  CHECK(parse_formula("|x| + |y|").parts[0].kind == Formula::Kind::fence);
  CHECK(parse_formula("(|x_i| / y)").kind == Formula::Kind::row);
  CHECK(formula_to_unicode("e^{-|x|} p(x | y) \\|v\\|") == "e^(-|x|) p(x | y) ‖v‖");
  CHECK(parse_formula("p(x | y)").parts[1].parts[0].parts[1].kind == Formula::Kind::op);
}

TEST_CASE("a fault in a formula is named with its place") {
  CHECK(message("x + \\foo y") ==
        "formula: unknown command \\foo at character 5 of \"x + \\foo y\"; for the name of a "
        "function write \\operatorname{foo}");
  CHECK(message("ȳ \\foo").find("at character 3") != std::string::npos);
  CHECK(message("\\frac{1}").find("\\frac without what it applies to at character 9") != std::string::npos);
  CHECK(message("x_") != "");
  CHECK(message("(x_)").find("_ without what it applies to at character 4") != std::string::npos);
  CHECK(message("x_i_j").find("a second index") != std::string::npos);
  CHECK(message("x^2^3").find("a second power") != std::string::npos);
  CHECK(message("{x").find("a brace that does not close at character 1") != std::string::npos);
  CHECK(message("x}").find("a closing brace without an opening one") != std::string::npos);
  CHECK(message("a & b").find("& outside a matrix") != std::string::npos);
  CHECK(message("\\begin{align} x \\end{align}").find("unknown \\begin{align}") != std::string::npos);
  CHECK(message("\\begin{pmatrix} x").find("does not end") != std::string::npos);
  CHECK(message("\\end{pmatrix}").find("\\end without \\begin") != std::string::npos);
  CHECK(message("\\text{x").find("do not close") != std::string::npos);
  CHECK(message("\\text x").find("without braces") != std::string::npos);
  CHECK(message("x \\").find("a backslash without a command") != std::string::npos);
  CHECK(message("$x$").find("write the formula without $") != std::string::npos);
  CHECK(message(std::string(20000, 'x')).find("20000 bytes") != std::string::npos);
  CHECK(message(std::string(500, '{')).find("nested more than 100 deep") != std::string::npos);
  CHECK(message(std::string(500, '(') + std::string(500, ')')).find("nested more than 100 deep") != std::string::npos);
}

TEST_CASE("no text whatever crashes the parser, and what it accepts gives well-formed MathML") {
  const std::vector<std::string> pieces = {"\\bar",
                                           "\\frac",
                                           "\\sqrt",
                                           "\\sum",
                                           "{",
                                           "}",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "|",
                                           "_",
                                           "^",
                                           "'",
                                           "x",
                                           "12",
                                           " ",
                                           "\n",
                                           "\\\\",
                                           "&",
                                           "-",
                                           "\\left",
                                           ".",
                                           "\\right",
                                           "\\begin{pmatrix}",
                                           "\\end{pmatrix}",
                                           "\\text{a<b}",
                                           "\\|",
                                           "\\{",
                                           "\\}",
                                           "ȳ",
                                           "\x80",
                                           "\\mathbf",
                                           "\u0304",
                                           "~",
                                           "<"};
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int n = static_cast<int>(random() % 9); n >= 0; --n) text += pieces[random() % pieces.size()];
    INFO(text);
    try {
      const std::string page = formula_to_mathml(text, true);
      ++accepted;
      REQUIRE(gradus_test::xml_fault(page) == "");
      formula_to_unicode(text);
    } catch (const Error&) {}
    std::string parts;
    for (const ProsePart& part : prose_parts(text)) parts += part.text;
  }
  CHECK(accepted > 1000);
}

TEST_CASE("formulas are found within sentences, articles and code are left alone") {
  CHECK(marked("Along one row \\partial y_i / \\partial x_j = y_i (\\delta_{i j} - y_j), the matrix y y^{T}. It is") ==
        "Along one row {\\partial y_i / \\partial x_j = y_i (\\delta_{i j} - y_j)}, the matrix {y y^{T}}. It is");
  CHECK(marked("Y = A V gives the rest. A hidden key has A = 0; each row of A is a softmax.") ==
        "{Y = A V} gives the rest. A hidden key has {A = 0}; each row of {A} is a softmax.");
  CHECK(marked("with factor 1 for every i \\ge j, so that") == "with factor 1 for every {i \\ge j}, so that");
  CHECK(marked("written as sqrt(sum(x * x)) has log_target in i64 (b8)") ==
        "written as sqrt(sum(x * x)) has log_target in i64 (b8)");
  CHECK(marked("as \\max(x, 0) + 1, which (for x = 0) is -1") == "as {\\max(x, 0) + 1}, which (for {x = 0}) is -1");
  CHECK(marked("the rules need a and b") == "the rules need {a} and {b}");
  CHECK(marked("y's indices, s-th") == "y's indices, s-th");
  CHECK(marked("") == "");
}

TEST_CASE("sentences are escaped for what shows them") {
  CHECK(prose_to_unicode("a cotangent\n\\bar y here") == "a cotangent y\u0304 here");
  CHECK(prose_to_html("R&D: is <i64> x_i?") ==
        "R&amp;D: is &lt;i64&gt; <span style=\"white-space:nowrap\"><math display=\"inline\"><msub><mi>x</mi><mi>i</mi>"
        "</msub></math>?</span>");
  CHECK(prose_to_markdown("with log_target \\bar y") == "with log\\_target $\\bar y$");
  CHECK(prose_to_latex("100 % of log_target x") == "100 \\% of log\\_target $x$");
}
