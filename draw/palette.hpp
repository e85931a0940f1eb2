#pragma once

#include <cstdint>
#include <string>

namespace gradus::draw {

/// A colour in sRGB.
struct Rgb {
  std::uint8_t red, green, blue;
  /// Equal in every channel.
  bool operator==(const Rgb&) const = default;
};

/// How a number in [0, 1] becomes a colour.
enum class Palette {
  viridis,  ///< dark blue to yellow, for amounts; perceptually uniform (Smith and van der Walt, 2015, CC0)
  balance,  ///< blue over white to red, for signed values; 0.5 is white (ColorBrewer RdBu by C. Brewer)
};

/// The colour at `fraction`, interpolated between anchors; outside [0, 1] the nearest end, for NaN `nan_color`.
Rgb color_at(Palette palette, double fraction);

/// The neutral grey that no palette contains: the colour of a missing number.
inline constexpr Rgb nan_color{128, 128, 128};

/// The colour of the i-th curve: Okabe and Ito's set that colour-blind readers can tell apart, repeated after seven.
Rgb series_color(int index);

/// Number of colours before `series_color` repeats.
inline constexpr int series_colors = 7;

/// Relative luminance in [0, 1] (WCAG 2: linearised, weighted for the eye).
double luminance(Rgb color);

/// Black or white, whichever is easier to read on `background`.
Rgb ink_on(Rgb background);

/// `#rrggbb`.
std::string hex(Rgb color);

/// The terminal escape that makes `color` the text colour (24 bit).
std::string foreground(Rgb color);

/// The terminal escape that makes `color` the background (24 bit).
std::string background(Rgb color);

/// The terminal escape that ends all colouring.
inline constexpr const char* reset_color = "\x1b[0m";

}  // namespace gradus::draw
