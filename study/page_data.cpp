#include "study/page_parts.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

// What the script needs beyond the page itself. A sum takes some 300 bytes for each entry, so that they are written
// for what is shown of the smallest tensors first, until the page has enough.
namespace gradus::study::page {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_entries = 256;    // of a figure whose sums are spelled out
constexpr std::size_t most_bytes = 300'000;  // of all sums together

Json number(double value) {
  if (std::isfinite(value)) return std::stod(fmt::format("{:.10g}", value));
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json values(const Context& page, const Tensor& x) {
  Json list = Json::array();
  const ShownPart part = shown_part(x.shape(), page.most_rows);
  if (part.empty()) return list;
  const Numbers numbers(x);
  const bool truth = x.dtype() == DType::b8;
  for (const Shape& index : part.indices())
    list.push_back(truth ? Json(numbers.text(index)) : number(numbers.at(index)));
  return list;
}

// The sums of all entries, or a sentence that says why there are none.
Json sums(const Context& page, const StepView& step, std::size_t& bytes) {
  const std::vector<Shape> entries = shown_part(step.value.shape(), page.most_rows).indices();
  if (entries.size() > most_entries)
    return say(page.language, Word::too_large_for_entries, std::to_string(step.value.numel()));
  if (bytes > most_bytes) return page.say(Word::entry_not_prepared);
  Json list = Json::array();
  for (const Shape& index : entries) {
    const ScalarForm form = scalar_form(*step.term, index);
    if (form.symbols.empty()) return page.say(Word::no_sum_for_this);
    bytes += form.symbols.size() + form.numbers.size();
    list.push_back({form.symbols, form.numbers});
  }
  return list;
}

// No text of the page can end the script element or open a comment in it.
std::string safe(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string data(const Context& page) {
  Json figures = Json::object();
  for (const auto& [name, place] : page.places)
    if (place.step == 0) figures[figure_id(place)]["values"] = values(page, place.value);
  std::vector<const StepView*> smallest_first;
  for (const StepView& step : page.steps) smallest_first.push_back(&step);
  std::ranges::stable_sort(smallest_first, {}, [](const StepView* step) { return step->value.numel(); });
  std::size_t bytes = 0;
  for (const StepView* const step : smallest_first) {
    Json& entry = figures[fmt::format("v-{}", step->number)];
    entry["values"] = values(page, step->value);
    if (step->term) entry["sums"] = sums(page, *step, bytes);
    else entry["sums"] = cotangent_sentence(page.derivation, page.language);
  }
  Json words = Json::object();
  for (const auto& [key, what] : {std::pair{"went_in", Word::went_in},
                                  {"copy", Word::copy},
                                  {"copied", Word::copied},
                                  {"play", Word::play},
                                  {"pause", Word::pause},
                                  {"step_of", Word::step_of},
                                  {"given", Word::given},
                                  {"entry_hint", Word::entry_hint}})
    words[key] = page.say(what);
  const Json all = {{"figures", std::move(figures)}, {"words", std::move(words)}};
  return safe(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace gradus::study::page
