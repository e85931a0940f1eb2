// gradus ops: the registry of operations, for people, for programs, and as a page.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/show.hpp"
#include "core/error.hpp"
#include "core/registry.hpp"
#include "draw/formula.hpp"
#include "draw/prose.hpp"
#include "draw/terminal.hpp"
#include "draw/text.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string name;
  bool json = false, markdown = false;
};

std::string_view keeps_text(Keep keeps) {
  switch (keeps) {
    case Keep::nothing: return "nothing";
    case Keep::inputs: return "its inputs";
    case Keep::output: return "its output";
    case Keep::both: return "inputs and output";
  }
  return "";
}

/// The rule of each input: lines of OpInfo::rule.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<const OpEntry*> chosen(const Options& o) {
  if (o.name.empty()) return all_ops();
  if (const OpEntry* const op = find_op(o.name)) return {op};
  std::string near;
  for (const OpEntry* op : all_ops())
    if (op->name().find(o.name) != std::string::npos || o.name.find(op->name()) != std::string::npos)
      near += (near.empty() ? "" : ", ") + op->name();
  fail("there is no op \"{}\"; {}", o.name, near.empty() ? "`gradus ops` lists them" : "did you mean " + near + "?");
}

Json json_of(const OpEntry& op) {
  Json arguments = Json::array();
  for (const Param& p : op.params) arguments.push_back(std::string(p.name));
  return {{"name", op.name()}, {"arguments", arguments}, {"math", op.info->math}, {"rule", op.info->rule}};
}

std::string page_of(const OpEntry& op, int columns) {
  std::string text = op.signature() + "\n\n";
  const auto section = [&](std::string_view title, std::string_view body, bool wrap) {
    if (body.empty()) return;
    text += fmt::format("{}\n", title);
    for (const std::string& line : lines_of(body))
      for (const std::string& part : wrap ? draw::wrapped(draw::prose_to_unicode(line), columns - 2)
                                          : std::vector{draw::formula_to_unicode(line)})
        text += "  " + part + "\n";
  };
  section("Formula", op.info->math, false);
  section(op.differentiable ? "Rule, a line for each input" : "Rule",
          op.differentiable ? op.info->rule : "none: it has no derivative", false);
  section("Derivation", op.info->derivation, true);
  section("Keeps for the way back", keeps_text(op.keeps), false);
  section("Why", op.info->why_kept, true);
  section("In NumPy", op.info->numpy, false);
  return text;
}

std::string markdown_of(const OpEntry& op) {
  std::string text = fmt::format("## {}\n\n`{}`\n\n$${}$$\n\n", op.name(), op.signature(), op.info->math);
  for (const std::string& line : lines_of(op.info->rule)) text += fmt::format("$${}$$\n\n", line);
  if (*op.info->derivation) text += fmt::format("{}\n\n", op.info->derivation);
  text += fmt::format("Keeps {}", keeps_text(op.keeps));
  if (*op.info->why_kept) text += fmt::format(": {}", op.info->why_kept);
  return text + ".\n\n";
}

std::string list_of(const std::vector<const OpEntry*>& ops, int columns) {
  constexpr int formula_columns = 48;
  std::vector<std::vector<std::string>> rows;
  for (const OpEntry* op : ops) {
    std::string formula = draw::formula_to_unicode(op->info->math), arguments;
    std::replace(formula.begin(), formula.end(), '\n', ' ');
    for (const Param& p : op->params) arguments += (arguments.empty() ? "" : ", ") + std::string(p.name);
    rows.push_back({op->name(), draw::clipped(formula, formula_columns), arguments});
  }
  return table(rows, columns) +
         fmt::format("{} ops; `gradus ops NAME` shows the rule of one, where it comes from and what it keeps\n",
                     ops.size());
}

int ops(const Options& o) {
  const std::vector<const OpEntry*> found = chosen(o);
  const draw::Terminal terminal = draw::terminal_of(stdout);
  if (o.json) {
    Json all = Json::array();
    for (const OpEntry* op : found) all.push_back(json_of(*op));
    print_json(all);
  } else if (o.markdown) {
    std::string text = "# Operations\n\nWritten by `gradus ops --markdown` from the registry.\n\n";
    for (const OpEntry* op : found) text += markdown_of(*op);
    text.pop_back();
    print(text);
  } else if (!o.name.empty()) {
    print(page_of(*found.front(), terminal.columns));
  } else {
    print(list_of(found, terminal.interactive ? terminal.columns : 1000));
  }
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("NAME", o->name, "show one op: formula, rule, derivation, what it keeps and why");
  const auto json = app.add_flag("--json", o->json, "print a JSON list of {name, arguments, math, rule}");
  app.add_flag("--markdown", o->markdown, "print the reference page")->excludes(json);
  return [o] { return ops(*o); };
}

const Registered registered({70, "ops", "list the operations and their gradient rules", add});

}  // namespace
}  // namespace gradus::cli
