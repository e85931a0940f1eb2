// The expression language: what programs mean.
#include "study/language.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/grad.hpp"
#include "core/observer.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "file_helpers.hpp"
#include "language_helpers.hpp"

using namespace gradus;
using namespace gradus::study;
using test::contains;
using test::Fault;
using test::fault_of;
using test::shown;

namespace {

Tensor f64(std::initializer_list<std::initializer_list<double>> rows) { return tensor(rows, DType::f64); }

struct Names final : Observer {
  std::string all;
  void on_op(const OpEvent& event) override { all += std::string(event.info().name) + " "; }
};

}  // namespace

TEST_CASE("numbers among themselves follow Python's precedence and stay plain") {
  const std::pair<const char*, const char*> programs[] = {{"1 + 2 * 3", "7"},
                                                          {"(1 + 2) * 3", "9"},
                                                          {"7 / 2", "3.5"},
                                                          {"6 / 2", "3"},
                                                          {"10 - 4 - 3", "3"},
                                                          {"2 * 3 / 4", "1.5"},
                                                          {"-2 ** 2", "-4"},
                                                          {"(-2) ** 2", "4"},
                                                          {"2 ** -1", "0.5"},
                                                          {"2 ** 3 ** 2", "512"},
                                                          {"-2 ** -2", "-0.25"},
                                                          {"- - 3", "3"},
                                                          {"2 - -3", "5"},
                                                          {"+3", "3"},
                                                          {".5 + 1.", "1.5"},
                                                          {"1e-3", "0.001"},
                                                          {"1E+2", "100"},
                                                          {"sqrt(8)", "2.8284271247461903"},
                                                          {"1 / sqrt(16)", "0.25"},
                                                          {"exp(0) + log(1)", "1"},
                                                          {"maximum(2, 5)", "5"},
                                                          {"pi", "3.141592653589793"},
                                                          {"-inf", "-inf"},
                                                          {"nan", "nan"},
                                                          {"1 / 0", "inf"},
                                                          {"-1 / 0", "-inf"},
                                                          {"0 / 0", "nan"},
                                                          {"3 < 4", "True"},
                                                          {"3 == 4", "False"},
                                                          {"3 != 4", "True"},
                                                          {"1 + 1 == 2", "True"},
                                                          {"(1 < 2) & (2 < 1)", "False"},
                                                          {"True | False & False", "True"},
                                                          {"~True", "False"},
                                                          {"(1 < 2) == True", "True"},
                                                          {"None", "None"},
                                                          {"'a\"b'", "\"a\\\"b\""},
                                                          {"\"it\\'s\"", "\"it's\""},
                                                          {"[1, [2, 3.5], 'a', None,]", "[1, [2, 3.5], \"a\", None]"},
                                                          {"(2, 3)", "[2, 3]"},
                                                          {"(2,)", "[2]"},
                                                          {"()", "[]"},
                                                          {"[5, 6, 7][-1]", "7"}};
  for (const auto& given : programs) {
    const std::string program = given.first, expected = given.second;
    CAPTURE(program);
    CHECK(shown(program) == expected);
  }
}

TEST_CASE("whole numbers are exact up to 63 bits, and numbers with fractions beyond") {
  CHECK(shown("2 ** 62 + 1") == "4611686018427387905");
  CHECK(shown("9007199254740993 - 1") == "9007199254740992");
  CHECK(shown("3000000000 * 3000000000") == "9000000000000000000");
  CHECK(shown("2 ** 64") == "1.8446744073709552e+19");
  CHECK(shown("9223372036854775807 + 1") == "9.223372036854776e+18");
  CHECK(shown("-9223372036854775807 - 2") == "-9.223372036854776e+18");
  CHECK(shown("123456789012345678901234567890") == "1.2345678901234568e+29");
  CHECK(shown("9 ** 9 ** 9") == "inf");
  CHECK(shown("(-3) ** 3") == "-27");
  CHECK(shown("0 ** 0") == "1");
  CHECK(shown("1 / -0.0") == "-inf");
}

