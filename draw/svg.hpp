#pragma once

#include "draw/palette.hpp"

#include <string>
#include <string_view>

namespace gradus::draw {

/// Text for XML: `& < > " '` become entities; characters that XML 1.0 forbids and malformed UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// A coordinate with at most two decimals and no trailing zeros.
std::string coordinate(double value);

/// How a piece of text is set.
struct TextStyle {
  double size = 12;                   ///< in user units
  std::string_view anchor = "start";  ///< start, middle or end
  bool middle = false;                ///< the point given is the middle of the letters' height, not the baseline
  bool rotated = false;               ///< a quarter turn, read upwards
  bool bold = false;                  ///< for titles
};

/// Width of text in user units: exact for a monospace font, a good guess for others.
double text_width(std::string_view text, double size);

/// Group attributes that make text monospace, so that token labels have a known width.
extern const std::string_view monospace;

/// A growing SVG document. It scales to the width it is given, up to 1.25 pixels per unit, and takes its colours from
/// the CSS variables --gradus-ink and --gradus-paper of the page around it (dark grey on white without them).
class Svg final {
 public:
  /// `kind` becomes the class, `label` what a screen reader says.
  Svg(std::string_view kind, std::string_view label) : kind_(kind), label_(label) {}

  /// One filled rectangle; `tooltip`, if not empty, is shown under the pointer.
  void rect(double x, double y, double width, double height, Rgb fill, std::string_view tooltip = {});
  /// A straight line in the ink colour.
  void line(double x1, double y1, double x2, double y2, double opacity = 1);
  /// A dot.
  void circle(double x, double y, double radius, Rgb fill, std::string_view tooltip = {});
  /// A stroked path with the path data `d`; `dashes` as in stroke-dasharray.
  void path(std::string_view d, Rgb stroke, std::string_view dashes = {}, std::string_view tooltip = {});
  /// A piece of text.
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// Opens a group with attributes that are already XML.
  void open_group(std::string_view attributes);
  /// Closes the last group.
  void close_group();
  /// One element that is already XML.
  void element(std::string_view xml);
  /// The whole document, `width` by `height` user units. It shrinks to no less than `least` pixels per unit: a page lets
  /// what is wider scroll.
  std::string document(double width, double height, double least = 0) const;

 private:
  void shape(std::string_view start, std::string_view name, std::string_view tooltip);

  std::string kind_;
  std::string label_;
  std::string body_;
};

}  // namespace gradus::draw
