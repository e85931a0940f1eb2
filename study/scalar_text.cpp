// One entry of a gradient, back to the cotangent.
#include <algorithm>
#include <cctype>
#include <deque>
#include <set>

#include "study/derivation_text.hpp"

namespace gradus::study {
namespace {

struct Wanted {
  std::string name;
  Shape index;
};

std::string entry_name(const Wanted& w) {
  std::string text;
  for (const std::int64_t i : w.index) text += fmt::format("{}{}", text.empty() ? "" : ",", i);
  return text.empty() ? w.name : fmt::format("{}[{}]", w.name, text);
}

// `W[0, 1]` as d_W and 0, 1.
Wanted parse_entry(std::string_view text) {
  const auto bad = [&] { fail("--scalar: {} is no entry; write a name and indices, as W[0,1]", text); };
  const std::size_t open = text.find('[');
  Wanted wanted{std::string(text.substr(0, open)), {}};
  while (!wanted.name.empty() && wanted.name.back() == ' ') wanted.name.pop_back();
  if (!is_identifier(wanted.name)) bad();
  if (open == std::string_view::npos) return wanted;
  std::string number;
  for (const char c : text.substr(open + 1)) {
    if (std::isdigit(static_cast<unsigned char>(c))) number += c;
    else if (c == ',' || c == ']') {
      if (number.empty() || number.size() > 15 || wanted.index.rank() == Shape::max_rank) bad();
      wanted.index.push_back(std::stoll(number));
      number.clear();
    } else if (c != ' ') {
      bad();
    }
  }
  if (!number.empty() || text.back() != ']') bad();
  return wanted;
}

const BackwardStep* step_of(const Derivation& d, const std::string& name) {
  const auto it =
      std::find_if(d.backward.begin(), d.backward.end(), [&](const BackwardStep& s) { return s.name == name; });
  return it == d.backward.end() ? nullptr : &*it;
}

}  // namespace

std::string scalar_text(const Derivation& d, std::string_view entry, Language language, int most) {
  Wanted first = parse_entry(entry);
  if (!step_of(d, first.name)) {
    if (const int quantity = d.find(first.name); quantity >= 0)
      first.name = "d_" + d.quantities[static_cast<std::size_t>(quantity)].name;
  }
  if (!step_of(d, first.name)) {
    std::string known;
    for (const BackwardStep& s : d.backward) known += (known.empty() ? "" : ", ") + s.name;
    fail("--scalar: {} has no gradient here; the gradients are {}", parse_entry(entry).name, known);
  }
  std::string text;
  std::deque<Wanted> queue{first};
  std::set<std::string> seen{entry_name(first)};
  int left_out = 0;
  for (int shown = 0; !queue.empty(); queue.pop_front()) {
    const Wanted& wanted = queue.front();
    const BackwardStep& step = *step_of(d, wanted.name);
    const ScalarForm form = scalar_form(*step.term, wanted.index);
    if (shown++ >= most) {
      ++left_out;
      continue;
    }
    const std::string name = entry_name(wanted), space(name.size(), ' ');
    text += fmt::format("{} = {}\n{} = {}\n{} = {:.6g}\n", name, form.symbols, space, form.numbers, space, form.value);
    for (const auto& [leaf, index] : form.entries)
      if (step_of(d, leaf) && seen.insert(entry_name({leaf, index})).second) queue.push_back({leaf, index});
  }
  if (left_out > 0)
    text += fmt::format("… {} {}\n", left_out, language == Language::zh ? "个元素未列出" : "further entries");
  return text;
}

}  // namespace gradus::study
