#include "draw/svg.hpp"
#include "study/page_parts.hpp"

#include <cmath>

// A tensor as HTML tables. The colour of a cell is a class, p1 ... p8 above zero and n1 ... n8 below, by its size against
// the largest of the tensor; page.css knows the colours. Closing tags that HTML lets one leave out are left out.
namespace gradus::study::page {

namespace {

constexpr std::int64_t most_cells = 15'000;  // of all figures together, at some 60 bytes each

std::string cell(const Numbers& numbers, const Shape& index) {
  const double strength = numbers.strength(index);
  const int level = static_cast<int>(std::ceil(std::abs(strength) * 8 - 1e-9));
  if (level == 0) return fmt::format("<td>{}", numbers.text(index));
  return fmt::format("<td class={}{}>{}", strength > 0 ? 'p' : 'n', level, numbers.text(index));
}

void append_table(std::string& html, const ShownPart& part, const Numbers& numbers, std::size_t m) {
  const std::string prefix = part.matrices[m].rank() == 0 ? "" : index_text(part.matrices[m]);
  html += fmt::format("<table data-rank={} data-at=\"{}\">", part.rank,
                      prefix.empty() ? "" : prefix.substr(1, prefix.size() - 2));
  if (!prefix.empty()) html += fmt::format("<caption>{}</caption>", prefix);
  if (part.rank >= 1) {
    html += part.rank >= 2 ? "<tr><td class=corner>" : "<tr>";
    for (std::int64_t column = 0; column < part.columns; ++column) html += fmt::format("<th scope=col>{}", column);
    if (part.columns < part.all_columns) html += "<th class=more>…";
  }
  for (std::int64_t row = 0; row < part.rows; ++row) {
    html += part.rank >= 2 ? fmt::format("<tr>\n<th scope=row>{}", row) : "<tr>\n";
    for (std::int64_t column = 0; column < part.columns; ++column) html += cell(numbers, part.index(m, row, column));
    if (part.columns < part.all_columns) html += "<th class=more>…";
  }
  if (part.rows < part.all_rows) html += "<tr>\n<th class=more>⋮";
  html += "</table>\n";
}

std::string note(const ShownPart& part, const Shape& shape, Language language) {
  if (part.empty()) return word(language, Word::empty_tensor);
  std::string text;
  if (part.some_matrices())
    text = say(language, Word::showing_block, std::to_string(part.matrices.size()), std::to_string(part.all_matrices),
               fmt::format("[{}, {}]", part.all_rows, part.all_columns));
  if (!part.cropped()) return text;
  const std::string corner =
      part.rank >= 2 ? fmt::format("[{}, {}]", part.rows, part.columns) : fmt::format("[{}]", part.columns);
  const std::string all = part.rank >= 2 ? fmt::format("[{}, {}]", part.all_rows, part.all_columns) : to_string(shape);
  return (text.empty() ? "" : text + "; ") + say(language, Word::showing_corner, corner, all);
}

}  // namespace

Context::Context(const Derivation& d, Language l)
    : derivation(d), language(l), steps(steps_of(d, l)), places(places_of(d)), most_rows(16) {
  const auto cells = [&] {
    std::int64_t count = 0;
    for (const auto& [name, place] : places) {
      const ShownPart part = shown_part(place.value.shape(), most_rows);
      count += static_cast<std::int64_t>(part.matrices.size()) * part.rows * part.columns;
    }
    return count;
  };
  while (most_rows > 4 && cells() > most_cells) most_rows -= 2;
}

std::string figure_id(const Place& place) {
  return place.step == 0 ? fmt::format("g-{}", place.quantity) : fmt::format("v-{}", place.step);
}

std::string figure(const Context& page, const std::string& name) {
  const Place& place = page.place(name);
  const std::string shown_name = draw::escaped(name);
  const Shape& shape = place.value.shape();
  const ShownPart part = shown_part(shape, page.most_rows);
  std::string html = fmt::format(
      "<figure class=matrix id={} data-name=\"{}\" data-step={}>\n<figcaption><code>{}</code> <span "
      "class=shape>{}</span></figcaption>\n<div class=tables>\n",
      figure_id(place), shown_name, place.step, shown_name, to_string(shape));
  if (!part.empty()) {
    const Numbers numbers(place.value);
    for (std::size_t m = 0; m < part.matrices.size(); ++m) append_table(html, part, numbers, m);
  }
  html += "</div>\n";
  if (const std::string text = note(part, shape, page.language); !text.empty())
    html += fmt::format("<p class=note>{}</p>\n", text);
  return html + "</figure>\n";
}

}  // namespace gradus::study::page
