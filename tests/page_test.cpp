// Pages of derivations in a real browser: buttons pressed, keys typed, values read.
#include "study/page.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/random.hpp"
#include "ops/ops.hpp"
#include "tests/browser.hpp"
#include "tests/command_helpers.hpp"
#include "tests/op_derivations.hpp"

using namespace gradus;
using namespace gradus::study;
using gradus::test::contains;
using gradus::test::Folder;
using gradus::test::in_browser;
using nlohmann::json;

namespace {

const std::string text = "Q = X @ W_Q\nK = X @ W_K\nA = softmax(Q @ K.T / sqrt(2))\nY = A @ X # </script><b>bold</b>";

// Attention over three words, with respect to both projections; X reaches Y by three paths.
Derivation attention() {
  Record record;
  Generator generator(3);
  const auto draw = [&](const char* name, const Shape& shape, bool wanted) {
    Tensor x = randn(shape, DType::f64, generator);
    if (wanted) x.requires_grad(true);
    record.name(name, x);
    return x;
  };
  const Tensor x = draw("X", {3, 4}, true), wq = draw("W_Q", {4, 2}, true), wk = draw("W_K", {4, 2}, true);
  const Tensor q = matmul(x, wq), k = matmul(x, wk);
  const Tensor a = softmax(matmul(q, k.T()) / std::sqrt(2.0), -1);
  const Tensor y = matmul(a, x);
  for (const auto& [name, value] : {std::pair{"Q", q}, {"K", k}, {"A", a}, {"Y", y}}) record.name(name, value);
  return derive(y, {x, wq, wk});
}

const Derivation& derivation() {
  static const Derivation made = attention();
  return made;
}

// What the scripts below have in common.
const std::string tools = R"js(
const visible = () => [...document.querySelectorAll(".step")].filter((step) => !step.hidden);
const press = (action) => document.querySelector(`[data-go=${action}]`).click();
const key = (name, target) =>
  (target || document.body).dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
const lit = () => [...document.querySelectorAll(".picture .edge.current")].map((e) => e.dataset.from + "-" + e.dataset.to).sort();
const litNodes = () => [...document.querySelectorAll(".picture .node.current")].map((node) => node.dataset.node);
const entry = () => [...document.querySelectorAll(".entry p")].map((line) => line.textContent);
const cells = (figure) => [...figure.querySelectorAll("td:not(.corner)")];
const output = () => visible()[0].querySelector(".output .matrix");
)js";

json visit(const Derivation& d, const std::string& hash, const std::string& script, const PageOptions& options = {}) {
  const Folder folder;
  const json report = in_browser(folder, to_html(d, options), hash, tools + script);
  CHECK(report["errors"] == json::array());
  CHECK(report["loaded"] == json::array());
  return report;
}

int last_number() { return derivation().backward.back().number; }

}  // namespace

TEST_CASE("the page steps forward by button and back by key, one step to see at a time, and the hash follows") {
  const json r = visit(derivation(), "", R"js(
report.hidden = visible().length;
report.forth = [location.hash];
for (let i = 0; i < 100 && !document.querySelector("[data-go=next]").disabled; ++i) {
  press("next");
  report.forth.push(location.hash);
}
report.back = [location.hash];
for (let i = 0; i < 100 && location.hash !== "#step-0"; ++i) {
  key("ArrowLeft");
  report.back.push(location.hash);
}
report.one = visible().length;
key("End"); report.end = location.hash;
key("Home"); report.home = location.hash;
press("last"); report.last = location.hash;
press("previous"); report.previous = location.hash;
press("first"); report.first = location.hash;
report.position = document.querySelector(".position").textContent;
)js");
  std::vector<std::string> steps;
  for (int i = 0; i <= last_number(); ++i) steps.push_back(fmt::format("#step-{}", i));
  steps[0] = "#step-0";
  CHECK(r["forth"] == json(steps));
  std::reverse(steps.begin(), steps.end());
  CHECK(r["back"] == json(steps));
  CHECK(r["hidden"] == 1);
  CHECK(r["one"] == 1);
  CHECK(r["end"] == steps.front());
  CHECK(r["home"] == "#step-0");
  CHECK(r["last"] == steps.front());
  CHECK(r["previous"] == steps[1]);
  CHECK(r["first"] == "#step-0");
  CHECK(r["position"] == fmt::format("Step 0 of {}", last_number()));
}