TEST_CASE("operators on tensors are the ops, with Python's precedence") {
  CHECK(shown("A @ A") == "[[ 7. 10.]\n [15. 22.]] (f64)");
  CHECK(shown("A * A") == "[[ 1.  4.]\n [ 9. 16.]] (f64)");
  CHECK(shown("A @ A.T - 1") == "[[ 4. 10.]\n [10. 24.]] (f64)");
  CHECK(shown("-A ** 2") == "[[ -1.  -4.]\n [ -9. -16.]] (f64)");
  CHECK(shown("2 * A @ A") == "[[14. 20.]\n [30. 44.]] (f64)");
  CHECK(shown("1 / x") == "[1.         0.5        0.33333333] (f64)");
  CHECK(shown("x > 1") == "[False  True  True] (b8)");
  CHECK(shown("x + 1 > 2") == "[False  True  True] (b8)");
  CHECK(shown("(x > 1) & (x < 3)") == "[False  True False] (b8)");
  CHECK(shown("(x < 2) | (x == 3)") == "[ True False  True] (b8)");
  CHECK(shown("~(x > 1)") == "[ True False False] (b8)");
  CHECK(shown("~(x > 1) & True") == "[ True False False] (b8)");
  CHECK(shown("[[1, 2], [3, 4]] @ A") == "[[ 7. 10.]\n [15. 22.]] (f64)");
  CHECK(shown("[[1, 2], [3, 4]] @ [[0, 1], [1, 0]]") == "[[2. 1.]\n [4. 3.]] (f64)");
  CHECK(shown("[[1, 2], [3, 4]].T") == "[[1. 3.]\n [2. 4.]] (f64)");
  CHECK(shown("[1, 2] + [3, 4]") == "[4. 6.] (f64)");
  CHECK(shown("-[1, 2]") == "[-1. -2.] (f64)");
  CHECK(shown("+[1, 2]") == "[1. 2.] (f64)");
  CHECK(shown("sum(softmax(A), axis=-1)") == "[1. 1.] (f64)");
  CHECK(shown("sum(A, axis=0, keepdim=True)") == "[[4. 6.]] (f64)");
  CHECK(shown("sum(A, [0, 1])") == "10.0 (f64)");
  CHECK(shown("einsum('ij,jk->ik', A, A)") == "[[ 7. 10.]\n [15. 22.]] (f64)");
  CHECK(shown("concat([x, [9]])") == "[1. 2. 3. 9.] (f64)");
  CHECK(shown("where(x > 1, 1, 0)") == "[0. 1. 1.] (f64)");
  CHECK(shown("reshape(A, (4,))") == "[1. 2. 3. 4.] (f64)");
  CHECK(shown("cast(x, 'i64') == [1, 0, 3]") == "[ True False  True] (b8)");
}

TEST_CASE("statements are separated by ; or newlines, and the last one's value is the result, assigned or not") {
  CHECK(shown("y = 2; y * 3") == "6");
  CHECK(shown("y = 2\nz = y * 3") == "6");
  CHECK(shown("\n\n y = 2 ;; # a comment; z\n y + 1 # more\n\n") == "3");
  CHECK(shown("y = [1,\n 2,\n # inside\n 3]\nsum(y)") == "6.0 (f64)");
  CHECK(shown("f = sum(\n A\n)\r\nf\r\n") == "10.0 (f64)");
  CHECK(shown("y = 1; y = y + 1; y") == "2");
  CHECK(assigned_names("a = 1; b = a\nb = b; c") == std::vector<std::string>{"a", "b", "b"});
  Scope scope;
  evaluate("a = 1; b = 2", scope);
  REQUIRE(scope.variables().size() == 2);
  CHECK(scope.variables()[1].first == "b");
}

TEST_CASE("functions and variables have separate name spaces") {
  CHECK(shown("sum = 5; sum(A) + sum") == "15.0 (f64)");
  CHECK(shown("pi = 3; pi") == "3");
  CHECK(shown("T = A; T.T") == "[[1. 3.]\n [2. 4.]] (f64)");
}

