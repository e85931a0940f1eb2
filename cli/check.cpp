// gradus check: is a gradient that somebody worked out right, and if not, what is the slip?
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/json.hpp"
#include "cli/side_by_side.hpp"
#include "draw/terminal.hpp"
#include "draw/text.hpp"
#include "study/claim.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string program;
  std::vector<std::string> wrt, claims;
  Inputs inputs;
  bool json = false;
};

using study::JudgedClaim;
using study::Slip;

/// The first wrong claim, or null.
const JudgedClaim* first_wrong(const std::vector<JudgedClaim>& claims) {
  const auto found = std::find_if(claims.begin(), claims.end(), [](const JudgedClaim& c) { return !c.right; });
  return found == claims.end() ? nullptr : &*found;
}

bool fits(const JudgedClaim& c) { return c.claimed.defined() && c.claimed.shape() == c.value.shape(); }

void print_verdict(const std::vector<JudgedClaim>& claims) {
  const JudgedClaim* const wrong = first_wrong(claims);
  double largest = 0;
  for (const JudgedClaim& c : claims) largest = std::max(largest, c.difference.largest);
  Json json{{"verdict", wrong ? "wrong" : "right"},
            {"step", nullptr},
            {"slip", nullptr},
            {"ratio", nullptr},
            {"difference", json_number(largest)}};
  if (wrong) {
    json["step"] = wrong->name;
    json["slip"] = study::to_string(wrong->guess.slip);
    if (wrong->guess.ratio != 0) json["ratio"] = json_number(wrong->guess.ratio);
    json["difference"] = fits(*wrong) ? json_number(wrong->difference.largest) : Json();
  }
  print_json(json);
}

int columns() { return draw::terminal_of(stdout).interactive ? draw::terminal_of(stdout).columns : 100; }

std::string wrapped(std::string_view text) {
  std::string y;
  for (const std::string& line : draw::wrapped(text, columns())) y += line + "\n";
  return y;
}

/// The text as one argument of a shell.
std::string shell_quoted(const std::string& text) {
  std::string y = "'";
  for (const char c : text) y += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return y + "'";
}

/// The inputs as they were given, for another command.
std::string arguments_of(const Inputs& inputs) {
  std::string text;
  for (const std::string& file : inputs.files) text += " --in " + shell_quoted(file);
  for (const std::string& set : inputs.sets) text += " --set " + shell_quoted(set);
  return inputs.seed == 0 ? text : text + fmt::format(" --seed {}", inputs.seed);
}

std::string line_of(const JudgedClaim& c, int width) {
  const std::string name = draw::padded(c.name, width);
  if (!c.claimed.defined()) return fmt::format("✗ {}  does not fit\n", name);
  if (!fits(c)) return fmt::format("✗ {}  shape {} in place of {}\n", name, c.claimed.shape(), c.value.shape());
  return fmt::format("{} {}  largest difference {:.3g}{}\n", c.right ? "✓" : "✗", name, c.difference.largest,
                     c.right ? "" : study::at_text(c.difference.at));
}

std::string sentence_of(const study::Guess& guess) {
  const bool ended =
      !guess.sentence.empty() && std::string_view(".?!").find(guess.sentence.back()) != std::string_view::npos;
  return fmt::format("{}: {}{}", study::to_string(guess.slip), guess.sentence, ended ? "" : ".");
}

/// The right line, with what it needs to be read alone.
std::string rule_text(const JudgedClaim& c, const study::Derivation& derivation) {
  if (c.rule.empty()) return "";
  std::string text = "\nThe right rule:\n";
  if (c.step < 0) return text + fmt::format("  {}\n", c.rule);
  const std::vector<std::string> lines = study::rule_lines(derivation, c.step);
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += fmt::format("  {}\n", lines[i]);
  return lines.size() > most ? text + "  ...\n" : text;
}

std::string explanation(const JudgedClaim& c, const study::Derivation& derivation, const Options& o) {
  std::string text = "\n" + wrapped(sentence_of(c.guess));
  if (!c.excerpt.empty()) text += "\n" + c.excerpt;
  if (fits(c)) text += "\n" + side_by_side(c.claimed, c.value, c.difference, c.tolerance);
  text += rule_text(c, derivation);
  std::string wrt;
  for (const std::string& name : o.wrt) wrt += (wrt.empty() ? "" : ",") + name;
  return text + fmt::format("\nEvery step of it:\n  gradus derive {} --wrt {}{} --values\n", shell_quoted(o.program),
                            wrt, arguments_of(o.inputs));
}

void print_text(const std::vector<JudgedClaim>& claims, const study::Derivation& derivation, const Options& o) {
  int width = 0;
  for (const JudgedClaim& c : claims) width = std::max(width, draw::display_width(c.name));
  std::string text;
  for (const JudgedClaim& c : claims) text += line_of(c, width);
  const JudgedClaim* const wrong = first_wrong(claims);
  if (wrong) text += explanation(*wrong, derivation, o);
  else text += claims.size() == 1 ? "right\n" : fmt::format("all {} claims are right\n", claims.size());
  print(text);
}

std::string cotangent_note(const study::Derivation& d, std::uint64_t seed) {
  const study::Quantity& result = d.quantities.at(static_cast<std::size_t>(d.result));
  return fmt::format("d_{} {}: no cotangent was given, so this one was drawn from seed {}\n", result.name,
                     result.value.shape(), seed);
}

int check(Options o) {
  o.program = program_text(o.program);
  study::Scope scope = scope_of(o.inputs);
  const study::Derivation derivation = study::derive(o.program, scope, o.wrt, {.seed = o.inputs.seed, .verify = false});
  const std::vector<JudgedClaim> claims = study::judge(derivation, scope, o.claims);
  if (derivation.cotangent_drawn) {
    const std::string note = cotangent_note(derivation, o.inputs.seed);
    if (o.json) print_error(note);
    else print(note);
  }
  if (o.json) print_verdict(claims);
  else print_text(claims, derivation, o);
  return success;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  add_program(app, o->program);
  app.add_option("--wrt", o->wrt, "what the gradients are with respect to")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  app.add_option("--claim", o->claims,
                 "what a gradient is said to be, as in --claim 'd_A = d_Z @ V.T'; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->required();
  add_inputs(app, o->inputs);
  app.add_flag("--json", o->json, "print {verdict, step, slip, ratio, difference}");
  return [o] { return check(*o); };
}

const Registered registered({34, "check", "judge a gradient worked out by hand, and name its slip", add});

}  // namespace
}  // namespace gradus::cli
