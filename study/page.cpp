#include "study/page.hpp"

#include "draw/svg.hpp"
#include "study/page_parts.hpp"
#include "study/picture.hpp"

namespace gradus::study {

namespace {

using draw::escaped;
using page::Context;

std::string head(const std::string& title, Language language) {
  return fmt::format(R"(<!DOCTYPE html>
<html lang={}>
<head>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<meta http-equiv=Content-Security-Policy content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name=color-scheme content="light dark">
<title>{}</title>
<style>
{}</style>
</head>
)",
                     language == Language::zh ? "zh" : "en", escaped(title), page::style);
}

std::string header(const Derivation& d, const std::string& title, const PageOptions& options) {
  const Language language = options.language;
  const bool ok = d.crosses() == 0;
  const std::string verdict = verdict_sentence(d, language);
  std::string html = fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=summary>{} · {}</p>\n", escaped(title),
      !compared(d) ? verdict : fmt::format("<span class={}>{} {}</span>", ok ? "ok" : "wrong", ok ? "✓" : "✗", verdict),
      escaped(cotangent_sentence(d, language)));
  if (!options.program.empty())
    html += fmt::format("<details class=program><summary>{}</summary><pre>{}</pre></details>\n",
                        word(language, Word::program), escaped(options.program));
  return html + "</header>\n";
}

// The list of steps to jump to, forward and backward apart.
std::string contents(const Context& page) {
  std::string html = fmt::format(
      "<details class=contents open><summary>{}</summary>\n<nav aria-label=\"{}\">\n<a class=jump "
      "href=#step-0>{}</a>\n",
      page.say(Word::all_steps), page.say(Word::all_steps), page.say(Word::given));
  bool forward = false;
  for (std::size_t i = 0; i < page.steps.size(); ++i) {
    const StepView& step = page.steps[i];
    if (i == 0 || step.forward != forward)
      html += fmt::format("<h2>{}</h2>\n", page.say(step.forward ? Word::forward : Word::backward));
    forward = step.forward;
    const std::string mark =
        !step.verdict ? "" : fmt::format(" <span class={}</span>", step.verdict->ok ? "ok>✓" : "wrong>✗");
    html += fmt::format("<a class=\"jump{3}\" href=#step-{0}><span class=number>{0}</span> <code>{1}</code>{2}</a>\n",
                        step.number, escaped(step.name), mark, step.asked ? " asked" : "");
  }
  return html + "</nav>\n</details>\n";
}

std::string given(const Context& page, const std::string& program) {
  std::string html = fmt::format("<section class=\"step given\" id=step-0>\n<h2><span class=number>0</span> {}</h2>\n",
                                 page.say(Word::given));
  if (!program.empty()) html += fmt::format("<pre class=program>{}</pre>\n", escaped(program));
  html += "<div class=numbers>\n";
  for (const Quantity& q : page.derivation.quantities)
    if (q.made_by < 0)
      html += fmt::format("<div class=output><h3>{}</h3>\n{}</div>\n", page.say(word_of(q.role)),
                          page::figure(page, q.name));
  return html + "</div>\n</section>\n";
}

// The forward pass; the script marks in it where a step is.
std::string picture(const Derivation& d, Language language) {
  return fmt::format("<div class=picture role=group tabindex=0 aria-label=\"{}\">\n{}</div>\n",
                     word(language, Word::graph), draw::to_svg(graph_of(d)));
}

std::string controls(Language language) {
  std::string html = "<div class=controls hidden>\n";
  for (const auto& [action, sign, what] : {std::tuple{"first", "|◀", Word::first},
                                           {"previous", "◀", Word::previous},
                                           {"next", "▶", Word::next},
                                           {"last", "▶|", Word::last},
                                           {"play", "▶▶", Word::play}})
    html += fmt::format(
        "<button type=button data-go={0}><span class=sign aria-hidden=true>{1}</span> <span "
        "class=word>{2}</span></button>\n",
        action, sign, word(language, what));
  return html + fmt::format("<output class=position></output>\n<span class=hint>{}</span>\n</div>\n",
                            word(language, Word::keys_hint));
}

}  // namespace

std::string to_html(const Derivation& d, const PageOptions& options) {
  const Language language = options.language;
  const std::string title = options.title.empty() ? title_of(d, language) : options.title;
  const Context page(d, language);
  std::string html = head(title, language) + "<body>\n" + header(d, title, options);
  html += picture(d, language) + controls(language);
  html += "<div class=columns>\n" + contents(page) + "<main>\n" + given(page, options.program);
  for (const StepView& step : page.steps) html += page::section(page, step);
  html += "</main>\n</div>\n";
  html += fmt::format("<script type=application/json id=data>{}</script>\n", page::data(page));
  html += fmt::format("<script>\n{}</script>\n</body>\n</html>\n", page::script);
  return html;
}

}  // namespace gradus::study