TEST_CASE("the graph marks the edges that a step goes along, and a click on a node opens the step that made it") {
  const json r = visit(derivation(), "", R"js(
report.edges = [];
report.nodes = [];
for (press("next"); ; press("next")) {
  report.edges.push(lit());
  report.nodes.push(litNodes());
  if (document.querySelector("[data-go=next]").disabled) break;
}
const node = document.querySelector(".picture .node-result");
node.querySelector("rect").dispatchEvent(new MouseEvent("click", {bubbles: true}));
report.made = visible()[0].querySelector(".number").textContent;
)js");
  const Derivation& d = derivation();
  std::set<std::string> different;
  for (const ForwardStep& step : d.forward) {
    std::set<std::string> right;
    for (const int input : step.inputs)
      if (input >= 0) right.insert(fmt::format("{}-{}", input, step.output));
    const auto at = static_cast<std::size_t>(step.number - 1);
    CHECK(r["edges"][at] == json(right));
    CHECK(r["nodes"][at] == json{std::to_string(step.output)});
  }
  for (const BackwardStep& step : d.backward) {
    const auto at = static_cast<std::size_t>(step.number - 1);
    INFO(step.name);
    if (step.kind == BackwardStep::Kind::rule || step.kind == BackwardStep::Kind::part) {
      const int output = d.forward[static_cast<std::size_t>(step.through)].output;
      CHECK(r["edges"][at] == json{fmt::format("{}-{}", step.quantity, output)});
    }
    if (step.kind == BackwardStep::Kind::total) CHECK(r["edges"][at].size() == step.parts.size());
    CHECK(r["nodes"][at] == json{std::to_string(step.quantity)});
    different.insert(r["edges"][at].dump());
  }
  CHECK(different.size() > 6);
  const int made_by = d.quantities[static_cast<std::size_t>(d.result)].made_by;
  CHECK(r["made"] == std::to_string(d.forward[static_cast<std::size_t>(made_by)].number));
}

TEST_CASE("a link to a step opens it, and another link changes to it") {
  const json r = visit(derivation(), "#step-5", R"js(
report.first = visible()[0].querySelector(".number").textContent;
location.hash = "#step-2";
await wait(50);
report.second = visible()[0].querySelector(".number").textContent;
document.querySelector(".jump[href='#step-7']").click();
await wait(50);
report.third = visible()[0].querySelector(".number").textContent;
report.marked = [...document.querySelectorAll(".jump[aria-current]")].map((jump) => jump.hash);
location.hash = "#nonsense";
await wait(50);
report.nonsense = visible().length;
)js");
  CHECK(r["first"] == "5");
  CHECK(r["second"] == "2");
  CHECK(r["third"] == "7");
  CHECK(r["marked"] == json{"#step-7"});
  CHECK(r["nonsense"] == 1);
}

TEST_CASE("the numbers on the page are those of the derivation, where they come out and where they go in") {
  const json r = visit(derivation(), "", R"js(
report.out = {};
report.in = {};
const read = (figure) => cells(figure).map((cell) => cell.textContent);
for (press("next"); ; press("next")) {
  for (const figure of visible()[0].querySelectorAll(".output .matrix"))
    report.out[figure.dataset.name] = read(figure);
  for (const figure of visible()[0].querySelectorAll(".inputs .matrix"))
    report.in[figure.dataset.name] = read(figure);
  if (document.querySelector("[data-go=next]").disabled) break;
}
)js");
  const Derivation& d = derivation();
  const auto check = [&](const std::string& name, const json& cells) {
    INFO(name);
    const std::vector<double> right = d.value_of(name).to_vector<double>();
    REQUIRE(cells.size() == right.size());
    double largest = 0;
    for (const double v : right) largest = std::max(largest, std::abs(v));
    for (std::size_t i = 0; i < right.size(); ++i) {  // three digits of the largest, one of those far below it
      const double read = std::stod(cells[i].get<std::string>());
      CHECK(std::abs(read - right[i]) <= 6e-3 * largest);
      CHECK(std::abs(read - right[i]) <= 0.5 * std::abs(right[i]));
    }
  };
  std::size_t steps = 0;
  for (const auto& [name, cells] : r["out"].items()) check(name, cells), ++steps;
  CHECK(steps == static_cast<std::size_t>(last_number()));
  for (const auto& [name, cells] : r["in"].items()) check(name, cells);
  for (const char* name : {"X", "W_Q", "Q", "A", "d_Y", "d_Q"}) CHECK(r["in"].contains(name));
}

