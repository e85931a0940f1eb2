// gradus exercise: backward by hand, handed out and graded.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/json.hpp"
#include "cli/show.hpp"
#include "draw/terminal.hpp"
#include "draw/text.hpp"
#include "study/exercise.hpp"
#include "study/grade.hpp"

namespace gradus::cli {
namespace {

struct Options {
  std::string name, out, answer;
  std::uint64_t seed = 0;
  bool json = false;
};

int columns() { return draw::terminal_of(stdout).interactive ? draw::terminal_of(stdout).columns : 100; }

std::string indented(std::string_view text, int indent) {
  std::string y;
  for (const std::string& line : draw::wrapped(text, columns() - indent))
    y += draw::repeated(" ", indent) + line + "\n";
  return y;
}

std::string names_text(const study::WorkedExercise& worked) {
  std::string names;
  for (const int line : worked.asked) names += (names.empty() ? "" : ", ") + worked.name_of(line);
  return names;
}

/// The result, whose cotangent is given.
std::string result_of(const study::Derivation& d) { return d.quantities.at(static_cast<std::size_t>(d.result)).name; }

int list(const Options& o) {
  if (o.json) {
    Json all = Json::array();
    for (const study::Exercise& e : study::exercises()) all.push_back({{"name", e.name}, {"title", e.title}});
    print_json(all);
    return success;
  }
  std::vector<std::vector<std::string>> rows{{"exercise", "backward by hand for"}};
  for (const study::Exercise& e : study::exercises()) rows.push_back({e.name, e.title});
  print(table(rows, columns()));
  print(
      "\n`gradus exercise NAME` shows the task, `--out F.npz` hands it out, `--answer F.npz` grades what you return\n");
  return success;
}

std::string task_text(const study::WorkedExercise& worked) {
  const study::Exercise& e = *worked.exercise;
  std::string text = fmt::format("{}: {}\n\n{}\nThe forward pass:\n", e.name, e.title, indented(e.task, 0));
  for (std::size_t at = 0; at < e.program.size();) {
    const std::size_t end = std::min(e.program.find('\n', at), e.program.size());
    text += "  " + e.program.substr(at, end - at) + "\n";
    at = end + 1;
  }
  std::string given, computed;
  const auto arrays = study::handout(worked);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const bool input = i < worked.inputs.size() || arrays[i].first == "cotangent";
    std::string& list = input ? given : computed;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", arrays[i].first, arrays[i].second.shape());
  }
  text += "\nGiven:\n" + indented(given, 2) + "Computed:\n" + indented(computed, 2);
  const std::string result = result_of(worked.derivation);
  text += fmt::format("d_{0} is {1}. Work out, in this order:\n", result,
                      worked.derivation.cotangent_drawn ? "the array cotangent" : "1");
  return text + indented(names_text(worked), 2);
}

int show(const Options& o, const study::WorkedExercise& worked) {
  const study::Exercise& e = *worked.exercise;
  if (!o.out.empty()) save_npz(o.out, study::handout(worked));
  if (o.json) {
    Json shapes = Json::object(), names = Json::array();
    for (const auto& [name, x] : study::handout(worked)) shapes[name] = std::vector(x.shape().begin(), x.shape().end());
    for (const int line : worked.asked) names.push_back(worked.name_of(line));
    print_json({{"exercise", e.name},
                {"seed", o.seed},
                {"file", o.out.empty() ? Json() : Json(o.out)},
                {"program", e.program},
                {"shapes", shapes},
                {"gradients", names}});
    return success;
  }
  print(task_text(worked));
  const std::string seed = o.seed == 0 ? "" : fmt::format(" --seed {}", o.seed);
  if (o.out.empty()) {
    print(fmt::format("\n`gradus exercise {}{} --out ex.npz` writes these numbers\n", e.name, seed));
    return success;
  }
  print(fmt::format("\n{} is written. In NumPy:\n\n{}\nThen: gradus exercise {}{} --answer mine.npz\n", o.out,
                    study::numpy_skeleton(worked, o.out, "mine.npz"), e.name, seed));
  return success;
}

const char* word(const study::GradedGradient& g) {
  if (g.missing) return "missing";
  switch (g.comparison.grade) {
    case study::Comparison::Grade::exact: return "exact";
    case study::Comparison::Grade::close: return "close";
    case study::Comparison::Grade::wrong: return "wrong";
    case study::Comparison::Grade::shape: return "shape";
  }
  return "";
}

Json json_of(const study::GradedGradient& g) {
  const bool compared = !g.missing && g.comparison.grade != study::Comparison::Grade::shape;
  const bool wrong = !g.missing && !g.right();
  return {{"name", g.name},
          {"grade", word(g)},
          {"difference", compared ? json_number(g.comparison.difference.largest) : Json()},
          {"slip", wrong ? Json(study::to_string(g.guess.slip)) : Json()},
          {"ratio",
           wrong && g.guess.slip == study::Slip::scale && g.guess.ratio != 0 ? json_number(g.guess.ratio) : Json()},
          {"follows", g.follows.empty() ? Json() : Json(g.follows)}};
}

/// Sentences speak of a claim; here it is an answer.
std::string addressed(std::string sentence) {
  constexpr std::string_view claim = "the claim ";
  if (sentence.rfind(claim, 0) == 0) sentence.replace(0, claim.size(), "your answer ");
  return sentence;
}

std::string line_of(const study::GradedGradient& g, int width) {
  const std::string name = draw::padded(g.name, width);
  if (g.missing) return fmt::format("  - {}  missing\n", name);
  const study::Difference& d = g.comparison.difference;
  if (g.right()) return fmt::format("  ✓ {}  {}  largest difference {:.3g}\n", name, word(g), d.largest);
  if (!g.follows.empty())
    return fmt::format("  ✗ {}  wrong, but it follows from your {}: this step is right\n", name, g.follows);
  const bool shape = g.comparison.grade == study::Comparison::Grade::shape;
  const bool said = shape || g.guess.slip == study::Slip::other;  // by the sentence, with its numbers
  std::string text = fmt::format("  ✗ {}  wrong", name);
  if (!said)
    text += fmt::format("  largest difference {:.3g}{}: {} instead of {}", d.largest, study::at_text(d.at),
                        study::number_text(d.a), study::number_text(d.b));
  text += "\n";
  const int indent = width + 6;
  text += indented(fmt::format("{}: {}", study::to_string(g.guess.slip), addressed(g.guess.sentence)), indent);
  if (!g.hint.empty()) text += indented("hint: " + g.hint, indent);
  return text;
}

/// Names are compared without underscores and capitals: `dS` is meant to be d_S.
std::string bare(const std::string& name) {
  std::string y;
  for (const char c : name)
    if (c != '_') y += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return y;
}

std::string meant(const std::string& name, const study::Grade& grade) {
  for (const study::GradedGradient& g : grade.gradients)
    if (g.missing && bare(g.name) == bare(name)) return fmt::format("; did you mean {}?", g.name);
  return "";
}

std::string next_after(const study::Exercise& exercise) {
  const auto& all = study::exercises();
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].name == exercise.name) return fmt::format("; next: gradus exercise {}", all[i + 1].name);
  return "";
}

