#include "draw/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace gradus::draw {

namespace {

constexpr Rgb rgb(std::uint32_t code) {
  return {static_cast<std::uint8_t>(code >> 16), static_cast<std::uint8_t>((code >> 8) & 0xffU),
          static_cast<std::uint8_t>(code & 0xffU)};
}

// Eleven equally spaced anchors each; between them straight lines in sRGB differ from the originals by under 1 %.
constexpr Rgb viridis_anchors[] = {rgb(0x440154), rgb(0x482475), rgb(0x414487), rgb(0x355f8d),
                                   rgb(0x2a788e), rgb(0x21918c), rgb(0x22a884), rgb(0x44bf70),
                                   rgb(0x7ad151), rgb(0xbddf26), rgb(0xfde725)};
constexpr Rgb balance_anchors[] = {rgb(0x053061), rgb(0x2166ac), rgb(0x4393c3), rgb(0x92c5de),
                                   rgb(0xd1e5f0), rgb(0xf7f7f7), rgb(0xfddbc7), rgb(0xf4a582),
                                   rgb(0xd6604d), rgb(0xb2182b), rgb(0x67001f)};
// Okabe and Ito, ordered so that the first few are dark enough for thin lines; their yellow is left out for that
// reason.
constexpr Rgb series_anchors[series_colors] = {rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7),
                                               rgb(0x56b4e9), rgb(0xe69f00), rgb(0x555555)};

std::uint8_t mix(std::uint8_t from, std::uint8_t to, double weight) {
  return static_cast<std::uint8_t>(std::lround(from + weight * (to - from)));
}

}  // namespace

Rgb color_at(Palette palette, double fraction) {
  if (std::isnan(fraction)) return nan_color;
  const std::span<const Rgb> anchors =
      palette == Palette::viridis ? std::span<const Rgb>(viridis_anchors) : std::span<const Rgb>(balance_anchors);
  const double position = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(anchors.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
  const double weight = position - static_cast<double>(i);
  const Rgb from = anchors[i];
  const Rgb to = anchors[i + 1];
  return {mix(from.red, to.red, weight), mix(from.green, to.green, weight), mix(from.blue, to.blue, weight)};
}

Rgb series_color(int index) { return series_anchors[((index % series_colors) + series_colors) % series_colors]; }

double luminance(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

Rgb ink_on(Rgb background) {
  // Contrast is (lighter + 0.05) / (darker + 0.05); black and white tie at luminance 0.179.
  return luminance(background) > 0.179 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

std::string foreground(Rgb color) { return fmt::format("\x1b[38;2;{};{};{}m", color.red, color.green, color.blue); }

std::string background(Rgb color) { return fmt::format("\x1b[48;2;{};{};{}m", color.red, color.green, color.blue); }

}  // namespace gradus::draw