TEST_CASE("choosing an entry shows the sum that made it, by click and by Enter") {
  const Derivation& d = derivation();
  const json r = visit(d, "#step-1", R"js(
report.before = entry();
cells(output())[3].click();
report.clicked = entry();
report.chosen = document.querySelectorAll("td.chosen").length;
report.read = [...document.querySelectorAll("td.read")].length;
const first = cells(output())[0];
first.focus();
key("ArrowDown", first);
key("ArrowRight", document.activeElement);
key("Enter", document.activeElement);
report.typed = entry();
report.still = location.hash;
press("next");
report.after = entry();
const copy = document.querySelector(".step:not([hidden]) .copy");
copy.click();
for (let i = 0; i < 40 && copy.textContent === "Copy"; i++) await wait(25);
report.copied = copy.textContent;
location.hash = "#step-0";
await wait(50);
cells(output())[0].click();
report.given = entry();
)js");
  const ForwardStep& step = d.forward[0];
  const auto expect = [&](const json& lines, const Shape& index, const std::string& at) {
    const ScalarForm form = scalar_form(*step.term, index);
    REQUIRE(lines.size() == 3);
    CHECK(contains(lines[0].get<std::string>(), step.line.substr(0, 1) + at + " = "));
    CHECK(std::stod(lines[0].get<std::string>().substr(at.size() + 4)) == doctest::Approx(form.value).epsilon(1e-9));
    CHECK(lines[1] == "= " + form.symbols);
    CHECK(lines[2] == "= " + form.numbers);
  };
  CHECK(r["before"].size() == 1);
  expect(r["clicked"], {1, 1}, "[1,1]");
  CHECK(r["chosen"] == 1);
  CHECK(r["read"] == 8);  // a row of X and a column of W_Q
  expect(r["typed"], {1, 1}, "[1,1]");
  CHECK(r["still"] == "#step-1");
  CHECK(r["after"] == r["before"]);
  CHECK(r["copied"] == "Copied");
  CHECK(r["given"].size() == 2);
}

TEST_CASE("play walks on by itself until it is paused or a key is pressed") {
  const json r = visit(derivation(), "#step-1", R"js(
press("play");
await wait(6000);
report.played = location.hash;
press("play");
await wait(6000);
report.paused = location.hash;
press("play");
key("ArrowLeft");
await wait(6000);
report.stopped = location.hash;
)js");
  CHECK(r["played"] == "#step-3");
  CHECK(r["paused"] == "#step-3");
  CHECK(r["stopped"] == "#step-2");
}

TEST_CASE("text of the user stays text: a title and a program with tags, names with tags") {
  Record record;
  const Tensor x = full({2}, 0.5, DType::f64);
  Tensor w = full({2}, 2.0, DType::f64).requires_grad(true);
  Derivation d = derive(sum(x * w), {w});
  d.quantities[0].name = "</script><img src=x onerror=alert(1)>";
  d.quantities[1].name = "x&amp;\"'";
  const json r = visit(d, "#step-2", R"js(
report.title = document.title;
report.bold = document.querySelectorAll("b, img").length;
report.names = [...document.querySelectorAll("[data-name]")].map((figure) => figure.dataset.name);
report.program = document.querySelector("pre.program").textContent;
)js",
                       {"<b>A & \"B\"</b>", text, Language::en});
  CHECK(r["title"] == "<b>A & \"B\"</b>");
  CHECK(r["bold"] == 0);
  CHECK(r["names"].dump().find("</script><img src=x onerror=alert(1)>") != std::string::npos);
  CHECK(r["program"] == text);
}

