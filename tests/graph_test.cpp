#include "core/error.hpp"
#include "draw/graph.hpp"
#include "draw/graph_layers.hpp"
#include "tests/xml.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>

using namespace gradus;
using namespace gradus::draw;

namespace {

using Kind = Graph::Kind;

/// softmax(x w) v, a small attention.
Graph small() {
  return {.title = "small",
          .nodes = {{0, "x\n[3, 4]", Kind::input},
                    {1, "w\n[4, 4]", Kind::parameter},
                    {2, "S\nmatmul [3, 4]", Kind::op},
                    {3, "A\nsoftmax [3, 4]", Kind::op},
                    {4, "2", Kind::constant},
                    {5, "Y\nmul [3, 4]", Kind::result, "Y = A * 2 + x"}},
          .edges = {{0, 2, "a"}, {1, 2, "b"}, {2, 3}, {3, 5}, {4, 5}, {0, 5}}};
}

Graph chain(int n) {
  Graph graph;
  for (int i = 0; i < n; ++i) graph.nodes.push_back({i, "node " + std::to_string(i) + "\nmatmul [32, 64]"});
  for (int i = 0; i + 1 < n; ++i) graph.edges.push_back({i, i + 1});
  return graph;
}

/// Nodes that depend on up to three earlier ones, near and far.
Graph tangle(int n, unsigned seed) {
  std::mt19937 random(seed);
  Graph graph = chain(n);
  graph.edges.clear();
  for (int i = 1; i < n; ++i)
    for (unsigned k = random() % 4; k > 0; --k)
      graph.edges.push_back({static_cast<int>(random() % static_cast<unsigned>(i)), i});
  return graph;
}

bool apart(const GraphLayout::Box& a, const GraphLayout::Box& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

void check_layout(const Graph& graph) {
  const GraphLayout places = layout(graph);
  REQUIRE(places.boxes.size() == graph.nodes.size());
  for (std::size_t i = 0; i < places.boxes.size(); ++i) {
    const auto& box = places.boxes[i];
    REQUIRE((box.x >= 0 && box.y >= 0 && box.x + box.width <= places.width && box.y + box.height <= places.height));
    for (std::size_t j = 0; j < i; ++j) REQUIRE(apart(box, places.boxes[j]));
  }
  for (std::size_t e = 0; e < graph.edges.size(); ++e)  // ids are indices here
    REQUIRE(places.boxes[static_cast<std::size_t>(graph.edges[e].from)].column <
            places.boxes[static_cast<std::size_t>(graph.edges[e].to)].column);
}

/// Whether a level stretch of an edge runs through a box that is neither its source nor its target.
int edges_through_boxes(const Graph& graph) {
  const GraphLayout places = layout(graph);
  int count = 0;
  for (std::size_t e = 0; e < places.curves.size(); ++e)
    for (std::size_t i = 0; i + 1 < places.curves[e].size(); i += 2)
      for (std::size_t n = 0; n < places.boxes.size(); ++n) {
        if (static_cast<int>(n) == graph.edges[e].from || static_cast<int>(n) == graph.edges[e].to) continue;
        const auto &a = places.curves[e][i], &b = places.curves[e][i + 1];
        const auto& box = places.boxes[n];
        count += a.y > box.y && a.y < box.y + box.height && a.x < box.x + box.width && b.x > box.x;
      }
  return count;
}

double milliseconds(const Graph& graph) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    to_svg(graph);
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::string message(const Graph& graph) {
  try {
    to_svg(graph);
  } catch (const Error& e) { return e.what(); }
  return "";
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What is wrong with DOT: a header, then statements `"a" [k="v", ...];` or `"a" -> "b" [...];`, all text in quotes.
std::string dot_fault(const std::string& dot) {
  bool quoted = false;
  int braces = 0, brackets = 0;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    const char c = dot[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (quoted && c == '\n') return "a line break within quotes";
    else if (!quoted) braces += c == '{' ? 1 : c == '}' ? -1 : 0, brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (braces < 0 || brackets < 0 || brackets > 1) return "brackets at " + std::to_string(i);
  }
  return quoted || braces || brackets ? "quotes or brackets stay open" : "";
}

}  // namespace

TEST_CASE("a graph's picture is well-formed, and each node and edge can be found by its number") {
  const std::string svg = to_svg(small());
  CHECK(gradus_test::xml_fault(svg) == "");
  CHECK(count(svg, "class=\"node ") == 6);
  CHECK(count(svg, "class=\"edge\"") == 6);
  CHECK(svg.find(R"(<g class="node node-parameter" data-node="1">)") != std::string::npos);
  CHECK(svg.find(R"(<g class="edge" data-edge="0-5" data-from="0" data-to="5">)") != std::string::npos);
  CHECK(svg.find("<title>Y = A * 2 + x</title>") != std::string::npos);
  CHECK(svg.find("--gradus-ink") != std::string::npos);
  CHECK(to_svg(small()) == svg);
}

TEST_CASE("boxes never overlap, stand right of what they depend on, and no edge runs through a box") {
  check_layout(small());
  check_layout(chain(40));
  for (const unsigned seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    const Graph graph = tangle(10 + 15 * static_cast<int>(seed), seed);
    check_layout(graph);
    CHECK(edges_through_boxes(graph) == 0);
  }
}

TEST_CASE("a graph that can be drawn without crossings is, though its nodes come shuffled") {
  Graph graph;
  std::vector<int> order(63);
  for (int i = 0; i < 63; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (const int i : order) graph.nodes.push_back({i, std::to_string(i)});
  for (const int i : order)
    if (i > 0) graph.edges.push_back({i, (i - 1) / 2});  // a binary tree towards its root
  CHECK(crossings(layers_of(graph)) == 0);
}

TEST_CASE("crossings are counted as pairs") {
  GraphLayers layers;
  layers.stops = {{0, 0, {}, {2, 3}}, {1, 0, {}, {2, 3}}, {2, 1}, {3, 1}};
  layers.columns = {{0, 1}, {2, 3}};
  CHECK(crossings(layers) == 1);
  layers.stops[0].right = {3}, layers.stops[1].right = {2};
  CHECK(crossings(layers) == 1);
  layers.columns[1] = {3, 2};
  CHECK(crossings(layers) == 0);
}

TEST_CASE("an input stands next to its first use, and a lone node is drawn") {
  Graph graph = chain(5);
  graph.nodes.push_back({5, "late", Kind::input});
  graph.edges.push_back({5, 4});
  const GraphLayout places = layout(graph);
  CHECK(places.boxes[5].column == 3);
  CHECK(places.boxes[0].column == 0);
  graph.nodes.push_back({6, "alone"});
  check_layout(graph);
  CHECK(gradus_test::xml_fault(to_svg({.nodes = {{3, "x"}}})) == "");
  CHECK(gradus_test::xml_fault(to_svg({})) == "");
  CHECK(dot_fault(to_dot({})) == "");
}

TEST_CASE("long chains, wide graphs and far edges are drawn within 50 ms") {
  Graph wide = chain(2);
  wide.edges.clear();
  for (int i = 2; i < 300; ++i) {
    wide.nodes.push_back({i, "node"});
    wide.edges.push_back({0, i});
    wide.edges.push_back({i, 1});
  }
  wide.edges.push_back({0, 1});
  Graph shared = chain(300);  // two constants that every step reads: x = x * b + a
  for (int i = 1; i < 298; ++i) shared.edges.push_back({299 - i % 2, i});
  shared.edges.erase(shared.edges.begin() + 297, shared.edges.begin() + 299);
  for (const Graph& graph : {chain(300), wide, shared}) {
    const double spent = milliseconds(graph);
    MESSAGE(graph.nodes.size() << " nodes, " << graph.edges.size() << " edges: " << spent << " ms");
    CHECK(spent < 50);
    check_layout(graph);
  }
  CHECK(milliseconds(tangle(300, 1)) < 500);  // random far edges: nothing that anyone computes
}

TEST_CASE("what is no graph without cycles is refused") {
  Graph graph = chain(3);
  graph.edges.push_back({2, 0});
  CHECK(message(graph).find("lies on a cycle") != std::string::npos);
  graph.edges.back() = {1, 1};
  CHECK(message(graph).find("node 1 (\"node 1") != std::string::npos);
  graph.edges.back() = {1, 9};
  CHECK(message(graph).find("there is no node 9") != std::string::npos);
  graph.edges.pop_back();
  graph.nodes.push_back({0, "again"});
  CHECK(message(graph).find("two nodes have the id 0") != std::string::npos);
  CHECK_THROWS_AS(to_dot(graph), Error);
}

TEST_CASE("labels may hold anything") {
  const std::string nasty = "a<b & \"c\" 'd' \\N \\\n\x01 \xff 注意 \t end";
  const Graph graph{.title = nasty, .nodes = {{-7, nasty, Kind::op, nasty}, {1, ""}}, .edges = {{-7, 1, nasty}}};
  CHECK(gradus_test::xml_fault(to_svg(graph)) == "");
  CHECK(dot_fault(to_dot(graph)) == "");
  CHECK(to_dot(graph).find(R"("n-7" -> "n1" [label="a<b & \"c\" 'd' \\N \\\n)") != std::string::npos);
  check_layout({.nodes = {{0, std::string(5000, 'x')}, {1, std::string(100, '\n')}}, .edges = {{0, 1}}});
}
