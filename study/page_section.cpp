#include "draw/formula.hpp"
#include "draw/svg.hpp"
#include "study/page_parts.hpp"

namespace gradus::study::page {

namespace {

using draw::escaped;

// `✓ difference 3.1e-10, every entry`
std::string verdict(const Context& page, const StepView& step) {
  if (!step.verdict) return {};
  const bool ok = step.verdict->ok;
  return fmt::format("<p class=\"verdict {}\"><span class=mark>{}</span> {}: {}</p>\n", ok ? "ok" : "wrong",
                     ok ? "✓" : "✗", page.say(ok ? Word::agrees : Word::disagrees),
                     escaped(verdict_text(*step.verdict, page.language)));
}

std::string link(const Context& page, const std::string& name) {
  return fmt::format("<a href=\"#step-{}\"><code>{}</code></a>", page.place(name).step, escaped(name));
}

std::string shapes(const Context& page, const StepView& step) {
  std::string html = fmt::format("<code>{}</code> {}", escaped(step.name), to_string(step.value.shape()));
  const char* between = " ← ";
  for (const std::string& name : step.operands) {
    html += fmt::format("{}{} {}", between, link(page, name), to_string(page.place(name).value.shape()));
    between = ", ";
  }
  return html;
}

std::string formulas(const Context& page, const StepView& step) {
  std::string html = "<dl>\n";
  const auto row = [&](Word what, const std::string& content) {
    html += fmt::format("<dt>{}<dd>{}\n", page.say(what), content);
  };
  const std::string premise =
      step.premise.empty() ? "" : formula(step.premise, true) + " <span class=implies>⇒</span> ";
  if (!step.general.empty()) row(Word::general_rule, premise + formula(step.general, true));
  if (step.term) row(Word::rule_here, formula(step.latex(), true));
  if (!step.line.empty()) row(Word::expression, fmt::format("<code class=line>{}</code>", escaped(step.line)));
  row(Word::shapes, shapes(page, step));
  if (!step.total.empty()) row(Word::part_of, link(page, step.total));
  return html + "</dl>\n";
}

// `2-5 3-5`: edges of the graph by their quantities.
std::string edges(const StepView& step) {
  std::string text;
  for (const auto& [from, to] : step.edges) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", from, to);
  return text;
}

}  // namespace

std::string formula(const std::string& latex, bool block) {
  try {
    return draw::formula_to_mathml(latex, block);
  } catch (const Error&) { return fmt::format("<code class=latex>{}</code>", escaped(latex)); }
}

std::string section(const Context& page, const StepView& step) {
  std::string html = fmt::format(
      "<section class=\"step {}\" id=step-{} data-node={} data-edges=\"{}\">\n<h2><span "
      "class=number>{}</span> {} <span class=kind>{}</span></h2>\n",
      step.forward ? "forward" : "backward", step.number, step.quantity, edges(step), step.number,
      formula(latex_name(step.name), false), escaped(step.kind));
  html += verdict(page, step);
  html += formulas(page, step);
  std::string figures;
  for (const std::string& name : step.operands) figures += (figures.empty() ? "" : " ") + figure_id(page.place(name));
  html += "<div class=numbers>\n";
  if (!figures.empty())
    html += fmt::format("<div class=inputs data-figures=\"{}\" data-label=\"{}\"></div>\n", figures,
                        page.say(Word::went_in));
  html += fmt::format("<div class=output><h3>{}</h3>\n", page.say(Word::came_out));
  html += figure(page, step.name);
  return html + "</div>\n</div>\n</section>\n";
}

}  // namespace gradus::study::page