TEST_CASE("gradus derive writes the page and the document, in the language asked for") {
  const Folder folder;
  const test::Outcome o =
      test::shell(folder,
                  "gradus derive 'A = softmax(X @ W); B = A[:, 0:1] > 0.2; where(B, A, 0)' --wrt W --set "
                  "'X=randn(3, 2); W=randn(2, 3)' --html @/steps.html --latex @/steps.tex --lang zh");
  CHECK(o.status == 0);
  CHECK(contains(o.err, "steps.html"));
  CHECK(contains(read_file(folder / "steps.tex"), "ctex"));
  const json r = in_browser(folder, read_file(folder / "steps.html"), "#step-1", tools + R"js(
report.kind = visible()[0].querySelector(".kind").textContent;
report.title = document.title;
for (press("next"); !/^B$/.test(output().dataset.name); press("next"));
report.truth = cells(output()).map((cell) => cell.textContent);
)js");
  CHECK(r["errors"] == json::array());
  CHECK(r["kind"] == "前向 · matmul");
  CHECK(r["title"] == "d_W 的推导");
  for (const json& cell : r["truth"]) CHECK((cell == "True" || cell == "False"));
  CHECK(r["truth"].size() == 3);
}

TEST_CASE("without a script the page holds every step, and nothing is hidden but the buttons") {
  const std::string html = to_html(derivation(), {"", text, Language::en});
  for (const BackwardStep& step : derivation().backward) CHECK(contains(html, fmt::format("id=step-{}", step.number)));
  CHECK(contains(html, "<div class=controls hidden>"));
  CHECK(html.find("hidden", html.find("<main>")) > html.find("</main>"));
}

TEST_CASE("the Chinese page has Chinese words and the same formulas") {
  const std::string english = to_html(derivation()), chinese = to_html(derivation(), {"", "", Language::zh});
  CHECK(contains(chinese, "<html lang=zh>"));
  CHECK(contains(chinese, "反向"));
  CHECK(!contains(chinese, "backward ·"));
  const auto count = [](const std::string& in, const std::string& what) {
    int n = 0;
    for (std::size_t at = 0; (at = in.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count(chinese, "<math") == count(english, "<math"));
  for (const BackwardStep& step : derivation().backward)
    if (step.line.find_first_of("&<>'\"") == std::string::npos) CHECK(contains(chinese, step.line));
}

TEST_CASE("tensors that are too large or of many axes are shown in part, and the page says so") {
  Record record;
  Generator generator(1);
  Tensor x = randn({20, 30}, DType::f64, generator).requires_grad(true);
  const Tensor deep = reshape(x, {6, 5, 20});
  const Derivation d = derive(sum(deep * deep), {x});
  const json r = visit(d, "#step-1", R"js(
report.tables = output().querySelectorAll("table").length;
report.note = output().querySelector(".note").textContent;
cells(output())[16].click();
report.entry = entry();
location.hash = "#step-0";
await wait(50);
report.corner = output().querySelector(".note").textContent;
report.cells = cells(output()).length;
)js");
  CHECK(r["tables"] == 4);
  CHECK(r["note"] == "shown: 4 of 6 matrices of shape [5, 20]; shown: the first [5, 16] of [5, 20]");
  CHECK(contains(r["entry"][0].get<std::string>(), "[0,1,0] = "));
  CHECK(contains(r["entry"][1].get<std::string>(), "600 entries"));
  CHECK(r["corner"] == "shown: the first [16, 16] of [20, 30]");
  CHECK(r["cells"] == 256);
}

TEST_CASE("every formula of every op's samples is shown as a formula") {
  gradus_test::for_each_derivation({.verify = false}, [](const std::string& name, const Sample&, const Derivation& d) {
    INFO(name);
    const std::string html = to_html(d);
    const std::size_t bare = html.find("<code class=latex>");
    CHECK_MESSAGE(bare == std::string::npos, html.substr(bare, 300));
  });
}
