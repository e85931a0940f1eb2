// gradus eval as its users meet it: values, gradients, files, JSON, exit status.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <regex>

#include <nlohmann/json.hpp>

#include "command_helpers.hpp"
#include "core/arrays.hpp"
#include "core/dtype.hpp"

using namespace gradus;
using namespace gradus::test;
using nlohmann::json;

namespace {

json json_of(const Folder& folder, const std::string& command) {
  const Outcome o = shell(folder, command);
  CHECK_MESSAGE(o.err.empty(), o.err);
  CHECK(lines(o.out) == 1);
  return json::parse(o.out);
}

/// Largest difference relative to max(1, largest magnitude), as the golden values' README measures.
double relative_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const auto x = a.to_vector<double>(), y = b.to_vector<double>();
  double largest = 1, difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  return difference / largest;
}

/// `$ gradus eval ...` and `$ gradus jacobian ...` of a page with the output that it shows below each.
std::vector<std::pair<std::string, std::string>> shown_commands(const std::string& page) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t at = 0; (at = page.find("\n```\n$ gradus ", at)) != std::string::npos;) {
    at += 7;
    std::size_t end = page.find('\n', at);
    while (page[end - 1] == '\\') end = page.find('\n', end + 1);
    const std::string command = page.substr(at, end - at);
    if (contains(command, "gradus eval") || contains(command, "gradus jacobian"))
      found.emplace_back(command, page.substr(end + 1, page.find("```", end) - end - 1));
  }
  return found;
}

/// With rounding errors such as 2.8e-17 left out.
std::string without_rounding(const std::string& text) {
  return std::regex_replace(text, std::regex("[0-9]\\.[0-9]e-[0-9]+ *"), "");
}

}  // namespace

TEST_CASE("what the README shows is what eval and jacobian print") {
  const Folder folder;
  const auto commands = shown_commands(read_file(gradus_test::source_dir() + "/README.md"));
  CHECK(commands.size() >= 3);
  for (const auto& [command, output] : commands)
    CHECK(without_rounding(shell(folder, command + " 2>&1").out) == without_rounding(output));
}

TEST_CASE("eval prints a value as NumPy does, then gradients with their shapes") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus eval 'sum(A @ A)' --set 'A=[[1,2],[3,4]]' --grad A");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  // d sum(A A) / dA = 1 A^T + A^T 1: column sums and row sums.
  CHECK(o.out == "54.0\n\ngrad_A [2, 2] =\n[[ 7. 11.]\n [ 9. 13.]]\n");
  CHECK(shell(folder, "gradus eval 'x * 2' --set 'x=[1, 2]'").out == "[2. 4.]\n");
  CHECK(shell(folder, "gradus eval 'x * y' --set 'x=3' --set 'y=[2]' --grad x,y").out ==
        "[6.]\n\ngrad_x = 2.0\n\ngrad_y [1] = [3.]\n");
}

TEST_CASE("eval prints plain values as the language writes them") {
  const Folder folder;
  CHECK(shell(folder, "gradus eval '7 / 2'").out == "3.5\n");
  CHECK(shell(folder, "gradus eval '2 < 3'").out == "True\n");
  CHECK(shell(folder, "gradus eval None").out == "None\n");
  CHECK(shell(folder, "gradus eval '\"text\"'").out == "text\n");
  CHECK(shell(folder, "gradus eval '[1, [2]]'").out == "[1, [2]]\n");
  CHECK(shell(folder, "gradus eval 'causal() & window(1, 0)'").out == "causal() & window(1, 0)\n");
  CHECK(shell(folder, "gradus eval 'x > 1' --set 'x=[1, 2]'").out == "[False  True]\n");
}

TEST_CASE("eval shows a mask whose shape is known as a grid, and its help lists the builders") {
  const Folder folder;
  CHECK(shell(folder, "gradus eval 'causal() & keep([[True,False],[True,True]])'").out ==
        "causal() & keep([2, 2])\n#.\n##\n");
  CHECK(shell(folder, "gradus eval '~keep([[True,False]])'").out == "~keep([1, 2])\n.#\n");
  CHECK(shell(folder, "gradus eval 'causal() & keep([[True,False]])'").out == "causal() & keep([1, 2])\n");
  CHECK(contains(shell(folder, "gradus eval --help").out, "full(shape, value, dtype=None)"));
}

