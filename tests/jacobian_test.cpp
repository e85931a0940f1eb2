// Jacobians and what is said of them: the right facts, and none that is nearly right.
#include "study/jacobian.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "command_helpers.hpp"
#include "core/arrays.hpp"
#include "study/program_function.hpp"

using namespace gradus;
using namespace gradus::test;
using nlohmann::json;
using study::Jacobian;
using study::Matrix;

namespace {

Jacobian of(const std::string& program, const std::string& sets, const std::string& wrt = "x") {
  study::Scope scope;
  study::evaluate(sets, scope);
  return study::jacobian(program, scope, wrt);
}

std::set<std::string> names(const Jacobian& j) {
  std::set<std::string> found;
  for (const study::Fact& f : j.facts) found.insert(f.name);
  return found;
}

std::string text_of(const Jacobian& j, const std::string& name) {
  for (const study::Fact& f : j.facts)
    if (f.name == name) return f.text;
  return "no such fact";
}

using Names = std::set<std::string>;

Matrix matrix(std::int64_t rows, std::int64_t columns, std::vector<double> values) {
  Matrix m(rows, columns);
  m.values = std::move(values);
  return m;
}

}  // namespace

TEST_CASE("softmax: each row's block is diag(a) - a a^T, with all that follows") {
  const Jacobian j = of("softmax(x)", "x = [[1, 2, 0.5], [3, 4, 5]]");
  CHECK(names(j) == Names{"softmax", "row_sums", "column_sums", "symmetric", "block_diagonal"});
  CHECK(text_of(j, "softmax") == "each row's block equals diag(a) - a a^T");
  CHECK(text_of(j, "row_sums") == "every row sums to 0");
  CHECK(j.rank == 4);
  CHECK(j.rank_text == "rank 4 of 6; each of the 2 diagonal blocks: 2 of 3");
  CHECK(j.blocks.zero == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {1, 0}});
  CHECK(j.difference < 1e-9);
  // a(1 - a) of scores (1, 2, .5), as exhibit E1 has it
  CHECK(j.matrix(0, 0) == doctest::Approx(0.17776).epsilon(1e-4));
  CHECK(j.matrix(1, 1) == doctest::Approx(0.23347).epsilon(1e-3));
  for (const study::Fact& f : j.facts) CHECK(f.deviation < 1e-15);
}

TEST_CASE("softmax along other axes, of a vector, and of scaled scores") {
  CHECK(text_of(of("softmax(x)", "x = [1, 2, 3]"), "softmax") == "J equals diag(a) - a a^T");
  CHECK(text_of(of("softmax(x, axis=0)", "x = randn(3, 2)"), "softmax") ==
        "each column's block equals diag(a) - a a^T");
  CHECK(text_of(of("softmax(x / sqrt(16))", "x = randn(2, 3)"), "softmax") ==
        "each row's block equals 0.25 (diag(a) - a a^T)");
  CHECK(names(of("softmax(x, axis=0)", "x = randn(3, 2)")).count("block_diagonal") == 0);
}

TEST_CASE("what is nearly a softmax is none") {
  for (const char* almost : {"softmax(x) + 1e-6 * x", "softmax(x) * (1 + 1e-6 * sum(x))", "softmax(x + 1e-6 * x ** 2)",
                             "sigmoid(x)", "softmax(x) + 1e-6", "log_softmax(x)", "x ** 2", "x * [2, 0, 0]"}) {
    CAPTURE(std::string(almost));
    CHECK(names(of(almost, "x = [[1, 2, 0.5], [3, 4, 5]]")).count("softmax") == 0);
  }
  const Jacobian j = of("softmax(x) + 1e-6 * x", "x = [[1, 2, 0.5], [3, 4, 5]]");
  CHECK(text_of(j, "row_sums") == "every row sums to 1e-06");
  CHECK(j.rank == 6);
}

