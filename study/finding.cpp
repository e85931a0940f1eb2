#include "study/finding.hpp"

#include "core/error.hpp"
#include "draw/text.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::study {
namespace {

using draw::display_width;

std::string with_commas(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

std::string without_negative_zero(std::string number) {
  if (number.find_first_not_of("-0.") == std::string::npos) number.erase(0, number.find_first_not_of('-'));
  return number;
}

std::vector<std::string> cells_of(const Finding& f) {
  std::vector<std::string> cells;
  for (const double value : f.values) cells.push_back(to_string(value, f.style, f.digits));
  return cells;
}

int widest(const std::vector<std::string>& texts, int least = 0) {
  for (const std::string& text : texts) least = std::max(least, display_width(text));
  return least;
}

/// Numbers side by side, `width` columns each and two apart.
std::string side_by_side(const std::vector<std::string>& cells, int width) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i ? "  " : "") + draw::padded(cells[i], width, draw::Side::right);
  return line;
}

bool has_own_lines(const Finding& f) { return f.shape.rank() == 2 || !f.columns.empty() || !f.text.empty(); }

/// Findings of one line each: names in one column, numbers in the next ones.
std::string lines_of(const std::vector<const Finding*>& block, int columns) {
  int widest_name = 0, cell_width = 0, most_cells = 1;
  for (const Finding* f : block) {
    widest_name = std::max(widest_name, display_width(f->what));
    cell_width = std::max(cell_width, widest(cells_of(*f)));
    most_cells = std::max(most_cells, static_cast<int>(f->values.size()));
  }
  const int name_width = std::min(widest_name, std::max(columns - most_cells * (cell_width + 2), 30));
  std::string text;
  for (const Finding* f : block) {
    const std::vector<std::string> names = draw::wrapped(f->what, name_width);
    for (std::size_t i = 0; i + 1 < names.size(); ++i) text += names[i] + "\n";
    text += draw::padded(names.empty() ? "" : names.back(), name_width) + "  " +
            side_by_side(cells_of(*f), cell_width) + "\n";
  }
  return text;
}

/// The parts of a heading: it is broken at its commas.
std::vector<std::string> parts_of(const std::string& heading) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < heading.size();) {
    const std::size_t comma = heading.find(", ", at);
    const std::size_t end = comma == std::string::npos ? heading.size() : comma + 1;
    parts.push_back(heading.substr(at, end - at));
    at = std::min(end + 1, heading.size());
  }
  return parts;
}

/// Columns of the longest part and of the longest word of all headings.
struct HeadingWidths {
  int part = 0, word = 0;
};
HeadingWidths widths_of(const std::vector<std::string>& headings) {
  HeadingWidths w;
  for (const std::string& heading : headings)
    for (const std::string& part : parts_of(heading)) {
      w.part = std::max(w.part, display_width(part));
      for (std::size_t at = 0; at < part.size();) {
        const std::size_t end = std::min(part.find(' ', at), part.size());
        w.word = std::max(w.word, display_width(std::string_view(part).substr(at, end - at)));
        at = end + 1;
      }
    }
  return w;
}

/// Headings broken into lines of `width`, all as tall as the tallest: they stand on the numbers.
std::vector<std::vector<std::string>> heading_lines(const std::vector<std::string>& headings, int width) {
  std::vector<std::vector<std::string>> broken;
  std::size_t tallest = 0;
  for (const std::string& heading : headings) {
    broken.emplace_back();
    for (const std::string& part : parts_of(heading))
      for (std::string& line : draw::wrapped(part, width)) broken.back().push_back(std::move(line));
    tallest = std::max(tallest, broken.back().size());
  }
  std::vector<std::vector<std::string>> lines(tallest);
  for (const auto& parts : broken)
    for (std::size_t line = 0; line < tallest; ++line) {
      const std::size_t empty = tallest - parts.size();
      lines[line].push_back(line < empty ? "" : parts[line - empty]);
    }
  return lines;
}

