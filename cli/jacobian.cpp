// gradus jacobian: the whole Jacobian of an expression, and what is true of it.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/values.hpp"
#include "core/arrays.hpp"
#include "draw/heat_map.hpp"
#include "draw/terminal.hpp"
#include "draw/text.hpp"
#include "ops/ops.hpp"
#include "study/jacobian.hpp"

namespace gradus::cli {
namespace {

constexpr std::int64_t most_table_rows = 40, most_map_side = 64, most_blocks_named = 12;
constexpr double tick = 1e-6;

struct Options {
  std::string program, wrt, out;
  Inputs inputs;
  bool json = false;
};

// ---- as a table

/// `y[0,2]`: an entry by its flat index.
std::string entry_name(const std::string& name, const Shape& shape, std::int64_t flat) {
  if (shape.rank() == 0) return name;
  std::string index;
  for (int axis = shape.rank() - 1; axis >= 0; flat /= shape[axis], --axis)
    index = fmt::format("{}{}{}", flat % shape[axis], index.empty() ? "" : ",", index);
  return fmt::format("{}[{}]", name, index);
}

std::string number_text(double v) { return std::isnan(v) ? "nan" : fmt::format("{:.4g}", v == 0 ? 0.0 : v); }

/// Labels on both sides, blocks apart; empty when it is wider than `columns`.
std::string table_text(const study::Jacobian& j, int columns) {
  const study::Matrix& m = j.matrix;
  if (m.rows > most_table_rows || m.columns > columns) return "";
  std::vector<std::string> heads, sides;
  for (std::int64_t k = 0; k < m.columns; ++k) heads.push_back(entry_name(j.name, j.x.shape(), k));
  for (std::int64_t i = 0; i < m.rows; ++i) sides.push_back(entry_name("y", j.y.shape(), i));
  std::size_t side = 0, width = 0;
  for (const std::string& s : sides) side = std::max(side, s.size());
  for (const std::string& h : heads) width = std::max(width, h.size());
  for (const double v : m.values) width = std::max(width, number_text(v).size());
  const bool blocks = j.blocks.count > 0;
  std::string text, line = std::string(side, ' ');
  const auto gap = [&](std::int64_t k) { return blocks && k > 0 && k % j.blocks.columns == 0 ? " |  " : "  "; };
  for (std::int64_t k = 0; k < m.columns; ++k)
    line += fmt::format("{}{:>{}}", gap(k), heads[static_cast<std::size_t>(k)], width);
  if (static_cast<int>(line.size()) > columns) return "";
  text = line + "\n";
  for (std::int64_t i = 0; i < m.rows; ++i) {
    if (blocks && i > 0 && i % j.blocks.rows == 0) text += "\n";
    text += fmt::format("{:<{}}", sides[static_cast<std::size_t>(i)], side);
    for (std::int64_t k = 0; k < m.columns; ++k) text += fmt::format("{}{:>{}}", gap(k), number_text(m(i, k)), width);
    text += "\n";
  }
  return text;
}

// ---- as a picture

/// The entry of largest magnitude in a tile; NaN where one is.
double strongest(const study::Matrix& m, std::int64_t row, std::int64_t column, std::int64_t rows,
                 std::int64_t columns) {
  double found = 0;
  for (std::int64_t i = row; i < std::min(row + rows, m.rows); ++i)
    for (std::int64_t k = column; k < std::min(column + columns, m.columns); ++k)
      if (!(std::abs(m(i, k)) <= std::abs(found))) found = m(i, k);
  return found;
}

std::string map_text(const study::Jacobian& j, const draw::Terminal& terminal) {
  const study::Matrix& m = j.matrix;
  const std::int64_t tall = (m.rows + most_map_side - 1) / most_map_side;
  const std::int64_t wide = (m.columns + most_map_side - 1) / most_map_side;
  draw::HeatMap map;
  map.rows = static_cast<int>((m.rows + tall - 1) / tall);
  map.columns = static_cast<int>((m.columns + wide - 1) / wide);
  map.palette = draw::Palette::balance;
  map.row_title = "entry of y";
  map.column_title = "entry of " + j.name;
  for (std::int64_t i = 0; i < map.rows; ++i) map.row_labels.push_back(entry_name("y", j.y.shape(), i * tall));
  for (std::int64_t k = 0; k < map.columns; ++k) map.column_labels.push_back(fmt::format("{}", k * wide));
  for (std::int64_t i = 0; i < map.rows; ++i)
    for (std::int64_t k = 0; k < map.columns; ++k) map.values.push_back(strongest(m, i * tall, k * wide, tall, wide));
  std::vector<std::string> remarks;
  if (!terminal.color) {  // shades cannot tell signs
    remarks.push_back("magnitudes");
    for (double& v : map.values) v = std::abs(v);
    map.low = 0;
    map.palette = draw::Palette::viridis;
  }
  if (tall * wide > 1) remarks.push_back(fmt::format("each cell is the largest of {} x {} entries", tall, wide));
  const std::string remark = remarks.empty() ? "" : fmt::format("{}\n", fmt::join(remarks, "; "));
  return remark + draw::to_terminal(map, terminal);
}

// ---- in words

/// Which blocks are zero, in words where they are many: every block for which `is` holds, and no other.
template <class F>
bool zero_where(const study::BlockStructure& b, F&& is) {
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < b.count; ++i)
    for (std::int64_t k = 0; k < b.count; ++k) expected += is(i, k);
  return static_cast<std::int64_t>(b.zero.size()) == expected &&
         std::all_of(b.zero.begin(), b.zero.end(), [&](const auto& at) { return is(at.first, at.second); });
}

std::string zero_text(const study::BlockStructure& b) {
  const auto count = static_cast<std::int64_t>(b.zero.size());
  if (count == 0) return "none is zero";
  if (count > most_blocks_named) {
    if (zero_where(b, [](auto i, auto k) { return i != k; })) return "all but those on the diagonal are zero";
    if (zero_where(b, [](auto i, auto k) { return k > i; })) return "those above the diagonal are zero";
    if (zero_where(b, [](auto i, auto k) { return k < i; })) return "those below the diagonal are zero";
  }
  std::string text = fmt::format("{} {} zero:", count, count == 1 ? "is" : "are");
  for (std::int64_t z = 0; z < std::min(count, most_blocks_named); ++z)
    text +=
        fmt::format(" [{},{}]", b.zero[static_cast<std::size_t>(z)].first, b.zero[static_cast<std::size_t>(z)].second);
  return text + (count > most_blocks_named ? " ..." : "");
}

std::string blocks_text(const study::BlockStructure& b) {
  if (b.count == 0) return "";
  return fmt::format("{0} x {0} blocks of {1} x {2}, one for each pair of rows; {3}\n", b.count, b.rows, b.columns,
                     zero_text(b));
}

std::string deviation_text(double d) { return d == 0 ? "0" : fmt::format("{:.1e}", d); }

std::string facts_text(const study::Jacobian& j) {
  const bool agrees = j.difference <= tick;
  const std::string last = agrees ? "agrees with central differences" : "differs from central differences";
  std::size_t width = last.size();
  for (const study::Fact& f : j.facts) width = std::max(width, f.text.size());
  std::string text = fmt::format("{:<{}}   deviation\n", "", width + 2);
  for (const study::Fact& f : j.facts) {
    const std::string deviation = deviation_text(f.deviation);
    text += f.meaning.empty() ? fmt::format("✓ {:<{}}   {}\n", f.text, width, deviation)
                              : fmt::format("✓ {:<{}}   {:<9}   {}\n", f.text, width, deviation, f.meaning);
  }
  text += fmt::format("{} {:<{}}   {}\n", agrees ? "✓" : "✗", last, width, deviation_text(j.difference));
  if (!agrees) text += fmt::format("  ({} may lie at a kink, or where y changes too fast for differences)\n", j.name);
  return text;
}

int print_text(const study::Jacobian& j) {
  draw::Terminal terminal = draw::terminal_of(stdout);
  if (!terminal.interactive) terminal.columns = 100;
  std::string text = fmt::format("J = d y / d {0}, {1} x {2}: y {3} by {0} {4}\n\n", j.name, j.matrix.rows,
                                 j.matrix.columns, j.y.shape(), j.x.shape());
  if (!j.matrix.values.empty()) {
    const std::string table = table_text(j, terminal.columns);
    text += (table.empty() ? map_text(j, terminal) : table) + "\n";
  }
  text += blocks_text(j.blocks) + j.rank_text + "\n\n" + facts_text(j);
  print(text);
  return success;
}

// ---- for programs

/// [y..., x...] where a tensor may have so many axes, else [y entries, x entries].
Tensor as_tensor(const study::Jacobian& j) {
  const Tensor flat = tensor(j.matrix.values, {j.matrix.rows, j.matrix.columns}, DType::f64);
  if (j.y.rank() + j.x.rank() > Shape::max_rank) return flat;
  Shape shape = j.y.shape();
  for (const std::int64_t n : j.x.shape()) shape.push_back(n);
  return reshape(flat, shape);
}

Json facts_json(const study::Jacobian& j) {
  Json facts = Json::array();
  for (const study::Fact& f : j.facts)
    facts.push_back({{"name", f.name}, {"text", f.text}, {"deviation", json_number(f.deviation)}});
  return facts;
}

int print_as_json(const study::Jacobian& j) {
  Json zero = Json::array();
  for (const auto& [i, k] : j.blocks.zero) zero.push_back({i, k});
  print_json(
      {{"jacobian", tensor_json(as_tensor(j))},
       {"rank", j.rank < 0 ? Json() : Json(j.rank)},
       {"blocks", {{"count", j.blocks.count}, {"rows", j.blocks.rows}, {"columns", j.blocks.columns}, {"zero", zero}}},
       {"facts", facts_json(j)},
       {"difference", json_number(j.difference)},
       {"ok", j.difference <= tick}});
  return success;
}

int run(const Options& o) {
  const study::Scope scope = scope_of(o.inputs);
  const std::string program = program_text(o.program);
  check_named("--wrt", o.wrt, scope, study::assigned_names(program));
  const study::Jacobian j = study::jacobian(program, scope, o.wrt);
  if (!o.out.empty()) save_npz(o.out, {{"jacobian", as_tensor(j)}, {"result", j.y}});
  return o.json ? print_as_json(j) : print_text(j);
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  add_program(app, o->program);
  app.add_option("--wrt", o->wrt, "the variable that the result is differentiated by")->type_name("A")->required();
  add_inputs(app, o->inputs);
  app.add_option("--out", o->out, "writes jacobian [y..., A...] and result")->type_name("F.npz");
  app.add_flag("--json", o->json, "print {jacobian, rank, blocks, facts, difference, ok}");
  add_threads(app);
  return [o] { return run(*o); };
}

const Registered registered({64, "jacobian", "the Jacobian of an expression, and what is true of it", add});

}  // namespace
}  // namespace gradus::cli
