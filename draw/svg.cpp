#include "draw/svg.hpp"

#include "draw/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradus::draw {

namespace {

constexpr std::string_view sans =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', "
    "'Microsoft YaHei', 'DejaVu Sans', sans-serif";
bool allowed_in_xml(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

}  // namespace

constexpr std::string_view monospace =
    "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', "
    "'PingFang SC', 'Microsoft YaHei', monospace\"";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char32_t c : decode_utf8(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += encode_utf8(allowed_in_xml(c) ? c : 0xfffd);
    }
  }
  return result;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size) { return 0.602 * size * display_width(text); }

void Svg::shape(std::string_view start, std::string_view name, std::string_view tooltip) {
  body_ += start;
  body_ += tooltip.empty() ? std::string("/>\n") : fmt::format("><title>{}</title></{}>\n", escaped(tooltip), name);
}

void Svg::rect(double x, double y, double width, double height, Rgb fill, std::string_view tooltip) {
  shape(fmt::format(R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}")svg", coordinate(x), coordinate(y),
                    coordinate(width), coordinate(height), hex(fill)),
        "rect", tooltip);
}

void Svg::line(double x1, double y1, double x2, double y2, double opacity) {
  shape(fmt::format(R"svg(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="currentColor" stroke-opacity="{}")svg",
                    coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2), coordinate(opacity)),
        "line", {});
}

void Svg::circle(double x, double y, double radius, Rgb fill, std::string_view tooltip) {
  shape(fmt::format(R"svg(<circle cx="{}" cy="{}" r="{}" fill="{}")svg", coordinate(x), coordinate(y),
                    coordinate(radius), hex(fill)),
        "circle", tooltip);
}

void Svg::path(std::string_view d, Rgb stroke, std::string_view dashes, std::string_view tooltip) {
  const std::string dashing = dashes.empty() ? "" : fmt::format(R"svg( stroke-dasharray="{}")svg", dashes);
  shape(fmt::format(R"svg(<path d="{}" fill="none" stroke="{}" stroke-width="1.6" stroke-linejoin="round" )svg"
                    R"svg(stroke-linecap="round"{})svg",
                    d, hex(stroke), dashing),
        "path", tooltip);
}

void Svg::text(double x, double y, std::string_view text, const TextStyle& style) {
  // A capital letter is about 0.7 em high; librsvg and old browsers do not know dominant-baseline, so shift by hand.
  const double drop = style.middle ? 0.35 * style.size : 0;
  const std::string place = style.rotated ? fmt::format(R"svg(transform="translate({} {}) rotate(-90)")svg",
                                                        coordinate(x + drop), coordinate(y))
                                          : fmt::format(R"svg(x="{}" y="{}")svg", coordinate(x), coordinate(y + drop));
  body_ += fmt::format(R"svg(<text {} font-size="{}" text-anchor="{}"{}>{}</text>)svg", place, coordinate(style.size),
                       style.anchor, style.bold ? R"svg( font-weight="600")svg" : "", escaped(text));
  body_ += '\n';
}

void Svg::open_group(std::string_view attributes) { body_ += fmt::format("<g {}>\n", attributes); }

void Svg::element(std::string_view xml) {
  body_ += xml;
  body_ += '\n';
}

void Svg::close_group() { body_ += "</g>\n"; }

std::string Svg::document(double width, double height, double least) const {
  const std::string narrowest = least > 0 ? fmt::format("min-width:{}px;", coordinate(std::ceil(least * width))) : "";
  // The attribute is the fallback for readers that do not know var().
  return fmt::format(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" class="gradus-{0}" viewBox="0 0 {1} {2}" width="100%" )svg"
      R"svg(color="#222" style="max-width:{3}px;{7}height:auto;color:var(--gradus-ink,#222)" )svg"
      R"svg(role="img" aria-label="{4}" font-family="{5}">)svg"
      "\n"
      R"svg(<rect width="{1}" height="{2}" rx="6" fill="#fff" style="fill:var(--gradus-paper,#fff)"/>)svg"
      "\n"
      R"svg(<g fill="currentColor">)svg"
      "\n{6}</g>\n</svg>\n",
      escaped(kind_), coordinate(width), coordinate(height), coordinate(std::ceil(1.25 * width)), escaped(label_), sans,
      body_, narrowest);
}

}  // namespace gradus::draw