TEST_CASE("matmul: the left operand's blocks are all W^T, the right one's Jacobian has no blocks of rows") {
  const Jacobian left = of("x @ W", "x = randn(2, 3); W = randn(3, 4)");
  CHECK(names(left) == Names{"block_diagonal", "equal_blocks", "constant"});
  CHECK(left.rank == 6);
  CHECK(left.blocks.rows == 4);
  CHECK(left.blocks.columns == 3);
  const Jacobian right = of("A @ x", "x = randn(3, 4); A = randn(2, 3)");
  CHECK(names(right) == Names{"constant"});
  CHECK(right.blocks.count == 0);
  CHECK(right.facts[0].meaning == "y is linear in x: y = J x");
  CHECK(of("A @ x + 1", "x = randn(3, 4); A = randn(2, 3)").facts[0].meaning == "y is J x plus a constant");
  CHECK(names(of("x @ W + 1e-6 * sum(x)", "x = randn(2, 3); W = randn(3, 4)")).count("block_diagonal") == 0);
  CHECK(names(of("x @ W + 1e-6 * x @ W * x @ W", "x = randn(2, 3); W = randn(3, 3)")).count("constant") == 0);
}

TEST_CASE("layer_norm: its blocks lose the directions of ones and of the normalised row, the latter but for eps") {
  const Jacobian exact = of("layer_norm(x, eps=0)", "x = randn(2, 5)");
  CHECK(names(exact) == Names{"row_sums", "column_sums", "symmetric", "block_diagonal"});
  CHECK(exact.rank_text == "rank 6 of 10; each of the 2 diagonal blocks: 3 of 5");
  const Jacobian usual = of("layer_norm(x)", "x = randn(2, 5)");
  CHECK(usual.rank == 8);
  CHECK(contains(usual.rank_text, "rank 8 of 10, nearly 6: singular value 7 is "));
  CHECK(contains(usual.rank_text, "each of the 2 diagonal blocks: 4 of 5, nearly 3"));
  const Jacobian weighted = of("layer_norm(x, [1, 2, 3, 4, 5])", "x = randn(2, 5)");
  CHECK(names(weighted) == Names{"row_sums", "block_diagonal"});
}

TEST_CASE("elementwise ops are diagonal, and relu's rank counts what is positive") {
  const Jacobian j = of("relu(x)", "x = [1, -2, 3, -4]");
  CHECK(names(j) == Names{"diagonal"});
  CHECK(j.rank == 2);
  CHECK(names(of("relu(x) + 1e-7 * cumsum(x)", "x = [1, -2, 3, -4]")) == Names{"lower_triangular"});
  CHECK(names(of("exp(x)", "x = randn(2, 2)")) == Names{"diagonal"});
}

TEST_CASE("transpose and flip are permutations and orthogonal, cumsum is lower triangular") {
  CHECK(names(of("x.T", "x = randn(2, 3)")) ==
        Names{"permutation", "orthogonal", "row_sums", "column_sums", "constant"});
  CHECK(names(of("flip(x, 0)", "x = randn(3)")) ==
        Names{"permutation", "orthogonal", "row_sums", "column_sums", "constant", "symmetric"});
  CHECK(names(of("cumsum(x)", "x = randn(4)")) == Names{"lower_triangular", "constant"});
  CHECK(names(of("flip(cumsum(flip(x, 0)), 0)", "x = randn(4)")) == Names{"upper_triangular", "constant"});
  CHECK(names(of("1.000001 * x.T", "x = randn(2, 3)")) == Names{"row_sums", "column_sums", "constant"});
  // A rotation by pi / 3 and a cross product.
  CHECK(names(of("R @ x", "x = randn(2); R = [[0.5, sqrt(3) / 2], [-sqrt(3) / 2, 0.5]]")) ==
        Names{"orthogonal", "constant"});
  CHECK(names(of("C @ x", "x = randn(3); C = [[0, -3, 2], [3, 0, -1], [-2, 1, 0]]")) ==
        Names{"antisymmetric", "constant"});
}

TEST_CASE("the identity and its multiples are said without all that follows from them") {
  CHECK(names(of("x + 1", "x = randn(2, 3)")) == Names{"identity", "constant"});
  CHECK(text_of(of("3 * x", "x = randn(3)"), "identity_multiple") == "J is 3 times the identity");
  CHECK(names(of("x * 1.0000001", "x = randn(3)")).count("identity") == 0);
}