TEST_CASE("an expression may begin with a minus") {
  const Folder folder;
  CHECK(shell(folder, "gradus eval -3").out == "-3\n");
  CHECK(shell(folder, "gradus eval '-A + 1' --set A=3").out == "-2\n");
  CHECK(shell(folder, "gradus eval --set A=3 '-A'").out == "-3\n");
  CHECK(shell(folder, "gradus eval -- '--3'").out == "3\n");
}

TEST_CASE("eval reads its program from standard input where EXPR is -") {
  const Folder folder;
  const Outcome o = shell(folder, "printf 'a = 2\\n# a comment\\n\\na ** 3\\n' | gradus eval -");
  CHECK(o.status == 0);
  CHECK(o.out == "8\n");
  CHECK(shell(folder, "printf 'a = 2\\nb' | gradus eval -").err ==
        "gradus: line 2, column 1: no variable is named b; give it: b = ...\nb\n^\n");
}

TEST_CASE("eval --json is {result, grads}, each {shape, dtype, values} with nested lists") {
  const Folder folder;
  const json o = json_of(folder, "gradus eval 'sum(A * [[2, 3]])' --set 'A=[[1, 2], [3, 4]]' --grad A --json");
  CHECK(o == json::parse(R"({"result": {"shape": [], "dtype": "f64", "values": 26.0},
                             "grads": {"A": {"shape": [2, 2], "dtype": "f64", "values": [[2.0, 3.0], [2.0, 3.0]]}}})"));
  CHECK(contains(shell(folder, "gradus eval 1 --json").out,
                 R"({"result":{"shape":[],"dtype":"f64","values":1.0},"grads":{}})"));
  CHECK(json_of(folder, "gradus eval '[1 / 0, -1 / 0, nan, 0.5]' --json")["result"]["values"] ==
        json::parse(R"(["inf", "-inf", "nan", 0.5])"));
  CHECK(json_of(folder, "gradus eval '[True, False]' --json")["result"] ==
        json::parse(R"({"shape": [2], "dtype": "b8", "values": [true, false]})"));
  CHECK(json_of(folder, "gradus eval 'argmax([[1, 3]])' --json")["result"] ==
        json::parse(R"({"shape": [], "dtype": "i64", "values": 1})"));
  CHECK(json_of(folder, "gradus eval 'zeros(2, 0)' --json")["result"]["values"] == json::parse("[[], []]"));
  CHECK(json_of(folder, "gradus eval 'full([1], 0.1)' --dtype f32 --json")["result"] ==
        json::parse(R"({"shape": [1], "dtype": "f32", "values": [0.10000000149011612]})"));
}

TEST_CASE(
    "arrays of files: floats take --dtype, integers i64, truth values b8, other names are left out, later files win") {
  const Folder folder;
  save_npz(folder / "a.npz", {{"x", tensor({1, 2}, DType::f32)},
                              {"i", indices({1, 0})},
                              {"b", tensor({1, 0}, DType::b8)},
                              {"no name", tensor({1}, DType::f64)},
                              {"h.0.w", tensor({1}, DType::f64)}});
  save_npz(folder / "b.npz", {{"x", tensor({5, 6}, DType::f64)}});
  const auto dtype = [&](const std::string& what, const std::string& more = "") {
    return json_of(folder, "gradus eval " + what + " --in @/a.npz --json" + more)["result"]["dtype"].get<std::string>();
  };
  CHECK(dtype("x") == "f64");
  CHECK(dtype("x", " --dtype f32") == "f32");
  CHECK(dtype("i") == "i64");
  CHECK(dtype("b") == "b8");
  CHECK(shell(folder, "gradus eval x --in @/a.npz --in @/b.npz").out == "[5. 6.]\n");
  CHECK(shell(folder, "gradus eval x --in @/b.npz --in @/a.npz").out == "[1. 2.]\n");
  CHECK(shell(folder, "gradus eval x --set x=7 --in @/a.npz").out == "7\n");
  CHECK(shell(folder, "gradus eval 'x[i[0]]' --in @/a.npz").out == "2.0\n");
  CHECK(shell(folder, "gradus eval 'x[x[0]]' --in @/a.npz").status == 1);
  CHECK(shell(folder, "gradus eval 'index_select(x, i, 0)' --in @/a.npz").out == "[2. 1.]\n");
}