TEST_CASE("indices are Python's, made of select, slice and reshape") {
  const auto with_m = [](std::string program) { return shown("M = reshape(arange(12), [3, 4]); " + program); };
  CHECK(with_m("M[1]") == "[4. 5. 6. 7.] (f64)");
  CHECK(with_m("M[-1, -1]") == "11.0 (f64)");
  CHECK(with_m("M[:, 0:2]") == "[[0. 1.]\n [4. 5.]\n [8. 9.]] (f64)");
  CHECK(with_m("M[::2, 3]") == "[ 3. 11.] (f64)");
  CHECK(with_m("M[1:, -2:][0]") == "[6. 7.] (f64)");
  CHECK(with_m("M[..., 0]") == "[0. 4. 8.] (f64)");
  CHECK(with_m("M[0, ...]") == "[0. 1. 2. 3.] (f64)");
  CHECK(with_m("M[1][None, 1:3]") == "[[5. 6.]] (f64)");
  CHECK(with_m("M[1:2, None, :, None][0, 0, 3]") == "[7.] (f64)");
  CHECK(with_m("M[0, 1:100]") == "[1. 2. 3.] (f64)");
  CHECK(with_m("i = 4 / 2; M[i, i - 1:i]") == "[9.] (f64)");
  CHECK(with_m("M[argmax(M[:, 0])]") == "[ 8.  9. 10. 11.] (f64)");
  Names names;
  {
    const Observe observe(names);
    with_m("M[..., None]; M[:, :]; M[1, 0:2]");
  }
  CHECK(names.all == "reshape reshape select slice ");
}

TEST_CASE("a call on plain numbers is no op to observers, a call on tensors is") {
  Names names;
  {
    const Observe observe(names);
    shown("sqrt(8); exp(1) * 2; A * sqrt(4)");
  }
  CHECK(names.all == "mul ");
}

TEST_CASE("a new op is a function of the language because it is registered: every op answers to its name") {
  for (const OpEntry* op : all_ops()) {
    const Fault fault = fault_of(op->name() + "()");
    CHECK_MESSAGE(contains(fault.text, "write " + op->signature()), fault.text);
  }
}

TEST_CASE("numbers, builders and lists are of the scope's dtype; indices and truth values keep theirs") {
  Scope scope;
  scope.dtype = DType::f32;
  for (const char* program :
       {"randn(2)", "zeros([2])", "[1, 2] + 1", "where([True, False], 1, 0)", "softmax([1, 2])", "stack([[1], [2]])",
        "einsum('i,i->', [1, 2], [3, 4])", "eye(2) @ [[1, 2], [3, 4]]", "embedding([[1, 2], [3, 4]], [1, 0])",
        "layer_norm([1, 2], weight=[1, 2])", "[3, 4][:]"}) {
    CAPTURE(program);
    const Value v = evaluate(program, scope);
    REQUIRE(v.get_if<Tensor>());
    CHECK(v.get_if<Tensor>()->dtype() == DType::f32);
  }
  CHECK(evaluate("one_hot([0, 1], 3)", scope).get_if<Tensor>()->dtype() == DType::f32);
  CHECK(shown("one_hot([1], 3)") == "[[0. 1. 0.]] (f64)");
  CHECK(shown("cast([1, 0], 'f32')") == "[1. 0.]");
  CHECK(evaluate("arange(3, dtype='i64')", scope).get_if<Tensor>()->dtype() == DType::i64);
  CHECK(evaluate("randint(0, 3, [5])", scope).get_if<Tensor>()->dtype() == DType::i64);
  CHECK(evaluate("[1, 2] > 1", scope).get_if<Tensor>()->dtype() == DType::b8);
}

TEST_CASE("one-hot rows of indices are of the scope's dtype, so that they meet probabilities; cast says its own") {
  CHECK(shown("softmax(x) * 0 + one_hot(2, 3)") == "[0. 0. 1.] (f64)");
  Scope scope;
  scope.dtype = DType::f32;
  CHECK(evaluate("one_hot([1, 0], 2)", scope).get_if<Tensor>()->dtype() == DType::f32);
  scope.dtype = DType::f64;
  CHECK(evaluate("one_hot([1, 0], 2)", scope).get_if<Tensor>()->dtype() == DType::f64);
  CHECK(evaluate("cast([1, 0], 'f32')", scope).get_if<Tensor>()->dtype() == DType::f32);
  scope.set("i", indices({1, 0}));
  CHECK(evaluate("cast(i, 'f32')", scope).get_if<Tensor>()->dtype() == DType::f32);
}