TEST_CASE("causal attention: rows of y depend on no later rows") {
  const std::string sets = "x = randn(3, 2); K = randn(3, 2); V = randn(3, 2)";
  CHECK(names(of("attention(K, K, x, mask=causal())", sets)).count("block_lower_triangular") == 1);
  CHECK(names(of("attention(x, K, V, mask=causal())", sets)).count("block_diagonal") == 1);
  CHECK(names(of("attention(K, K, x)", sets)).count("block_lower_triangular") == 0);
}

TEST_CASE("a result that does not depend on the variable has Jacobian 0 and rank 0") {
  const Jacobian j = of("sum(b)", "x = [1, 2]; b = [3]");
  CHECK(names(j) == Names{"zero"});
  CHECK(j.rank == 0);
  CHECK(of("x", "x = zeros(0, 3)").facts.empty());
  CHECK(names(of("x ** 2", "x = 3")).empty());
}

TEST_CASE("at a kink the differences disagree, and NaN has no facts") {
  CHECK(of("relu(x)", "x = [0, 1]").difference > 0.4);
  const Jacobian j = of("log(x)", "x = [0, 1]");
  CHECK(j.facts.empty());
  CHECK(j.rank == -1);
}

TEST_CASE("what is linear only nearby is not called linear") {
  CHECK(names(of("relu(x + 100)", "x = randn(6)")) == Names{"identity"});
  CHECK(names(of("clamp(2 * x, -50, 50)", "x = randn(6)")) == Names{"identity_multiple"});
}

TEST_CASE("differences take shorter steps where the result bends") {
  CHECK(of("exp(300 * x)", "x = [0.001, -0.002]").difference < 1e-6);
  CHECK(of("relu(x)", "x = [0.0001, -0.0005]").difference < 1e-6);
}

TEST_CASE("dropout draws the same mask for every entry and every difference") {
  const Jacobian j = of("dropout(x)", "x = randn(20)");
  CHECK(j.difference < 1e-9);
  CHECK(names(j) == Names{"diagonal", "constant"});
  CHECK(j.rank > 0);
  CHECK(j.rank < 20);
}

TEST_CASE("a value of the program can be the variable") {
  const Jacobian j = of("S = x * 2; A = S ** 2; A", "x = [1, 2]", "S");
  CHECK(j.matrix.values == std::vector<double>{4, 0, 0, 8});
  study::Scope scope;
  scope.set("x", 3);
  CHECK_THROWS_WITH_AS(study::jacobian("x = 2; x", scope, "x"), doctest::Contains("2 values"), Error);
  CHECK_THROWS_WITH_AS(study::jacobian("x", scope, "X"), doctest::Contains("did you mean x?"), Error);
  scope.set("b", Value(true));
  CHECK_THROWS_WITH_AS(study::jacobian("b", scope, "b"), doctest::Contains("b8"), Error);
}

TEST_CASE("a Jacobian that is too large is an error before it is computed") {
  study::Scope scope;
  scope.set("x", zeros({2000, 2000}, DType::f64));
  CHECK_THROWS_WITH_AS(study::jacobian("x * 2", scope, "x"), doctest::Contains("more than 1048576"), Error);
}

TEST_CASE("singular values and pivots of matrices whose values are known") {
  // [[3, 0], [4, 5]] has singular values sqrt(45) and sqrt(5).
  const std::vector<double> s = study::singular_values(matrix(2, 2, {3, 0, 4, 5}));
  CHECK(s[0] == doctest::Approx(std::sqrt(45)).epsilon(1e-14));
  CHECK(s[1] == doctest::Approx(std::sqrt(5)).epsilon(1e-14));
  CHECK(study::singular_values(matrix(1, 3, {2, 3, 6})) == std::vector<double>{7});
  CHECK(study::singular_values(matrix(2, 2, {0, 0, 0, 0})) == std::vector<double>{0, 0});
  const std::vector<double> tiny = study::singular_values(matrix(2, 2, {3e-200, 0, 4e-200, 5e-200}));
  CHECK(tiny[1] == doctest::Approx(std::sqrt(5) * 1e-200).epsilon(1e-14));
  // Rank 2: the third row is the first plus the second.
  const Matrix m = matrix(3, 4, {1, 2, 3, 4, 0, 1, 0, 2, 1, 3, 3, 6});
  CHECK(study::count_above(study::singular_values(m), 1e-10) == 2);
  CHECK(study::count_above(study::pivots(m), 1e-10) == 2);
  CHECK(study::count_above(study::pivots(matrix(2, 2, {0, 0, 0, 0})), 1e-10) == 0);
}

