// The expression language: what is said about texts that mean nothing.
#include "study/language.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "file_helpers.hpp"
#include "language_helpers.hpp"

using namespace gradus;
using namespace gradus::study;
using test::contains;
using test::Fault;
using test::fault_of;
using test::shown;

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
                              {"x.t()", 3, "there is no .t; only .T, the transpose"},
                              {"np.exp(x)", 4, "write the function before it: exp(x)"},
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
