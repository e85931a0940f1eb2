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
#include "draw/terminal.hpp"
#include "draw/text.hpp"
#include "study/op_page.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string name;
  bool json = false, markdown = false;
};

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
    print(study::ops_markdown(found));
  } else if (!o.name.empty()) {
    print(study::op_text(*found.front(), terminal.interactive ? terminal.columns : 120));
  } else {
    print(list_of(found, terminal.interactive ? terminal.columns : 1000));
  }
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("NAME", o->name,
                 "show one op: formula, rule, derivation, what it keeps and why, and a sample with its Jacobians");
  const auto json = app.add_flag("--json", o->json, "print a JSON list of {name, arguments, math, rule}");
  app.add_flag("--markdown", o->markdown, "print the reference page")->excludes(json);
  return [o] { return ops(*o); };
}

const Registered registered({70, "ops", "list the operations and their gradient rules", add});

}  // namespace
}  // namespace gradus::cli
