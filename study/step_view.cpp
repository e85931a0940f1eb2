#include "study/step_view.hpp"

#include "core/op.hpp"

#include <algorithm>

namespace gradus::study {

namespace {

void collect_names(const Term& term, const Places& places, std::vector<std::string>& names) {
  std::vector<const Term*> waiting{&term};
  while (!waiting.empty()) {
    const Term* const t = waiting.back();
    waiting.pop_back();
    if (!t->name.empty() && places.contains(t->name) && std::ranges::find(names, t->name) == names.end())
      names.push_back(t->name);
    if (!t->name.empty()) continue;
    for (auto input = t->inputs.rbegin(); input != t->inputs.rend(); ++input)
      if (*input) waiting.push_back(input->get());
  }
}

std::string op_name(const Derivation& d, int forward) {
  return d.forward[static_cast<std::size_t>(forward)].op->info().name;
}

StepView view_of(const Derivation& d, const ForwardStep& step, Language language) {
  const Quantity& made = d.quantities[static_cast<std::size_t>(step.output)];
  StepView view;
  view.number = step.number;
  view.name = made.name;
  view.kind = fmt::format("{} · {}", word(language, Word::forward_step), step.op->info().name);
  if (made.role != Role::intermediate) view.kind += fmt::format(" · {}", word(language, word_of(made.role)));
  view.general = step.op->info().math;
  view.term = step.term;
  view.line = step.line;
  view.value = made.value;
  view.quantity = step.output;
  for (const int input : step.inputs)
    if (input >= 0) view.edges.emplace_back(input, step.output);
  return view;
}

std::string kind_of(const Derivation& d, const BackwardStep& step, Language language) {
  const std::string backward = word(language, Word::backward_step);
  switch (step.kind) {
    case BackwardStep::Kind::seed: return fmt::format("{} · {}", backward, word(language, Word::seed_step));
    case BackwardStep::Kind::rule: return fmt::format("{} · {}", backward, op_name(d, step.through));
    case BackwardStep::Kind::part:
      return fmt::format("{} · {} · {}", backward, op_name(d, step.through), word(language, Word::part_step));
    case BackwardStep::Kind::total: break;
  }
  return fmt::format("{} · {}", backward, word(language, Word::sum_over_paths));
}

StepView view_of(const Derivation& d, const BackwardStep& step, Language language) {
  StepView view;
  view.number = step.number;
  view.forward = false;
  view.name = step.name;
  view.kind = kind_of(d, step, language);
  view.asked = step.kind != BackwardStep::Kind::part && std::ranges::count(d.parameters, step.quantity) > 0;
  view.general = step.rule;
  view.term = step.term;
  view.line = step.line;
  view.value = step.value;
  view.quantity = step.quantity;
  if (!step.verdict.how.empty()) view.verdict = &step.verdict;
  if (step.through >= 0) {
    const ForwardStep& reversed = d.forward[static_cast<std::size_t>(step.through)];
    view.premise = reversed.op->info().math;
    view.edges.emplace_back(step.quantity, reversed.output);
  }
  for (const int part : step.parts) {
    const BackwardStep& share = d.backward[static_cast<std::size_t>(part)];
    view.parts.push_back(share.name);
    if (share.through >= 0)
      view.edges.emplace_back(share.quantity, d.forward[static_cast<std::size_t>(share.through)].output);
  }
  return view;
}

}  // namespace

Places places_of(const Derivation& d) {
  Places places;
  for (std::size_t i = 0; i < d.quantities.size(); ++i) {
    const Quantity& q = d.quantities[i];
    const int step = q.made_by < 0 ? 0 : d.forward[static_cast<std::size_t>(q.made_by)].number;
    places.insert_or_assign(q.name, Place{step, static_cast<int>(i), true, q.value});
  }
  for (const auto& [name, i] : d.aliases)
    places.emplace(name, places.at(d.quantities[static_cast<std::size_t>(i)].name));
  for (const BackwardStep& step : d.backward)
    places.insert_or_assign(step.name, Place{step.number, step.quantity, false, step.value});
  return places;
}

std::string StepView::latex() const { return term ? latex_name(name) + " = " + to_latex(*term) : latex_name(name); }

std::vector<StepView> steps_of(const Derivation& d, Language language) {
  const Places places = places_of(d);
  std::vector<StepView> views;
  for (const ForwardStep& step : d.forward) views.push_back(view_of(d, step, language));
  for (const BackwardStep& step : d.backward) views.push_back(view_of(d, step, language));
  std::map<std::string, std::string, std::less<>> total_of;
  for (StepView& view : views) {
    if (view.term) collect_names(*view.term, places, view.operands);
    for (const std::string& part : view.parts) total_of[part] = view.name;
  }
  for (StepView& view : views)
    if (const auto found = total_of.find(view.name); found != total_of.end()) view.total = found->second;
  return views;
}

std::string title_of(const Derivation& d, Language language) {
  std::string names;
  for (const int i : d.parameters)
    names += (names.empty() ? "d_" : ", d_") + d.quantities[static_cast<std::size_t>(i)].name;
  return say(language, Word::derivation_of, names);
}

std::string cotangent_sentence(const Derivation& d, Language language) {
  const std::string& name = d.quantities[static_cast<std::size_t>(d.result)].name;
  if (d.cotangent_drawn) return say(language, Word::cotangent_drawn, name);
  const bool one = d.cotangent.defined() && d.cotangent.numel() == 1 && d.cotangent.to_vector<double>()[0] == 1;
  return say(language, one ? Word::cotangent_one : Word::cotangent_given, name);
}

bool compared(const Derivation& d) {
  return std::ranges::any_of(d.backward, [](const BackwardStep& s) { return !s.verdict.how.empty(); });
}

std::string verdict_sentence(const Derivation& d, Language language) {
  if (!compared(d)) return word(language, Word::none_checked);
  const int crosses = d.crosses();
  if (crosses == 0) return word(language, Word::all_agree);
  return crosses == 1 ? word(language, Word::one_disagrees)
                      : say(language, Word::some_disagree, std::to_string(crosses));
}

std::string verdict_text(const Verdict& verdict, Language language) {
  const double difference = verdict.difference;
  return fmt::format("{} {}, {}", word(language, Word::difference),
                     difference == 0 ? "0" : fmt::format("{:.1e}", difference), say_how(language, verdict.how));
}

}  // namespace gradus::study