TEST_CASE("a value of the program is a leaf when nothing before it requires a gradient, else a step of the graph") {
  const Folder folder;
  const std::string program = "gradus eval 'S = Q * 2; A = S * S; sum(A)' --set 'Q=[1, 3]' ";
  CHECK(shell(folder, program + "--grad S").out == "40.0\n\ngrad_S [2] = [ 4. 12.]\n");
  CHECK(shell(folder, program + "--grad Q,S,A").out ==
        "40.0\n\ngrad_Q [2] = [ 8. 24.]\n\ngrad_S [2] = [ 4. 12.]\n\ngrad_A [2] = [1. 1.]\n");
  CHECK(shell(folder, "gradus eval 'a = 3; b = [1, 2]; sum(b) * a ** 2' --grad a,b").out ==
        "27.0\n\ngrad_a = 18.0\n\ngrad_b [2] = [9. 9.]\n");
}

TEST_CASE("an array named cotangent is always used; without it the result has one element") {
  const Folder folder;
  const std::string program = "gradus eval 'A * A' --set 'A=[1, 2]' --grad A ";
  CHECK(shell(folder, program + "--set 'cotangent=[10, 1]'").out == "[1. 4.]\n\ngrad_A [2] = [20.  4.]\n");
  CHECK(shell(folder, "gradus eval 'sum(A * A)' --set 'A=[1, 2]' --set cotangent=3 --grad A").out ==
        "5.0\n\ngrad_A [2] = [ 6. 12.]\n");
  const Outcome missing = shell(folder, program);
  CHECK(missing.status == 1);
  CHECK(missing.out.empty());
  CHECK(contains(missing.err, "an array named cotangent of that shape"));
  CHECK(contains(shell(folder, program + "--set 'cotangent=[1, 2, 3]'").err, "shape [3] for a result of shape [2]"));
}

TEST_CASE("a result that does not depend on the variable has gradient zero") {
  const Folder folder;
  CHECK(shell(folder, "gradus eval 'sum(B)' --set 'A=[1, 2]; B=[3]' --grad A,B").out ==
        "3.0\n\ngrad_A [2] = [0. 0.]\n\ngrad_B [1] = [1.]\n");
  CHECK(shell(folder, "gradus eval 3 --set 'A=[1, 2]' --grad A").out == "3\n\ngrad_A [2] = [0. 0.]\n");
}

TEST_CASE("--seed decides what randn and dropout draw, and dropout does not draw randn's numbers") {
  const Folder folder;
  const auto drawn = [&](const char* program, int seed) {
    return shell(folder, fmt::format("gradus eval '{}' --seed {}", program, seed)).out;
  };
  for (const char* program : {"randn(4)", "dropout(ones(64))"}) {
    CHECK(drawn(program, 3) == drawn(program, 3));
    CHECK(drawn(program, 3) != drawn(program, 4));
  }
  // Were both from one key, exactly the numbers below the median would be dropped.
  const Outcome both = shell(folder, "gradus eval 'u = rand(1000); d = dropout(ones(1000)) > 0; sum(d == (u > 0.5))'");
  CHECK(std::abs(std::stoi(both.out) - 500) < 100);
}

TEST_CASE("--out writes result and gradients, whole or not at all") {
  const Folder folder;
  CHECK(shell(folder, "gradus eval 'y = A @ A; sum(y)' --set 'A=[[1,2],[3,4]]' --grad A,y --out @/o.npz").status == 0);
  const NamedTensors arrays = load_npz(folder / "o.npz");
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "result");
  CHECK(arrays[0].second.rank() == 0);
  CHECK(to_string(find(arrays, "grad_A")) == "[[ 7. 11.]\n [ 9. 13.]] (f64)");
  CHECK(find(arrays, "grad_y").shape() == Shape{2, 2});
  CHECK(shell(folder, "gradus eval 'sum(result * grad_y)' --in @/o.npz").out == "216.0\n");
  const Outcome bad = shell(folder, "gradus eval 1 --out @/none/o.npz");
  CHECK(bad.status == 1);
  CHECK(bad.out.empty());
  CHECK(lines(bad.err) == 1);
}

