#include "draw/formula.hpp"
#include "draw/svg.hpp"
#include "study/page_parts.hpp"

namespace gradus::study::page {

namespace {

using draw::escaped;

// `✓ difference 3.1e-10, every entry`
std::string verdict(const StepView& step, Language language) {
  if (!step.verdict) return {};
  const bool ok = step.verdict->ok;
  return fmt::format("<p class=\"verdict {}\"><span class=mark>{}</span> {}: {}</p>\n", ok ? "ok" : "wrong",
                     ok ? "✓" : "✗", word(language, ok ? Word::agrees : Word::disagrees),
                     escaped(verdict_text(*step.verdict, language)));
}

std::string link(const std::string& name, const std::map<std::string, Place, std::less<>>& places) {
  const auto found = places.find(name);
  if (found == places.end()) return fmt::format("<code>{}</code>", escaped(name));
  return fmt::format("<a href=\"#step-{}\"><code>{}</code></a>", found->second.step, escaped(name));
}

std::string shapes(const StepView& step, const std::map<std::string, Place, std::less<>>& places) {
  std::string html = fmt::format("<code>{}</code> {}", escaped(step.name), to_string(step.value.shape()));
  const char* between = " ← ";
  for (const std::string& name : step.operands) {
    html += fmt::format("{}{} {}", between, link(name, places), to_string(places.find(name)->second.value.shape()));
    between = ", ";
  }
  return html;
}

std::string formulas(const StepView& step, const std::map<std::string, Place, std::less<>>& places, Language language) {
  std::string html = "<dl>\n";
  const auto row = [&](Word what, const std::string& content) {
    html += fmt::format("<dt>{}<dd>{}\n", word(language, what), content);
  };
  if (!step.general.empty()) row(Word::general_rule, formula(step.general, true));
  if (step.term) row(Word::rule_here, formula(step.latex(), true));
  if (!step.line.empty()) row(Word::expression, fmt::format("<code class=line>{}</code>", escaped(step.line)));
  row(Word::shapes, shapes(step, places));
  std::string sum;
  for (const std::string& part : step.parts) sum += (sum.empty() ? "" : ", ") + link(part, places);
  if (!sum.empty()) row(Word::adds_up, sum);
  if (!step.total.empty()) row(Word::part_of, link(step.total, places));
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

std::string section(const StepView& step, const std::map<std::string, Place, std::less<>>& places, Language language) {
  std::string html = fmt::format(
      "<section class=\"step {}\" id=step-{} data-node={} data-edges=\"{}\">\n<h2 tabindex=-1><span "
      "class=number>{}</span> {} <span class=kind>{}</span></h2>\n",
      step.forward ? "forward" : "backward", step.number, step.quantity, edges(step), step.number,
      formula(latex_name(step.name), false), escaped(step.kind));
  html += verdict(step, language);
  html += formulas(step, places, language);
  std::string figures;
  for (const std::string& name : step.operands)
    figures += (figures.empty() ? "" : " ") + figure_id(places.find(name)->second);
  html += "<div class=numbers>\n";
  if (!figures.empty())
    html += fmt::format("<div class=inputs data-figures=\"{}\" data-label=\"{}\"></div>\n", figures,
                        word(language, Word::went_in));
  html += fmt::format("<div class=output><h3>{}</h3>\n", word(language, Word::came_out));
  html += figure(step.name, Place{step.number, step.quantity, step.forward, step.value}, language);
  return html + "</div>\n</div>\n</section>\n";
}

}  // namespace gradus::study::page
