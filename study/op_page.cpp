#include "study/op_page.hpp"

#include "draw/formula.hpp"
#include "draw/prose.hpp"
#include "draw/text.hpp"
#include "study/matrix_text.hpp"
#include "study/op_words.hpp"
#include "study/worked_sample.hpp"

#include <fmt/format.h>

namespace gradus::study {
namespace {

using Lines = std::vector<std::string>;

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

/// A tensor with its name above it.
Lines block(const std::string& title, const Tensor& x) {
  Lines lines{title};
  append(lines, matrix_lines(x));
  return lines;
}

Lines sentences(const std::string& text, int columns) { return draw::wrapped(draw::prose_to_unicode(text), columns); }

Lines formulas(std::string_view text) {
  Lines lines;
  for (const std::string& line : lines_of(text)) lines.push_back(draw::formula_to_unicode(line));
  return lines;
}

Lines rules(const OpEntry& op) {
  if (!op.differentiable) return {"none: it has no derivative"};
  const RuleLines rule = rule_lines(op);
  Lines lines;
  for (std::size_t i = 0; i < rule.lines.size(); ++i)
    lines.push_back(says_none(rule.lines[i]) && !rule.names.empty() ? "none for " + rule.names[i]
                                                                    : draw::formula_to_unicode(rule.lines[i]));
  return lines;
}

std::string verdict(const WorkedSample::Jacobian& j) {
  return fmt::format("{} largest difference {:.1e}", j.ok ? "✓" : "✗", j.difference);
}

/// The inputs and the output, then both Jacobians of each input.
Lines sample_lines(const OpEntry& op, const WorkedSample& sample, int columns) {
  Lines lines{sample.call, ""};
  std::vector<Lines> blocks;
  for (const auto& [name, x] : sample.inputs) blocks.push_back(block(name + " " + shape_text(x), x));
  blocks.push_back(block("y " + shape_text(sample.output), sample.output));
  append(lines, side_by_side(blocks, 4, columns));
  for (const WorkedSample::Jacobian& j : sample.jacobians) {
    append(lines, {"", fmt::format("∂y/∂{}: a row for each entry of y, a column for each of {}", j.input, j.input)});
    append(lines,
           side_by_side({block("by the rule", j.by_rule), block("by differences", j.by_differences)}, 4, columns));
    lines.push_back(verdict(j));
  }
  if (op.differentiable && sample.jacobians.empty())
    append(lines, {"", "No Jacobian: no sample stays in f64, and differences in other types prove nothing."});
  return lines;
}

// ---- Markdown

std::string math(const std::string& latex) { return fmt::format("$${}$$\n\n", latex); }

std::string fenced(const Lines& lines) {
  std::string text = "```text\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "```\n\n";
}

std::string markdown_rule(const OpEntry& op) {
  if (!op.differentiable) return "It has no derivative.\n\n";
  std::string text;
  const RuleLines rule = rule_lines(op);
  for (std::size_t i = 0; i < rule.lines.size(); ++i)
    if (!says_none(rule.lines[i])) text += math(rule.lines[i]);
    else if (!rule.names.empty()) text += fmt::format("No gradient for `{}`.\n\n", rule.names[i]);
  return text;
}

std::string markdown_sample(const WorkedSample& sample) {
  constexpr int columns = 110;
  Lines lines{sample.call, ""};
  std::vector<Lines> blocks;
  for (const auto& [name, x] : sample.inputs) blocks.push_back(block(name + " " + shape_text(x), x));
  blocks.push_back(block("y " + shape_text(sample.output), sample.output));
  append(lines, side_by_side(blocks, 4, columns));
  std::vector<Lines> jacobians;
  for (const WorkedSample::Jacobian& j : sample.jacobians)
    jacobians.push_back(block(fmt::format("∂y/∂{} {}", j.input, j.ok ? "✓" : "✗"), j.by_rule));
  if (!jacobians.empty()) lines.emplace_back();
  append(lines, side_by_side(jacobians, 4, columns));
  return fenced(lines);
}

std::string section(const OpEntry& op) {
  std::string text = fmt::format("## {}\n\n`{}`\n\n", op.name(), op.signature());
  for (const std::string& line : lines_of(op.info->math)) text += math(line);
  text += markdown_rule(op);
  if (*op.info->derivation) text += draw::prose_to_markdown(op.info->derivation) + "\n\n";
  if (op.differentiable) {
    text += fmt::format("Keeps {}", keeps_text(op.keeps));
    if (*op.info->why_kept) text += ": " + draw::prose_to_markdown(op.info->why_kept);
    text += ".\n\n";
  }
  const std::optional<WorkedSample> sample = worked_sample(op);
  if (sample && !sample->composition.empty()) text += "Defined by\n\n" + fenced(sample->composition);
  if (*op.info->numpy) text += fmt::format("NumPy: `{}`\n\n", numpy_text(op));
  return text + (sample ? markdown_sample(*sample) : "");
}

}  // namespace

std::string op_text(const OpEntry& op, int columns) {
  std::string text = op.signature() + "\n";
  const auto show = [&](std::string_view title, const Lines& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n", title);
    for (const std::string& line : lines) text += line.empty() ? "\n" : "  " + line + "\n";
  };
  const int inside = columns - 2;
  show("Formula", formulas(op.info->math));
  show(op.differentiable && rule_lines(op).lines.size() > 1 ? "Rule, a line for each input" : "Rule", rules(op));
  show("Derivation", sentences(op.info->derivation, inside));
  if (op.differentiable)
    show("Keeps for the way back",
         sentences(std::string(keeps_text(op.keeps)) + (*op.info->why_kept ? ": " : "") + op.info->why_kept, inside));
  const std::optional<WorkedSample> sample = worked_sample(op);
  if (sample) show("Defined by", sample->composition);
  if (*op.info->numpy) show("In NumPy", {numpy_text(op)});
  if (sample) show("A sample", sample_lines(op, *sample, inside));
  return text;
}

std::string ops_markdown(const std::vector<const OpEntry*>& ops) {
  std::string text;
  for (const OpEntry* op : ops) text += section(*op);
  text.pop_back();
  if (ops.size() == 1) return text;
  std::string top =
      "# Operations\n\nWritten by `gradus ops --markdown` from the registry. $\\bar x$ is the cotangent of $x$: the "
      "gradient of what is differentiated with respect to $x$. Under each op stands a small call with its numbers and "
      "its "
      "Jacobians, a row for each entry of y and a column for each entry of the input; ✓ says that central differences "
      "agree.\n\n";
  for (const OpEntry* op : ops)
    top += fmt::format("{}[{}](#{})", op == ops.front() ? "" : " · ", op->name(), op->name());
  return top + "\n\n" + text;
}

}  // namespace gradus::study
