// gradus derive as its users meet it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "command_helpers.hpp"
#include "core/arrays.hpp"
#include "core/files.hpp"

using namespace gradus;
using namespace gradus::test;
using nlohmann::json;

namespace {

constexpr const char* attention_example =
    "'Q = X @ W_Q; K = X @ W_K; V = X @ W_V; A = softmax(Q @ K.T / sqrt(4)); A @ V' --wrt W_Q,W_K,W_V "
    "--set 'X=randn(5,7)' --set 'W_Q=randn(7,4)' --set 'W_K=randn(7,4)' --set 'W_V=randn(7,4)'";

std::string derive(const std::string& rest) { return "gradus derive " + std::string(attention_example) + " " + rest; }

}  // namespace

TEST_CASE("derive prints numbered steps with the general rule, the rule in names, shapes and verdicts") {
  const Folder folder;
  const Outcome o = shell(folder, derive(""));
  CHECK(o.status == 0);
  CHECK(o.err == "");
  for (const char* const part :
       {"   1  Q = X @ W_Q", "softmax: y_i = e^(x_i) / Σ_j e^(x_j)  ⇒",
        "d_t3 = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))", "every entry",
        "✓ all steps agree with central differences", "the cotangent of result was drawn at random"})
    CHECK_MESSAGE(o.out.find(part) != std::string::npos, std::string(part));
  CHECK(o.out.find("✗") == std::string::npos);
}

TEST_CASE("derive --json is {steps: [{name, rule, shape, difference, ok}]}, and rule is a statement for eval") {
  const Folder folder;
  const Outcome o = shell(folder, derive("--json"));
  const json d = json::parse(o.out);
  REQUIRE(d["steps"].size() == 11);
  for (const json& step : d["steps"]) {
    CHECK(step["ok"] == true);
    CHECK(step["difference"].get<double>() < 1e-6);
    CHECK(step["rule"].get<std::string>().rfind(step["name"].get<std::string>() + " = ", 0) == 0);
  }
  CHECK(d["steps"].back()["name"] == "d_W_Q");
  CHECK(d["steps"].back()["shape"] == json::array({7, 4}));
}

TEST_CASE("derive writes a page, a LaTeX document, and a NumPy program with its arrays") {
  const Folder folder;
  const Outcome o = shell(folder, derive("--html @/p.html --latex @/d.tex --numpy @/n.py"));
  CHECK(o.status == 0);
  CHECK(lines(o.err) == 3);
  CHECK(read_file(folder / "p.html").rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(read_file(folder / "d.tex").find("\\end{document}") != std::string::npos);
  CHECK(find(load_npz(folder / "n.npz"), "d_W_Q").shape() == Shape{7, 4});
}

TEST_CASE("derive --values shows the matrices, --scalar one entry as sums, --lang zh speaks Chinese") {
  const Folder folder;
  CHECK(shell(folder, "gradus derive 'x * y' --wrt x --set 'x=3' --set 'y=5' --values").out.find("\n          5.0\n") !=
        std::string::npos);
  CHECK(shell(folder, derive("--scalar 'W_Q[0,1]'")).out.rfind("d_W_Q[0,1] = X[0,0]·d_Q[0,1] + ", 0) == 0);
  CHECK(shell(folder, derive("--lang zh")).out.find("全部步骤与中心差分一致") != std::string::npos);
}

TEST_CASE("the mistakes of derive have one line and status 1, wrong usage status 2") {
  const Folder folder;
  const auto mistake = [&](const std::string& arguments, const std::string& text) {
    const Outcome o = shell(folder, "gradus derive " + arguments);
    CHECK_MESSAGE(o.status == 1, arguments);
    CHECK_MESSAGE(o.out == "", arguments);
    CHECK_MESSAGE(o.err.find(text) != std::string::npos, arguments, o.err);
  };
  mistake("'x * 2' --wrt z --set x=1", "there is no z");
  mistake("'argmax(x)' --wrt x --set 'x=[1,2]'", "does not depend on x");
  mistake("'x +' --wrt x --set x=1", "\n   ^");
  mistake("'x' --wrt x --set x=1 --dtype f32", "f64");
  mistake("'x * 2' --wrt x --set x=1 --lang fr", "zh");
  mistake("'x * 2' --wrt x --set x=1 --html no/such/folder/p.html", "no/such/folder");
  mistake("'x * 2' --wrt x --set x=1 --scalar 'x[7]'", "scalar");
  CHECK(shell(folder, "gradus derive 'x * 2'").status == 2);
}

TEST_CASE("a reader that goes away is no mistake") {
  const Folder folder;
  CHECK(shell(folder, derive("--values | head -1; test ${PIPESTATUS[0]} -eq 0")).err == "");
}