TEST_CASE("gradus jacobian prints the matrix with its entries' names, the blocks, the rank and the facts") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus jacobian 'softmax(S)' --set 'S=[[0,0],[0,log(3)]]' --wrt S");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  for (const char* part :
       {"J = d y / d S, 4 x 4: y [2, 2] by S [2, 2]\n", "S[0,0]", "y[1,1]",
        "y[0,0]     0.25    -0.25 |        0        0\n", "y[1,0]        0        0 |   0.1875  -0.1875\n",
        "2 are zero: [0,1] [1,0]\n", "rank 2 of 4; each of the 2 diagonal blocks: 1 of 2\n",
        "✓ each row's block equals diag(a) - a a^T", "✓ agrees with central differences"})
    CHECK_MESSAGE(contains(o.out, part), o.out);
  CHECK(contains(shell(folder, "gradus jacobian 'softmax(x)' --set 'x=randn(5,2)' --wrt x").out,
                 "5 x 5 blocks of 2 x 2, one for each pair of rows; all but those on the diagonal are zero\n"));
  CHECK(contains(shell(folder, "gradus jacobian 'cumsum(x, 0)' --set 'x=randn(6,1)' --wrt x").out,
                 "6 x 6 blocks of 1 x 1, one for each pair of rows; those above the diagonal are zero\n"));
  const Outcome large = shell(folder, "gradus jacobian 'x * 2' --set 'x=randn(80)' --wrt x");
  CHECK(contains(large.out, "each cell is the largest of 2 x 2 entries"));
  for (std::size_t at = 0, end = 0; at < large.out.size(); at = end + 1) {
    end = large.out.find('\n', at);
    CHECK(end - at < 400);
  }
}

TEST_CASE("gradus jacobian --json and --out") {
  const Folder folder;
  const Outcome o =
      shell(folder, "gradus jacobian 'x @ W' --set 'x=[[1,2]]; W=[[3,4,5],[6,7,8]]' --wrt x --json --out @/j.npz");
  CHECK(o.status == 0);
  const json j = json::parse(o.out);
  CHECK(j["jacobian"]["shape"] == json::parse("[1, 3, 1, 2]"));
  CHECK(j["jacobian"]["values"] == json::parse("[[[[3.0, 6.0]], [[4.0, 7.0]], [[5.0, 8.0]]]]"));
  CHECK(j["rank"] == 2);
  CHECK(j["ok"] == true);
  CHECK(j["facts"][0]["name"] == "constant");
  const NamedTensors arrays = load_npz(folder / "j.npz");
  CHECK(find(arrays, "jacobian").shape() == Shape{1, 3, 1, 2});
  CHECK(find(arrays, "result").shape() == Shape{1, 3});
}

TEST_CASE("gradus jacobian says mistakes in one line") {
  const Folder folder;
  const std::pair<const char*, const char*> mistakes[] = {
      {"gradus jacobian x --set x=1 --wrt y", "--wrt y: no variable has that name; the variables are x"},
      {"gradus jacobian x --set 'x=randn(2000)' --wrt x", "are more than 1048576"},
      {"gradus jacobian 'argmax(x)' --set 'x=[1,2]' --wrt x", "the result is i64"},
      {"gradus jacobian x --set 'x=[1,2]' --wrt x --dtype f32", "leave out --dtype f32"}};
  for (const auto& given : mistakes) {
    const std::string command = given.first, says = given.second;
    CAPTURE(command);
    const Outcome o = shell(folder, command);
    CHECK(o.status == 1);
    CHECK(lines(o.err) == 1);
    CHECK_MESSAGE(contains(o.err, says), o.err);
  }
  CHECK(shell(folder, "gradus jacobian x --set x=1").status == 2);
}
