#include "cli/inputs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "core/arrays.hpp"
#include "core/random.hpp"
#include "ops/ops.hpp"
#include "study/excerpt.hpp"

namespace gradus::cli {
namespace {

constexpr std::size_t longest_program = std::size_t{1} << 24;

void load(const std::string& file, study::Scope& scope) {
  for (const auto& [name, x] : load_npz(file))
    if (study::is_identifier(name)) scope.set(name, is_floating(x.dtype()) ? cast(x, scope.dtype) : x);
}

void set(const std::string& text, study::Scope& scope) {
  scope.assigned = [&scope](const std::string& name, Value& value) {
    if (value.get_if<Value::List>()) value = as_tensor(value, {"--set", name}, scope.dtype);
  };
  try {
    if (study::assigned_names(text).empty())
      study::fail_at(text, 0, "nothing is assigned; write --set 'name=value', as in --set 'A=[[1,2],[3,4]]'");
    study::evaluate(text, scope);
  } catch (const study::LanguageError& error) {
    throw study::LanguageError(fmt::format("--set: {}", error.what()), error.excerpt());
  }
  scope.assigned = nullptr;
}

std::uint64_t seed_of(const std::string& digits) {
  std::uint64_t seed = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, seed);
  if (error != std::errc() || stop != end) throw CLI::ValidationError("--seed", digits + " is no number from 0 on");
  return seed;
}

}  // namespace

void add_inputs(CLI::App& app, Inputs& inputs) {
  app.add_option("--in", inputs.files, "arrays by their names; may be repeated")
      ->type_name("F.npz")
      ->allow_extra_args(false);
  app.add_option("--set", inputs.sets, "a variable, as in --set 'A=[[1,2],[3,4]]'; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option_function<std::string>(
         "--dtype",
         [&inputs](const std::string& name) {
           if (name != "f64" && name != "f32") throw CLI::ValidationError("--dtype", name + " is neither f64 nor f32");
           inputs.dtype = dtype_from_name(name);
         },
         "of numbers, builders and loaded floats")
      ->type_name("f64|f32")
      ->default_str("f64");
  add_seed(app, inputs.seed, "of randn and its like, and of dropout");
}

void add_seed(CLI::App& app, std::uint64_t& seed, const std::string& of_what) {
  app.add_option_function<std::string>(
         "--seed", [&seed](const std::string& digits) { seed = seed_of(digits); }, of_what)
      ->type_name("N")
      ->default_str(fmt::format("{}", seed));
}

void add_program(CLI::App& app, std::string& program) {
  CLI::Option* const option =
      app.add_option("EXPR", program, "statements such as 'S = A @ B; softmax(S)'; - reads standard input");
  app.allow_extras();
  // `-A` looks like an option and is none.
  app.callback([&app, &program, option] {
    std::vector<std::string> extras = app.remaining();
    std::erase(extras, "--");
    if (option->count() == 0 && extras.size() == 1 && extras[0].size() > 1 && extras[0][1] != '-') program = extras[0];
    else if (!extras.empty()) throw CLI::ExtrasError(app.get_name(), extras);
    else if (option->count() == 0) throw CLI::RequiredError("EXPR");
  });
}

std::string program_text(const std::string& program) {
  if (program != "-") return program;
  std::string text;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, stdin)) > 0 && text.size() <= longest_program;)
    text.append(part, n);
  return text;
}

study::Scope scope_of(const Inputs& inputs) {
  study::Scope scope;
  scope.dtype = inputs.dtype;
  scope.generator = Generator(inputs.seed);
  seed(Generator(~inputs.seed).bits());  // dropout must not draw the numbers of randn again
  for (const std::string& file : inputs.files) load(file, scope);
  for (const std::string& text : inputs.sets) set(text, scope);
  return scope;
}

Tensor leaf_of(const Value& value, const std::string& name, DType dtype) {
  Tensor leaf = study::as_result(value, name, dtype).detach();
  if (!is_floating(leaf.dtype()))
    fail("{}: it is {} and has no gradient; give numbers of f64 or f32", name, leaf.dtype());
  return leaf.requires_grad(true);
}

void check_named(const std::string& option, const std::string& name, const study::Scope& scope,
                 const std::vector<std::string>& assigned) {
  if (scope.find(name) || std::find(assigned.begin(), assigned.end(), name) != assigned.end()) return;
  std::vector<std::string> names;
  for (const auto& [known, value] : scope.variables()) names.push_back(known);
  names.insert(names.end(), assigned.begin(), assigned.end());
  const std::string near = study::nearest(name, names);
  std::string advice = "give it with --in or --set, or assign it in the program";
  if (!near.empty()) advice = fmt::format("did you mean {}?", near);
  else if (!names.empty() && names.size() <= 12) advice = fmt::format("the variables are {}", fmt::join(names, ", "));
  fail("{} {}: no variable has that name; {}", option, study::shown(name), advice);
}

}  // namespace gradus::cli
