// How a registered op is called by name, and how arguments become what its function takes.
#include "core/registry.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gradus;
using doctest::Contains;

namespace {

const OpEntry& op(const char* name) {
  const OpEntry* const entry = find_op(name);
  REQUIRE_MESSAGE(entry != nullptr, name);
  return *entry;
}
Tensor f64(std::initializer_list<double> values) { return tensor(values, DType::f64); }
Value list(std::vector<Value> items) { return Value(std::move(items)); }
constexpr ArgumentName name{"f", "x"};

}  // namespace

TEST_CASE("ops are listed in alphabetical order, each under its own name") {
  const std::vector<const OpEntry*> ops = all_ops();
  CHECK(std::is_sorted(ops.begin(), ops.end(), [](auto* a, auto* b) { return a->name() < b->name(); }));
  for (const OpEntry* entry : ops) CHECK(find_op(entry->name()) == entry);
  CHECK(find_op("no_such_op") == nullptr);
  CHECK(find_op("") == nullptr);
}

TEST_CASE("signatures print defaults as the expression language writes them") {
  CHECK(op("softmax").signature() == "softmax(x, axis=-1)");
  CHECK(op("sum").signature() == "sum(x, axis=None, keepdim=False)");
  CHECK(op("linear").signature() == "linear(x, weight, bias=None, activation=\"none\")");
  CHECK(op("layer_norm").signature() == "layer_norm(x, weight=None, bias=None, eps=1e-5)");
  CHECK(op("leaky_relu").signature() == "leaky_relu(x, slope=0.01)");
  CHECK(op("concat").signature() == "concat(tensors, axis=0)");
  CHECK(op("einsum").signature().starts_with("einsum(equation, *"));
}

TEST_CASE("arguments may be given by position, by name, or left to their defaults") {
  const Tensor x = tensor({{1, 2}, {3, 4}}, DType::f64);
  CHECK(op("sum").call({x}).item() == 10);
  CHECK(op("sum").call({x, 0}).to_vector<double>() == std::vector<double>{4, 6});
  CHECK(op("sum").call({x}, {{"keepdim", true}, {"axis", -1}}).shape() == Shape{2, 1});
  CHECK(op("sum").call({}, {{"x", x}, {"axis", list({0, 1})}}).item() == 10);
}

TEST_CASE("missing, unknown, repeated and surplus arguments are refused with the signature") {
  const Tensor x = f64({1, 2});
  const auto refused = [](const char* what) { return Contains(what); };
  CHECK_THROWS_WITH_AS(op("softmax").call({}), refused("argument x is missing; write softmax(x, axis=-1)"), Error);
  CHECK_THROWS_WITH_AS(op("softmax").call({x}, {{"axes", 0}}), refused("no argument is named axes; write softmax(x"),
                       Error);
  CHECK_THROWS_WITH_AS(op("softmax").call({x, 0}, {{"axis", 0}}), refused("argument axis is given twice"), Error);
  CHECK_THROWS_WITH_AS(op("softmax").call({x, 0, 1}), refused("3 arguments, but it takes 2"), Error);
  CHECK_THROWS_WITH_AS(op("softmax").call({x, "last"}), refused("argument axis is a string; give an int"), Error);
  CHECK_THROWS_WITH_AS(op("softmax").call({None}), refused("argument x is None; give a tensor"), Error);
}

TEST_CASE("the last list takes the remaining arguments, one by one or as a list") {
  const Tensor a = f64({1, 2}), b = f64({3, 4});
  CHECK(op("einsum").call({"i,i->", a, b}).item() == 11);
  CHECK(op("einsum").call({"i,i->", list({a, b})}).item() == 11);
  CHECK(op("einsum").call({"i,i->", list({1, 2}), list({3, 4})}).item() == 11);
  CHECK(op("einsum").call({"i->", list({1, 2})}).item() == 3);
  CHECK(op("concat").call({list({a, b})}).numel() == 4);
  CHECK_THROWS_AS(op("concat").call({a, b}), Error);
}

TEST_CASE("numbers and nested lists stand for tensors, in the dtype that the op wants there") {
  const Tensor x = tensor({{1, 2}, {3, 4}}, DType::f64);
  CHECK(op("exp").call({0}).dtype() == DType::f64);
  CHECK(op("exp").call({0}).shape() == Shape{});
  CHECK(op("sum").call({list({list({1, 2}), list({3, 4})}), 0}).to_vector<double>() == std::vector<double>{4, 6});
  CHECK(op("add").call({x, list({10, 20})}).at({1, 1}) == 24);
  CHECK(op("add").call({x.to(DType::f32), list({10, 20})}).dtype() == DType::f32);
  CHECK(op("embedding").call({x, list({1, 0, 1})}).shape() == Shape{3, 2});
  CHECK(op("where").call({list({true, false}), x, 0}).at({1, 1}) == 0);
  CHECK(op("where").call({list({1, 0}), x, 0}).at({1, 0}) == 3);
  CHECK_THROWS_WITH_AS(op("embedding").call({x, list({0.5})}), Contains("holds 0.5; give whole numbers"), Error);
}

