#include "core/grad.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "study/picture.hpp"
#include "tests/xml.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gradus;
using Kind = draw::Graph::Kind;

namespace {

Tensor parameter(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return randn(shape, DType::f64, generator).requires_grad(true);
}

const draw::Graph::Node& node(const draw::Graph& graph, const std::string& first_line) {
  const auto it = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                               [&](const auto& n) { return n.label.substr(0, n.label.find('\n')) == first_line; });
  REQUIRE_MESSAGE(it != graph.nodes.end(), first_line);
  return *it;
}

bool leads(const draw::Graph& graph, const std::string& from, const std::string& to) {
  return std::any_of(graph.edges.begin(), graph.edges.end(),
                     [&](const auto& e) { return e.from == node(graph, from).id && e.to == node(graph, to).id; });
}

}  // namespace

TEST_CASE("the picture of a derivation has a node for each quantity, by its number, and an edge for each use") {
  const Tensor x = parameter({3, 4}, 1), w = parameter({4, 2}, 2);
  study::Record record;
  record.name("X", x), record.name("W", w);
  const Tensor q = matmul(x, w);
  record.name("Q", q);
  const Tensor a = softmax(q), y = sum(a * q);
  record.name("A", a);
  const study::Derivation d = study::derive(y, {w}, {.verify = false});
  const draw::Graph graph = study::graph_of(d);
  CHECK(node(graph, "W").kind == Kind::parameter);
  CHECK(node(graph, "X").kind == Kind::input);
  CHECK(node(graph, "Q").kind == Kind::op);
  CHECK(node(graph, "result").kind == Kind::result);
  CHECK(node(graph, "Q").label == "Q\nX @ W\n[3, 2]");
  CHECK(node(graph, "result").label == "result\nsum(t1)\nscalar");
  CHECK(node(graph, "A").id == d.find("A"));
  CHECK(node(graph, "A").tooltip.substr(0, 4) == "A = ");
  CHECK((leads(graph, "X", "Q") && leads(graph, "W", "Q") && leads(graph, "Q", "A") && leads(graph, "t1", "result")));
  CHECK(!leads(graph, "Q", "X"));
  CHECK(gradus_test::xml_fault(draw::to_svg(graph)) == "");
}

TEST_CASE("the picture of any tensor shows its recorded graph, with leaves, constants and arguments") {
  const Tensor x = parameter({3, 4}, 1), w = parameter({4, 4}, 2);
  const Tensor c = full({3, 4}, 2.0, DType::f64);
  const Tensor h = matmul(x, w) * c + c;
  const Tensor y = sum(h * h);
  const draw::Graph graph = study::graph_of(y, {{"x", x}, {"h", h}});
  CHECK(graph.nodes.size() == 9);  // x, w, c, matmul, mul, add and its ghost of c, mul, sum
  CHECK(node(graph, "x").kind == Kind::parameter);
  CHECK(node(graph, "leaf").label == "leaf\n[4, 4]");
  CHECK(node(graph, "h").label == "h\nadd\n[3, 4]");
  CHECK(node(graph, "sum").kind == Kind::result);
  CHECK(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const auto& n) { return n.kind == Kind::constant; }) ==
        2);
  CHECK(std::any_of(graph.edges.begin(), graph.edges.end(),
                    [&](const auto& e) { return e.from == node(graph, "h").id && e.label == "a, b"; }));
  CHECK(gradus_test::xml_fault(draw::to_svg(graph)) == "");
  CHECK(draw::to_dot(graph).find("\"n0\" -> ") != std::string::npos);
}

TEST_CASE("a tensor without a graph is one constant, and a released graph ends where it was released") {
  const draw::Graph lone = study::graph_of(full({}, 1.5, DType::f64));
  REQUIRE(lone.nodes.size() == 1);
  CHECK(lone.nodes[0].label == "constant\n1.5");
  const Tensor x = parameter({3}, 1);
  const Tensor y = sum(exp(x));
  backward(y);
  CHECK(study::graph_of(y).nodes.size() == 1);
  CHECK_THROWS_WITH_AS(study::graph_of(Tensor{}), doctest::Contains("undefined"), Error);
}

TEST_CASE("a graph beyond what a picture shows is refused") {
  Tensor y = parameter({1}, 1);
  for (int i = 0; i < 3000; ++i) y = exp(y);
  CHECK_THROWS_WITH_AS(study::graph_of(y), doctest::Contains("more than 2000 nodes"), Error);
}

TEST_CASE("the graph of every op's samples has a picture") {
  for (const OpEntry* op : all_ops()) {
    if (!op->differentiable) continue;
    INFO(op->name());
    Samples samples;
    op->samples(samples);
    for (const Sample& sample : samples.good()) {
      std::vector<Value> arguments = sample.arguments;
      for (Value& value : arguments)
        if (const Tensor* const t = value.get_if<Tensor>(); t && t->defined() && is_floating(t->dtype()))
          value = t->detach().requires_grad(true);
      const Tensor y = op->call(arguments);
      CHECK(gradus_test::xml_fault(draw::to_svg(study::graph_of(y))) == "");
    }
  }
}