TEST_CASE("builders take extents or a list of them, and draw from the scope's generator") {
  CHECK(shown("zeros(2, 3)") == shown("zeros([2, 3])"));
  CHECK(shown("ones(())") == "1.0 (f64)");
  CHECK(shown("full([2], 7)") == "[7. 7.] (f64)");
  CHECK(shown("arange(3)") == "[0. 1. 2.] (f64)");
  CHECK(shown("arange(1, 2, 0.5)") == "[1.  1.5] (f64)");
  CHECK(shown("eye(2)") == "[[1. 0.]\n [0. 1.]] (f64)");
  Scope a, b;
  a.generator = Generator(5);
  b.generator = Generator(5);
  CHECK(shown("randn(4, 8)", a) == shown("randn([4, 8])", b));
  CHECK(shown("randn(4)", a) != shown("randn(4); randn(4)", b));
  Generator expected(5);
  Scope c;
  c.generator = Generator(5);
  CHECK(shown("randn(3)", c) == to_string(randn({3}, DType::f64, expected)));
}

TEST_CASE("masks are values: they join with & | ~, and truth values join them") {
  CHECK(shown("causal()") == "causal()");
  CHECK(shown("causal(align='end') & window(3, 0)") == "causal(\"end\") & window(3, 0)");
  CHECK(shown("~causal() | keep(A > 1)") == "~causal() | keep([2, 2])");
  CHECK(shown("(A > 1) & causal()") == "keep([2, 2]) & causal()");
  CHECK(shown("causal() & [[True, False], [True, True]]") == "causal() & keep([2, 2])");
  CHECK(shown("lengths([1, 2]) & keys([[True, False]])") == "lengths([2]) & keys([1, 2])");
  CHECK(shown("attention_weights(A, A, mask=causal())[0]") == "[1. 0.] (f64)");
  CHECK(shown("attention_weights(A, A, mask=A > 1)[0]") == "[0. 1.] (f64)");
}

TEST_CASE("gradients flow through a program, and the hook may replace what is assigned") {
  Scope scope;
  scope.set("W", f64({{1, 2}, {3, 4}}).requires_grad(true));
  const Value loss = evaluate("y = W @ [[1], [2]]; sum(y * y)", scope);
  // y = (5, 11); d sum(y^2) / dW = 2 y (1, 2)
  CHECK(to_string(grad(*loss.get_if<Tensor>(), *scope.find("W")->get_if<Tensor>())) ==
        to_string(f64({{10, 20}, {22, 44}})));
  std::string told;
  Tensor leaf;
  scope.assigned = [&](const std::string& name, Value& value) {
    told += name + " ";
    if (name == "h") value = leaf = scalar(3, DType::f64).requires_grad(true);
  };
  const Value y = evaluate("a = 1; h = sum(zeros(2)); z = h ** 2", scope);
  CHECK(told == "a h z ");
  CHECK(grad(*y.get_if<Tensor>(), leaf).item() == 6);
}

TEST_CASE("the value of an assignment that the hook replaced is the replacement") {
  Scope scope;
  scope.assigned = [](const std::string&, Value& value) { value = 7; };
  CHECK(to_string(evaluate("a = 1", scope)) == "7");
  CHECK(to_string(*scope.find("a")) == "7");
}

TEST_CASE("as_result makes tensors of numbers, truth values and lists, and names what is none") {
  CHECK(as_result(3, "result", DType::f32).dtype() == DType::f32);
  CHECK(as_result(2.5, "result", DType::f64).item() == 2.5);
  CHECK(as_result(true, "result", DType::f64).dtype() == DType::b8);
  CHECK(to_string(as_result(Value::List{1, 2}, "r", DType::f64)) == "[1. 2.] (f64)");
  for (const Value& v : {Value(), Value("text"), Value(causal())})
    CHECK_THROWS_WITH_AS(as_result(v, "the result", DType::f64), doctest::Contains("the result"), Error);
}

TEST_CASE("names of variables are those of Python") {
  for (const char* good : {"a", "_", "W_Q", "x1", "pi"}) CHECK(is_identifier(good));
  for (const char* bad : {"", "1a", "a.b", "a b", "True", "None", "é"}) CHECK_FALSE(is_identifier(bad));
}

TEST_CASE("an observer is told of the program's ops alone, not of those that make the samples of a called op") {
  Names names;
  {
    const Observe observe(names);
    shown("nll([[-1, -2]], [0]); kl_div([[-1, -2]], [[0.3, 0.7]]); cross_entropy([[1, 2]], [1])");
  }
  CHECK(names.all == "nll kl_div cross_entropy ");
}
