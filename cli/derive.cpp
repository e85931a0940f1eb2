// gradus derive: every gradient step of an expression, said aloud and checked.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/json.hpp"
#include "core/arrays.hpp"
#include "core/files.hpp"
#include "core/op.hpp"
#include "draw/terminal.hpp"
#include "study/derivation_text.hpp"
#include "study/document.hpp"
#include "study/numpy.hpp"
#include "study/page.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string program;
  std::vector<std::string> wrt;
  Inputs inputs;
  bool values = false, json = false;
  std::string scalar, html, latex, numpy, language = "en";
};

const char* cotangent_kind(const study::Derivation& d) {
  if (d.cotangent_drawn) return "drawn";
  return d.backward[0].term->name.empty() ? "one" : "given";
}

Json shape_json(const Tensor& x) { return std::vector<std::int64_t>(x.shape().begin(), x.shape().end()); }

Json to_json(const study::Derivation& d) {
  Json forward = Json::array(), steps = Json::array();
  const auto quantity = [&](int i) -> const study::Quantity& { return d.quantities[static_cast<std::size_t>(i)]; };
  for (const study::ForwardStep& s : d.forward)
    forward.push_back({{"number", s.number},
                       {"name", quantity(s.output).name},
                       {"op", s.op->info().name},
                       {"expression", s.line},
                       {"shape", shape_json(quantity(s.output).value)},
                       {"role", study::to_string(quantity(s.output).role)}});
  for (const study::BackwardStep& s : d.backward) {
    Json parts = Json::array();
    for (const int i : s.parts) parts.push_back(d.backward[static_cast<std::size_t>(i)].name);
    steps.push_back({{"number", s.number},
                     {"name", s.name},
                     {"rule", s.line},
                     {"general", s.rule},
                     {"shape", shape_json(s.value)},
                     {"difference", json_number(s.verdict.difference)},
                     {"ok", s.verdict.ok},
                     {"how", s.verdict.how},
                     {"parts", std::move(parts)}});
  }
  return {{"steps", std::move(steps)},
          {"forward", std::move(forward)},
          {"result", quantity(d.result).name},
          {"cotangent", cotangent_kind(d)}};
}

// The program, the arrays that it loads and compares with beside it.
void write_numpy(const study::Derivation& d, const std::string& program, const std::string& path) {
  std::filesystem::path arrays = path;
  arrays.replace_extension(".npz");
  save_npz(arrays, study::numpy_arrays(d));
  write_file(path, study::to_numpy_program(d, program, arrays.filename().string()));
  print_error(fmt::format("wrote {} and {}\n", path, arrays.string()));
}

int derive(const Options& o) {
  const study::Language language = study::parse_language(o.language);
  study::Scope scope = scope_of(o.inputs);
  const std::string program = program_text(o.program);
  const study::Derivation d = study::derive(program, scope, o.wrt, {.seed = o.inputs.seed});
  const study::PageOptions page{.program = program, .language = language};
  const auto write = [](const std::string& path, const std::string& content) {
    write_file(path, content);
    print_error(fmt::format("wrote {}\n", path));
  };
  if (!o.html.empty()) write(o.html, study::to_html(d, page));
  if (!o.latex.empty()) write(o.latex, study::to_latex_document(d, page));
  if (!o.numpy.empty()) write_numpy(d, program, o.numpy);
  const draw::Terminal out = draw::terminal_of(stdout);
  if (o.json) print_json(to_json(d));
  else if (!o.scalar.empty()) print(study::scalar_text(d, o.scalar, language));
  else
    print(
        study::to_text(d, {.values = o.values, .language = language, .columns = out.interactive ? out.columns : 120}));
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  add_program(app, o->program);
  app.add_option("--wrt", o->wrt, "the names whose gradients are derived")
      ->required()
      ->delimiter(',')
      ->type_name("A,B");
  add_inputs(app, o->inputs);
  app.add_flag("--values", o->values, "show the matrices of every step");
  app.add_option("--scalar", o->scalar, "one entry of a gradient as sums of numbers")->type_name("'A[0,1]'");
  app.add_option("--html", o->html, "write a page to step through")->type_name("F");
  app.add_option("--latex", o->latex, "write a LaTeX document")->type_name("F");
  app.add_option("--numpy", o->numpy, "write the passes as a NumPy program, and its arrays beside it")
      ->type_name("F.py");
  app.add_option("--lang", o->language, "the words between the formulas: en or zh")
      ->type_name("L")
      ->capture_default_str();
  app.add_flag("--json", o->json, "print one JSON value");
  return [o] { return derive(*o); };
}

const Registered registered({32, "derive", "say every gradient step of an expression aloud, and check it", add});

}  // namespace
}  // namespace gradus::cli
