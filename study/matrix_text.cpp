#include "study/matrix_text.hpp"

#include "draw/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradus::study {
namespace {

// Without the decimals of `1.0000` where every entry is an integer.
std::vector<std::string> entries(const Tensor& x) {
  std::vector<std::string> texts;
  bool whole = true;
  for (const double value : x.to_vector<double>()) {
    texts.push_back(std::abs(value) < 1e-9 ? "0" : four_decimals(value));
    const std::string& text = texts.back();
    whole = whole && (text.find('.') == std::string::npos || text.substr(text.size() - 5) == ".0000");
  }
  if (whole)
    for (std::string& text : texts) text = text.substr(0, text.find('.'));
  return texts;
}

int width_of(const std::vector<std::string>& lines) {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, draw::display_width(line));
  return width;
}

}  // namespace

std::string four_decimals(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (std::abs(value) >= 1e9) return fmt::format("{:.4g}", value);
  // A tie such as 0.03125 may come out an ulp lower elsewhere: all that is nearly one goes the same way.
  const double scaled = std::floor(std::abs(value) * 1e4 + 0.5 + 1e-6) / 1e4;
  return fmt::format("{:.4f}", value < 0 && scaled > 0 ? -scaled : scaled);
}

std::vector<std::string> matrix_lines(const Tensor& x) {
  const std::vector<std::string> texts = entries(x);
  const std::int64_t columns = x.rank() == 0 ? 1 : x.size(-1), rows = x.rank() < 2 ? 1 : x.size(-2);
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::vector<std::string> lines;
  if (texts.empty()) return {"(no entries)"};
  for (std::size_t i = 0; i < texts.size(); i += static_cast<std::size_t>(columns)) {
    const auto row = static_cast<std::int64_t>(i) / columns;
    if (row > 0 && row % rows == 0) lines.emplace_back();
    std::string line;
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j)
      line += (j > 0 ? "  " : "") + draw::padded(texts[i + j], static_cast<int>(width), draw::Side::right);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> side_by_side(const std::vector<std::vector<std::string>>& blocks, int gap, int columns) {
  std::vector<std::string> lines;
  std::size_t height = 0;
  int width = -gap;
  for (const auto& block : blocks) width += width_of(block) + gap, height = std::max(height, block.size());
  if (width > columns) {
    for (const auto& block : blocks) {
      if (!lines.empty()) lines.emplace_back();
      lines.insert(lines.end(), block.begin(), block.end());
    }
    return lines;
  }
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::string part = i < blocks[b].size() ? blocks[b][i] : "";
      line += b + 1 < blocks.size() ? draw::padded(part, width_of(blocks[b]) + gap) : part;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace gradus::study
