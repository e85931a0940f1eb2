// The expression language: what programs mean, and what is said about those that mean nothing.
#include "study/language.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/grad.hpp"
#include "core/observer.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"

using namespace gradus;
using namespace gradus::study;

namespace {

Tensor f64(std::initializer_list<std::initializer_list<double>> rows) { return tensor(rows, DType::f64); }

/// The printed result of a program, tensors as NumPy prints them.
std::string shown(std::string_view text, Scope& scope) {
  const Value v = evaluate(text, scope);
  if (const auto* t = v.get_if<Tensor>()) return to_string(*t);
  return to_string(v);
}

std::string shown(std::string_view text) {
  Scope scope;
  scope.set("A", f64({{1, 2}, {3, 4}}));
  scope.set("x", tensor({1, 2, 3}, DType::f64));
  return shown(text, scope);
}

struct Fault {
  std::string text, excerpt;
};

Fault fault_of(std::string_view text, Scope& scope) {
  try {
    evaluate(text, scope);
  } catch (const LanguageError& error) { return {error.what(), error.excerpt()}; }
  return {"no error", ""};
}

Fault fault_of(std::string_view text) {
  Scope scope;
  scope.set("A", f64({{1, 2}, {3, 4}}));
  scope.set("x", tensor({1, 2, 3}, DType::f64));
  return fault_of(text, scope);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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
  for (const auto& [program, expected] : programs) {
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

TEST_CASE("every mistake is one line with its column and what to do, and an excerpt with a caret") {
  struct Mistake {
    const char* program;
    std::size_t column;
    const char* says;
  };
  const Mistake mistakes[] = {{"", 1, "there is no expression"},
                              {"# nothing", 1, "there is no expression"},
                              {"1 +", 4, "complete it"},
                              {"1 + ; 2", 5, "complete it"},
                              {"A @@ A", 4, "@ stands where a value is expected"},
                              {"(1 + 2", 1, "( is not closed; write )"},
                              {"sum(A", 4, "( is not closed; write )"},
                              {"x[1", 2, "[ is not closed; write ]"},
                              {"x[1:", 2, "[ is not closed; write ]"},
                              {"[1, 2", 1, "[ is not closed; write ]"},
                              {"1)", 2, ") closes nothing"},
                              {"[1; 2]", 3, "; stands where , or ] should"},
                              {"1 2", 3, "2 follows a complete expression"},
                              {"A x", 3, "x follows a complete expression"},
                              {"1, 2", 2, "[a, b]"},
                              {"x[0] = 3", 6, "only a name can be assigned to"},
                              {"A += 1", 4, "there is no +=; write x = x + y"},
                              {"None = 3", 1, "None cannot be assigned to"},
                              {"1 < 2 < 3", 7, "comparisons do not chain"},
                              {"x > 1 & x < 3", 11, "comparisons do not chain; join them with &"},
                              {"x[]", 2, "nothing stands in the brackets"},
                              {"x.shape", 3, "there is no .shape; only .T"},
                              {"x.sum()", 3, "write the function before it: sum(x)"},
                              {"x.", 2, "after the point stands T"},
                              {"x.T", 2, "transpose"},
                              {"A[0, 0, 0]", 2, "3 indices for shape [2, 2]"},
                              {"A[5]", 2, "index 5 is out of range for axis 0 of shape [2, 2]"},
                              {"A[1.5]", 3, "1.5; give an int"},
                              {"A[x]", 3, "index_select(x, index, axis)"},
                              {"A['a']", 3, "a string"},
                              {"A[::0]", 2, "step 0 is not positive"},
                              {"A[::-1]", 2, "flip(x, 0) reverses the axis"},
                              {"A[..., ...]", 2, "once is enough"},
                              {"...", 1, "stands only in an index"},
                              {"Q @ A", 1, "no variable is named Q; give it: Q = ..."},
                              {"weight = A; wieght", 13, "did you mean weight?"},
                              {"Softmax(A)", 1, "did you mean softmax?"},
                              {"a", 1, "did you mean A?"},
                              {"softmx(A)", 1, "did you mean softmax?"},
                              {"zero(3)", 1, "did you mean zeros?"},
                              {"xylophone(A)", 1, "`gradus ops` lists them"},
                              {"softmax", 1, "softmax is a function; call it: softmax(x, axis=-1)"},
                              {"causal & 1", 1, "causal is a function; call it: causal(align"},
                              {"A(2)", 1, "A is a variable, not a function; write * for a product"},
                              {"(A)(2)", 4, "only a function's name can be called"},
                              {"2(A)", 2, "only a function's name can be called"},
                              {"softmax(A, axs=0)", 1, "no argument is named axs; write softmax(x, axis=-1)"},
                              {"softmax(axis=0, A)", 17, "an argument without a keyword follows one with"},
                              {"softmax(A, axis=7)", 1, "axis 7 is out of range"},
                              {"softmax(A, A = 1 = 2)", 18, "= stands only after a keyword"},
                              {"A @ [1, 2, 3]", 3, "matmul: "},
                              {"A + 'a'", 3, "add: argument b is a string"},
                              {"A + None", 3, "None"},
                              {"A + causal()", 3, "a mask"},
                              {"A & A", 3, "compare first"},
      {"True & x[0] + x", 6, "not f64 [3]"},
                              {"1 & 2", 3, "compare first"},
                              {"~3", 1, "compare first"},
                              {"2 @ 3", 3, "write *"},
                              {"-causal()", 1, "a mask"},
                              {"+'a'", 1, "a string"},
                              {"[[1, 2], [3]] + 1", 15, "rows of 2 and 1 items"},
                              {"[1, 'a'] + 1", 10, "a string"},
                              {"[A, A] @ A", 8, "stack(...)"},
                              {"sum([sum(A), 1])", 1, "stack(...)"},
                              {"'abc", 1, "close it with '"},
                              {"'a\\q'", 3, "write \\\\ for a backslash"},
                              {"2x", 2, "a number is followed by x"},
                              {"1.T", 3, "a number is followed by T"},
                              {"A ^ 2", 3, "write ** for powers"},
                              {"A // 2", 3, "/ divides"},
                              {"A && A", 3, "write &"},
                              {"!A", 1, "write ~"},
                              {"A × A", 3, "write * (elementwise) or @"},
                              {"Aᵀ", 2, "write .T"},
                              {"$", 1, "$ is not part of the language"},
                              {"zeros(-1)", 1, "negative extent"},
                              {"zeros(1.5)", 1, "1.5; give an int"},
                              {"zeros(2, dtype='f16')", 1, "f16"},
                              {"zeros(2, shape=3)", 1, "no argument is named shape; write zeros(*shape, dtype=None)"},
                              {"full(3)", 1, "argument value is missing; write full(shape, value, dtype=None)"},
                              {"window(3)", 1, "argument right is missing"},
                              {"causal('middle')", 1, "\"unspecified\", \"start\", \"end\""},
                              {"lengths(A)", 1, "lengths: "},
                              {"arange(0, 1, 0)", 1, "a step that is not 0"}};
  for (const Mistake& m : mistakes) {
    CAPTURE(std::string(m.program));
    const Fault fault = fault_of(m.program);
    CHECK_MESSAGE(fault.text.rfind(fmt::format("column {}: ", m.column), 0) == 0, fault.text);
    CHECK_MESSAGE(contains(fault.text, m.says), fault.text);
    CHECK(fault.text.find('\n') == std::string::npos);
    CHECK(std::count(fault.excerpt.begin(), fault.excerpt.end(), '\n') == 2);
  }
}

TEST_CASE("the caret stands under the fault: behind UTF-8, tabs, other lines, and in long lines") {
  CHECK(fault_of("A @ Q").excerpt == "A @ Q\n    ^\n");
  CHECK(fault_of("'é界' + Q").text == "column 8: no variable is named Q; give it: Q = ...");
  CHECK(fault_of("'é界' + Q").excerpt == "'é界' + Q\n        ^\n");  // 界 takes two columns
  CHECK(fault_of("\t1 +\tQ").excerpt == " 1 + Q\n     ^\n");
  const Fault crlf = fault_of("a = 1\r\nb = Q\r\nc = 2\r\n");
  CHECK(crlf.text == "line 2, column 5: no variable is named Q; give it: Q = ...");
  CHECK(crlf.excerpt == "b = Q\n    ^\n");
  CHECK(fault_of("1 +\n").text == "column 4: the expression ends where a value is expected; complete it");
  std::string line = "1";
  for (int i = 0; i < 500; ++i) line += " + 1";
  const Fault far = fault_of(line + " + Q" + line);
  const std::size_t end = far.excerpt.find('\n'), caret = far.excerpt.find('^') - end - 1;
  CHECK(far.excerpt.rfind("…", 0) == 0);
  CHECK(end < 100);
  CHECK(far.excerpt[caret + std::string("…").size() - 1] == 'Q');
  CHECK(contains(far.text, "column 2005: "));
}

TEST_CASE("control characters reach neither message nor excerpt") {
  for (const std::string& program : {std::string("1 + \0 2", 7), std::string("\x1b[31m"), std::string("'\x1b' + Q"),
                                     std::string("relu(A, '\\n')"), std::string("\xff\xfe")}) {
    const Fault fault = fault_of(program);
    CHECK(fault.text != "no error");
    for (const char c : fault.text + fault.excerpt) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    CHECK(fault.text.find('\n') == std::string::npos);
  }
}

TEST_CASE("nothing is run when a later statement has bad syntax") {
  Scope scope;
  CHECK(contains(fault_of("a = 1; b = )", scope).text, "column 12: "));
  CHECK(scope.variables().empty());
  CHECK_THROWS_AS(assigned_names("a = "), LanguageError);
}

TEST_CASE("no text is too large or too deep for a clean answer") {
  const auto repeated = [](std::string_view piece, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += piece;
    return text;
  };
  CHECK(shown("0" + repeated(" + 1", 200000)) == "200000");
  CHECK(shown("A" + repeated(".T", 10000)) == shown("A"));
  CHECK(shown(repeated("(", 150) + "1" + repeated(")", 150)) == "1");
  for (const char* piece : {"(", "[", "-", "~", "2 ** ", "sum(", "x[", "1 + (", "-("})
    CHECK(contains(fault_of(repeated(piece, 100000) + "1").text, "inside each other"));
  CHECK(contains(fault_of("[" + repeated("1,", 100000) + "]").text, "more than 65536 values"));
  CHECK(
      contains(fault_of("a = [1]" + repeated("; a = [a, a]", 7) + repeated("; a = [a]", 9)).text, "more than 8 deep"));
  CHECK(contains(fault_of("a = [" + repeated("1,", 9000) + "]; a = [a,a,a,a,a,a,a,a]").text, "more than 65536 values"));
  CHECK(contains(fault_of("a = [" + repeated("1,", 60000) + "]" + repeated("; b = a", 30)).text, "1048576 values"));
  CHECK(contains(fault_of("'" + repeated("a", 2000) + "'").text, "longer than 1000"));
  CHECK(contains(fault_of(repeated("a", 100000)).text, "no variable is named aaa"));
  CHECK(fault_of(repeated("a", 100000)).text.size() < 200);
  CHECK(contains(fault_of("m = causal() & window(1, 1)" + repeated("; m = m & m", 60)).text, "mask"));
  for (const char* huge : {"randn(10 ** 9, 10 ** 9)", "zeros(2 ** 62, 4)", "ones(2 ** 28)", "eye(10 ** 6)",
                           "arange(0, 1e18)", "full([100000, 100000], 0)", "randint(0, 2, [10 ** 10])"})
    CHECK_MESSAGE(contains(fault_of(huge).text, "more than 134217728 elements"), fault_of(huge).text);
  CHECK(contains(fault_of("zeros([1e300])").text, "1e+300; give an int"));
  CHECK(contains(fault_of("zeros(1,1,1,1,1,1,1,1,1)").text, "at most 8"));
  CHECK(shown("zeros(2 ** 40, 0)") == "[] (shape [1099511627776, 0], f64)");
  CHECK(contains(fault_of("ones(2 ** 24)[:, None] @ ones(1, 2 ** 24)").text, "memory"));
}