TEST_CASE("lists that are no arrays are refused") {
  const auto refused = [](Value v, const char* what) {
    CHECK_THROWS_WITH_AS(as_tensor(v, name), Contains(what), Error);
  };
  refused(list({list({1, 2}), list({3})}), "rows of 2 and 1 items");
  refused(list({1, list({2})}), "mixes numbers and lists");
  refused(list({list({1}), 2}), "mixes numbers and lists");
  refused(list({"a"}), "holds a string");
  refused(list({f64({1})}), "stack");
  refused(Value("a"), "f: argument x is a string; give a tensor");
  CHECK(as_tensor(list({}), name).shape() == Shape{0});
  CHECK(as_tensor(list({true, false}), name).dtype() == DType::b8);
  CHECK(as_tensor(list({true, 2}), name).dtype() == DType::f64);
  CHECK(!as_tensor(None, name).defined());
}

TEST_CASE("a b8 tensor is accepted where a mask is expected") {
  const Tensor t = as_tensor(list({list({true, false})}), name);
  CHECK(grid(as_mask(t, name), {1, 2}) == "#.\n");
  CHECK(grid(as_mask(list({list({1, 0})}), name), {1, 2}) == "#.\n");
  CHECK(as_mask(None, name).is_everything());
  CHECK(as_mask(Tensor{}, name).is_everything());
  CHECK(as_mask(causal(), name).is_causal_only());
  CHECK_THROWS_WITH_AS(as_mask(f64({1}), name), Contains("keep"), Error);
  CHECK_THROWS_WITH_AS(as_mask(3, name), Contains("causal()"), Error);
}

TEST_CASE("ints, axes and shapes are what they look like") {
  CHECK(as_int(4.0, name) == 4);
  CHECK_THROWS_WITH_AS(as_int(4.5, name), Contains("is 4.5; give an int"), Error);
  CHECK_THROWS_AS(as_int(true, name), Error);
  CHECK(as_axes(None, name).is_all());
  CHECK(as_axes(list({0, -1}), name) == Axes{0, -1});
  CHECK_THROWS_WITH_AS(as_axes("x", name), Contains("an int, a list of ints, or None"), Error);
  CHECK(as_shape(list({2, 3}), name) == Shape{2, 3});
  CHECK(as_shape(6, name) == Shape{6});
  CHECK_THROWS_WITH_AS(as_shape(list({1, 1, 1, 1, 1, 1, 1, 1, 1}), name), Contains("9 ints"), Error);
  CHECK_THROWS_WITH_AS(from_value<Reduction>("max", name), Contains("\"none\", \"mean\", \"sum\""), Error);
}

TEST_CASE("values print as the expression language writes them") {
  CHECK(to_string(None) == "None");
  CHECK(to_string(Value(true)) == "True");
  CHECK(to_string(Value(1e-5)) == "1e-5");
  CHECK(to_string(Value(2.5)) == "2.5");
  CHECK(to_string(Value(1e300)) == "1e+300");
  CHECK(to_string(Value(HUGE_VAL)) == "inf");
  CHECK(to_string(Value("say \"hi\"")) == "\"say \\\"hi\\\"\"");
  CHECK(to_string(list({1, list({0.5, None})})) == "[1, [0.5, None]]");
  CHECK(to_string(Value(Axes::all())) == "None");
  CHECK(to_string(Value(Axes{1})) == "1");
  CHECK(to_string(Value(Axes{0, 2})) == "[0, 2]");
  CHECK(to_string(Value(Shape{2, 3})) == "[2, 3]");
  CHECK(to_string(Value(f64({1, 2}))) == "tensor [2]");
  CHECK(to_string(Value(DType::f32)) == "\"f32\"");
}

TEST_CASE("an axis named twice is refused, and reduced shapes keep or drop the axes") {
  CHECK(Axes::all().mask("sum", {2, 3, 4}) == 7U);
  CHECK(Axes{0, -1}.mask("sum", {2, 3, 4}) == 5U);
  CHECK(Axes{}.mask("sum", {2, 3}) == 0U);
  CHECK_THROWS_WITH_AS((Axes{1, -1}.mask("sum", {2, 3})), Contains("axis 1 is named twice"), Error);
  CHECK_THROWS_WITH_AS(Axes{2}.mask("sum", {2, 3}), Contains("axis 2 is out of range"), Error);
  CHECK_THROWS_AS(Axes(Shape{std::int64_t{1} << 40}).mask("sum", {2, 3}), Error);
  CHECK(reduced_shape({2, 3, 4}, 5U, false) == Shape{3});
  CHECK(reduced_shape({2, 3, 4}, 5U, true) == Shape{1, 3, 1});
}

TEST_CASE("random truth values come from the samples' seed and are of both kinds") {
  Samples a, b;
  const Tensor x = a.bools({100}), y = b.bools({100});
  CHECK(x.to_vector<double>() == y.to_vector<double>());
  const double trues = x.sum().item();
  CHECK(trues > 30);
  CHECK(trues < 70);
}
