// gradus exhibit: what the articles get wrong, with the numbers that show it.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/show.hpp"
#include "draw/terminal.hpp"
#include "study/exhibit.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string id;
  bool json = false, all = false;
};

Json json_of(const study::Finding& f) {
  Json item = {{"name", f.name}, {"what", f.what}};
  if (!f.text.empty()) {
    item["text"] = f.text;
    return item;
  }
  Json list = Json::array();
  for (const double value : f.values) list.push_back(json_number(value));
  Json values = f.shape.rank() == 0 ? list[0] : list;
  if (f.shape.rank() == 2) {
    values = Json::array();
    const auto width = static_cast<std::size_t>(f.shape[1]);
    for (std::int64_t i = 0; i < f.shape[0]; ++i) {
      Json row = Json::array();
      for (std::size_t j = 0; j < width; ++j) row.push_back(list[static_cast<std::size_t>(i) * width + j]);
      values.push_back(row);
    }
  }
  item["values"] = values;
  if (!f.columns.empty()) item["columns"] = f.columns;
  if (!f.rows.empty()) item["rows"] = f.rows;
  return item;
}

Json json_of(const study::Exhibit& e) {
  Json numbers = Json::array();
  for (const study::Finding& f : study::findings(e)) numbers.push_back(json_of(f));
  return {{"id", e.id},   {"title", e.title},   {"claim", e.claim},      {"right", e.right},
          {"why", e.why}, {"numbers", numbers}, {"commands", e.commands}};
}

int list(bool as_json) {
  const auto all = study::exhibits();
  if (as_json) {
    Json items = Json::array();
    for (const study::Exhibit* e : all) items.push_back({{"id", e->id}, {"title", e->title}});
    print_json(items);
    return success;
  }
  std::vector<std::vector<std::string>> rows;
  for (const study::Exhibit* e : all) rows.push_back({e->id, e->title});
  const draw::Terminal terminal = draw::terminal_of(stdout);
  print(table(rows, terminal.interactive ? terminal.columns : 1000) +
        fmt::format("{} exhibits; `gradus exhibit ID` shows one, with numbers computed as you wait\n", all.size()));
  return success;
}

int exhibit(const Options& o) {
  if (o.id.empty() && !o.all) return list(o.json);
  const auto chosen = o.all ? study::exhibits() : std::vector{&study::exhibit(o.id)};
  if (o.json) {
    Json all = Json::array();
    for (const study::Exhibit* e : chosen) all.push_back(json_of(*e));
    print_json(o.all ? all : all[0]);
    return success;
  }
  const draw::Terminal terminal = draw::terminal_of(stdout);
  const int columns = terminal.interactive ? std::clamp(terminal.columns, 60, 100) : 100;
  for (const study::Exhibit* e : chosen)
    print((e == chosen.front() ? "" : "\n\n") + study::to_text(*e, study::findings(*e), columns));
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  const auto id = app.add_option("ID", o->id, "such as E1 or F3; without it all are listed");
  app.add_flag("--all", o->all, "show all of them, one after another")->excludes(id);
  app.add_flag("--json", o->json, "print {id, title, claim, right, why, numbers, commands}; a list for --all");
  add_threads(app);
  return [o] { return exhibit(*o); };
}

const Registered registered({85, "exhibit", "what articles get wrong, with the number that shows it", add});

}  // namespace
}  // namespace gradus::cli