std::string matrix_text(const Finding& f, int columns) {
  const std::vector<std::string> cells = cells_of(f);
  const auto width = static_cast<std::size_t>(f.shape.rank() == 0 ? 1 : f.shape.back());
  const HeadingWidths headings = widths_of(f.columns);
  const int name_width = widest(f.rows), least = widest(cells, headings.word);
  const int room = (columns - name_width - 4) / static_cast<int>(std::max<std::size_t>(width, 1)) - 2;
  const int cell_width = std::clamp(std::max(least, headings.part), least, std::max(least, std::min(room, 14)));
  const auto line_of = [&](const std::string& name, const std::vector<std::string>& line) {
    std::string text = "    " + (f.rows.empty() ? "" : draw::padded(name, name_width) + "  ");
    text += side_by_side(line, cell_width);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = f.what + "\n";
  for (const auto& line : heading_lines(f.columns, cell_width)) text += line_of("", line);
  for (std::size_t i = 0; i * width < cells.size(); ++i) {
    const auto first = cells.begin() + static_cast<std::ptrdiff_t>(i * width);
    text += line_of(i < f.rows.size() ? f.rows[i] : "", {first, first + static_cast<std::ptrdiff_t>(width)});
  }
  return text;
}

std::string said_text(const Finding& f, int columns) {
  std::string text = f.what + "\n";
  for (const std::string& line : draw::wrapped(f.text, columns - 4)) text += "    " + line + "\n";
  return text;
}

}  // namespace

std::string to_string(double value, Finding::Style style, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  switch (style) {
    case Finding::Style::decimal: return without_negative_zero(fmt::format("{:.{}f}", value, digits));
    case Finding::Style::scientific: return fmt::format("{:.{}e}", value, digits - 1);
    case Finding::Style::exact: return fmt::format("{}", value);
    case Finding::Style::whole: return with_commas(fmt::format("{:.0f}", value));
  }
  return "";
}

double Finding::value() const {
  if (values.size() != 1) fail("finding {}: it has {} numbers, not one; ask for one by its place", name, values.size());
  return values.front();
}

double Finding::at(std::int64_t row, std::int64_t column) const {
  if (shape.rank() != 2 || row < 0 || row >= shape[0] || column < 0 || column >= shape[1])
    fail("finding {}: no number at row {} and column {} of shape {}; stay inside", name, row, column, shape);
  return values[static_cast<std::size_t>(row * shape[1] + column)];
}

Finding Finding::scientific(int digits_in_all) && {
  style = Style::scientific, digits = digits_in_all;
  return std::move(*this);
}
Finding Finding::whole() && {
  style = Style::whole;
  return std::move(*this);
}
Finding Finding::exact() && {
  style = Style::exact;
  return std::move(*this);
}
Finding Finding::decimals(int after_the_point) && {
  style = Style::decimal, digits = after_the_point;
  return std::move(*this);
}
Finding Finding::headed(std::vector<std::string> column_names, std::vector<std::string> row_names) && {
  columns = std::move(column_names), rows = std::move(row_names);
  return std::move(*this);
}

Finding number(std::string name, std::string what, double value) {
  return {.name = std::move(name), .what = std::move(what), .values = {value}, .columns = {}, .rows = {}};
}

Finding numbers(std::string name, std::string what, std::vector<double> values) {
  const Shape shape{std::ssize(values)};
  return {std::move(name), std::move(what), shape, std::move(values), {}, {}};
}

Finding matrix(std::string name, std::string what, const Tensor& values) {
  return {std::move(name), std::move(what), values.shape(), values.to_vector<double>(), {}, {}};
}

Finding table(std::string name, std::string what, const std::vector<std::vector<double>>& rows) {
  Finding f{
      std::move(name), std::move(what), {std::ssize(rows), rows.empty() ? 0 : std::ssize(rows.front())}, {}, {}, {}};
  for (const std::vector<double>& row : rows) {
    if (std::ssize(row) != f.shape[1])
      fail("finding {}: rows of {} and {} numbers; make them equally long", f.name, f.shape[1], row.size());
    f.values.insert(f.values.end(), row.begin(), row.end());
  }
  return f;
}

Finding said(std::string name, std::string what, std::string text) {
  return {std::move(name), std::move(what), {}, {}, {}, {}, std::move(text)};
}

std::string to_text(const std::vector<Finding>& findings, int columns) {
  std::string text;
  std::vector<const Finding*> block;
  const auto finish = [&] {
    if (!block.empty()) text += lines_of(block, columns);
    block.clear();
  };
  for (const Finding& f : findings) {
    if (!has_own_lines(f)) {
      block.push_back(&f);
      continue;
    }
    finish();
    text += f.text.empty() ? matrix_text(f, columns) : said_text(f, columns);
  }
  finish();
  return text;
}

}  // namespace gradus::study