/// The statements on one line, without comments.
std::string on_one_line(const std::string& program) {
  std::string text;
  for (std::size_t at = 0; at < program.size();) {
    const std::size_t end = std::min(program.find('\n', at), program.size());
    std::string statement = program.substr(at, std::min(program.find('#', at), end) - at);
    statement.erase(statement.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "; ") + statement;
    at = end + 1;
  }
  return text;
}

std::string verdict(const study::WorkedExercise& worked, const study::Grade& grade) {
  const auto right = std::count_if(grade.gradients.begin(), grade.gradients.end(), [](auto& g) { return g.right(); });
  if (grade.complete()) return fmt::format("all {} gradients are right{}\n", right, next_after(*worked.exercise));
  const study::Exercise& e = *worked.exercise;
  return fmt::format(
      "{} of {} gradients are right\n\nStuck? Every step, on the file that --out wrote:\n"
      "  gradus derive '{}' --wrt {} --in ex.npz --values\n",
      right, grade.gradients.size(), on_one_line(e.program), fmt::join(e.wrt, ","));
}

int grade_answer(const Options& o, const study::WorkedExercise& worked) {
  const study::Grade grade = study::grade(worked, load_npz(o.answer));
  if (o.json) {
    Json all = Json::array();
    for (const study::GradedGradient& g : grade.gradients) all.push_back(json_of(g));
    print_json({{"exercise", o.name},
                {"seed", o.seed},
                {"complete", grade.complete()},
                {"gradients", all},
                {"unknown", grade.unknown}});
    return success;
  }
  int width = 0;
  for (const study::GradedGradient& g : grade.gradients) width = std::max(width, draw::display_width(g.name));
  std::string text = fmt::format("{}, seed {}:\n", o.name, o.seed);
  for (const study::GradedGradient& g : grade.gradients) text += line_of(g, width);
  for (const std::string& name : grade.unknown)
    text +=
        fmt::format("  ? {}: nobody asked for an array of this name{}\n", draw::printable(name), meant(name, grade));
  print(text + "\n" + verdict(worked, grade));
  return success;
}

int run(const Options& o) {
  if (o.name.empty()) {
    if (!o.out.empty() || !o.answer.empty()) throw WrongUsage{"--out and --answer need the NAME of an exercise"};
    return list(o);
  }
  const study::WorkedExercise worked = study::work_out(study::find_exercise(o.name), o.seed);
  return o.answer.empty() ? show(o, worked) : grade_answer(o, worked);
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("NAME", o->name, "which exercise; without it they are listed");
  const auto out = app.add_option("--out", o->out, "write inputs and forward values here")->type_name("F.npz");
  app.add_option("--answer", o->answer, "grade the gradients in this file")->type_name("F.npz")->excludes(out);
  add_seed(app, o->seed, "of the numbers: give the same to --out and --answer");
  app.add_flag("--json", o->json, "print one JSON value");
  return [o] { return run(*o); };
}

const Registered registered({86, "exercise", "work gradients out by hand, and have them graded", add});

}  // namespace
}  // namespace gradus::cli