TEST_CASE("mistakes have status 1 and one line, faults in a text its excerpt too; wrong usage has status 2") {
  const Folder folder;
  put(folder / "bad.npz", "no zip");
  const std::pair<const char*, const char*> mistakes[] = {
      {"gradus eval 1 --in @/none.npz", "none.npz"},
      {"gradus eval 1 --in @/bad.npz", "bad.npz"},
      {"gradus eval 'sum(A)' --set 'A=[1]' --grad B", "--grad B: no variable has that name; the variables are A"},
      {"gradus eval 'A = A * 2; sum(A)' --set 'A=[1]' --grad A", "A gets 2 values"},
      {"gradus eval 'sum(A)' --set 'A=[True]' --grad A", "A: it is b8 and has no gradient"},
      {"gradus eval 'sum(A)' --set \"A='text'\" --grad A", "A: it is a string"},
      {"gradus eval 'argmax(A)' --set 'A=[1, 2]' --grad A", "the result is i64"},
      {"gradus eval 'causal()' --json", "result: it is a mask"},
      {"gradus eval 'None' --out @/o.npz", "result: it is None"}};
  for (const auto& given : mistakes) {
    const std::string command = given.first, says = given.second;
    CAPTURE(command);
    const Outcome o = shell(folder, command);
    CHECK(o.status == 1);
    CHECK(o.out.empty());
    CHECK_MESSAGE(lines(o.err) == 1, o.err);
    CHECK_MESSAGE(contains(o.err, says), o.err);
  }
  CHECK(shell(folder, "gradus eval 'softmx(A)' --set 'A=[1]'").err ==
        "gradus: column 1: no function is named softmx; did you mean softmax?\nsoftmx(A)\n^\n");
  CHECK(shell(folder, "gradus eval 1 --set 'A=[1, '").err ==
        "gradus: --set: column 3: [ is not closed; write ]\nA=[1, \n  ^\n");
  CHECK(contains(shell(folder, "gradus eval 1 --set '3'").err, "nothing is assigned"));
  CHECK(contains(shell(folder, "gradus eval 1 --set 'A=[[1],[2,3]]'").err, "rows of 1 and 2 items"));
  CHECK(shell(folder, "gradus eval 1 --set '3'").status == 1);
  for (const char* wrong :
       {"gradus eval", "gradus eval 1 2", "gradus eval 1 --dtype f16", "gradus eval 1 --seed x", "gradus eval 1 --grad",
        "gradus eval 1 --seed -1", "gradus eval --no 1", "gradus eval 1 -x", "gradus eval -x -y"}) {
    CAPTURE(std::string(wrong));
    const Outcome o = shell(folder, wrong);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(lines(o.err) == 1);
  }
}

TEST_CASE("through files alone, eval reproduces values and gradients that PyTorch computed") {
  struct Golden {
    const char* file;
    const char* program;
    std::vector<std::string> inputs;
  };
  const Golden cases[] = {
      {"attention_causal", "attention(q, k, v, mask=causal())", {"q", "k", "v"}},
      {"attention_causal",
       "S = q @ k.T / sqrt(q_width); A = softmax(where(tril(ones(L, L)) > 0, S, -inf)); A @ v",
       {"q", "k", "v"}},
      {"attention_keep", "attention(q, k, v, mask=keep)", {"q", "k", "v"}},
      {"op_layer_norm", "layer_norm(x, weight, bias)", {"x", "weight", "bias"}},
      {"op_layer_norm",
       "c = x - mean(x, axis=-1, keepdim=True); c / sqrt(mean(c ** 2, axis=-1, keepdim=True) + 1e-5) * weight + bias",
       {"x", "weight", "bias"}},
      {"op_softmax_axis2", "softmax(x, axis=2)", {"x"}}};
  const Folder folder;
  for (const Golden& g : cases) {
    CAPTURE(std::string(g.program));
    const std::string file = golden((std::string(g.file) + ".npz").c_str()).string();
    const NamedTensors expected = load_npz(file);
    const Tensor& first = expected.front().second;
    std::string wanted;
    for (const std::string& name : g.inputs) wanted += (wanted.empty() ? "" : ",") + name;
    const Outcome o = shell(
        folder, fmt::format("gradus eval {} --in {} --set 'cotangent=cot; q_width={}; L={}' --grad {} --out @/o.npz",
                            shell_word(g.program), shell_word(file), first.size(-1), first.size(-2), wanted));
    REQUIRE_MESSAGE(o.status == 0, o.err);
    const NamedTensors found = load_npz(folder / "o.npz");
    CHECK(relative_difference(find(found, "result"), find(expected, "out")) < 1e-10);
    for (const std::string& name : g.inputs)
      CHECK(relative_difference(find(found, "grad_" + name), find(expected, "grad_" + name)) < 1e-10);
  }
}
