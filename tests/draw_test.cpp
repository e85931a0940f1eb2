#include "core/error.hpp"
#include "draw/curve.hpp"
#include "draw/heat_map.hpp"
#include "draw/palette.hpp"
#include "draw/progress.hpp"
#include "draw/svg.hpp"
#include "draw/text.hpp"
#include "draw/ticks.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <string>
#include <vector>

using namespace gradus::draw;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Terminal plain{.interactive = false, .color = false, .columns = 80};
constexpr Terminal colored{.interactive = true, .color = true, .columns = 80};

int count(const std::string& text, const std::string& part) {
  int result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++result;
  return result;
}

bool has(const std::string& text, const std::string& part) { return count(text, part) > 0; }

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result(1);
  for (const char c : text) {
    if (c == '\n') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// The text without its colour escapes.
std::string uncolored(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      result += text[i];
    }
  }
  return result;
}

/// The last escape of the line is the one that ends all colouring.
bool uncolored_end(const std::string& line) { return line.find(reset_color, line.rfind('\x1b')) != std::string::npos; }

/// Enough of an XML reader to notice what would break a browser: tags nest, attributes are quoted, no bare `&` or `<`.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&') {
      const std::size_t end = xml.find(';', i);
      if (end == std::string::npos || end - i > 6) return false;
    }
    if (xml[i] != '<') continue;
    const std::size_t end = xml.find('>', i);
    if (end == std::string::npos || xml.substr(i + 1, end - i - 1).find('<') != std::string::npos) return false;
    const std::string tag = xml.substr(i + 1, end - i - 1);
    if (count(tag, "\"") % 2 != 0) return false;
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty();
}

/// CIE lightness L* in [0, 100].
double lightness(Rgb color) { return 116 * std::cbrt(luminance(color)) - 16; }

/// The smallest y of the lines in an SVG chart.
double highest(const std::string& svg) {
  double result = inf;
  for (std::size_t at = svg.find('L'); at != std::string::npos; at = svg.find('L', at + 1)) {
    result = std::min(result, std::stod(svg.substr(svg.find(' ', at))));
  }
  return result;
}

std::string read_back(std::FILE* file) {
  std::string result;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) result += static_cast<char>(c);
  return result;
}

HeatMap small_map() {
  HeatMap map;
  map.rows = 2;
  map.columns = 3;
  map.values = {0, 0.3, 0.6, 1, not_a_number, 0.9};
  map.row_labels = {"the", " cat"};
  map.column_labels = {"猫", "\n", "<&>"};
  return map;
}

}  // namespace

TEST_CASE("display width counts terminal columns, not bytes or code points") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);  // e and a combining acute
  CHECK(display_width("猫が") == 4);
  CHECK(display_width("한") == 2);
  CHECK(display_width("，") == 2);
  CHECK(display_width("🙂") == 2);
  CHECK(display_width("␣↵…") == 3);
  CHECK(display_width("") == 0);
}

TEST_CASE("malformed UTF-8 decodes to one replacement character per byte and nothing is skipped") {
  CHECK(decode_utf8("a\xff"
                    "b") == U"a\ufffdb");
  CHECK(decode_utf8("\xe7\x8c") == U"\ufffd\ufffd");            // cut off
  CHECK(decode_utf8("\xc0\xaf") == U"\ufffd\ufffd");            // overlong slash
  CHECK(decode_utf8("\xe0\x80\xaf") == U"\ufffd\ufffd\ufffd");  // and in three bytes
  CHECK(decode_utf8("\xed\xa0\x80") == U"\ufffd\ufffd\ufffd");  // a surrogate
  CHECK(decode_utf8("\xf4\x90\x80\x80").size() == 4);           // beyond U+10FFFF
  CHECK(decode_utf8("\xf0\x9f\x99\x82") == U"🙂");
}

TEST_CASE("every code point survives encoding and decoding") {
  for (char32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 97) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    const std::u32string back = decode_utf8(encode_utf8(c));
    REQUIRE(back.size() == 1);
    REQUIRE(back[0] == c);
  }
}

TEST_CASE("spaces, newlines, control characters and stray bytes of a label can be seen") {
  CHECK(visible(" the") == "␣the");
  CHECK(visible("\n") == "↵");
  CHECK(visible("\t") == "⇥");
  CHECK(visible("\x1b[31m") == "␛[31m");
  CHECK(visible("\xe4") == "<e4>");
  CHECK(visible("\u202e") == "<202e>");
  CHECK(visible("\u0301") == "◌\u0301");
  CHECK(printable("two words\n") == "two words↵");
}

TEST_CASE("clipping and padding count columns and never cut a character") {
  CHECK(clipped("abcdef", 4) == "abc…");
  CHECK(clipped("abcd", 4) == "abcd");
  CHECK(clipped("猫猫猫", 4) == "猫…");
  CHECK(clipped("e\u0301e\u0301e\u0301", 2) == "e\u0301…");
  CHECK(clipped("abc", 0).empty());
  CHECK(padded("猫", 4, Side::right) == "  猫");
  CHECK(padded("a", 4, Side::center) == " a  ");
  CHECK(padded("long", 2) == "long");
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("", 7).empty());
}

TEST_CASE("viridis grows lighter in equal steps") {
  CHECK(color_at(Palette::viridis, 0) == Rgb{0x44, 0x01, 0x54});
  CHECK(color_at(Palette::viridis, 1) == Rgb{0xfd, 0xe7, 0x25});
  const double step = (lightness(color_at(Palette::viridis, 1)) - lightness(color_at(Palette::viridis, 0))) / 20;
  for (int i = 0; i < 20; ++i) {
    const double here = lightness(color_at(Palette::viridis, i / 20.0));
    const double next = lightness(color_at(Palette::viridis, (i + 1) / 20.0));
    // The original is uniform in a newer colour space, and anchors are rounded to 8 bits: a third of a step.
    CHECK(next - here == doctest::Approx(step).epsilon(0.33));
  }
}

TEST_CASE("colours outside the range are those of its ends, and NaN has one of its own") {
  CHECK(color_at(Palette::viridis, -3) == color_at(Palette::viridis, 0));
  CHECK(color_at(Palette::viridis, inf) == color_at(Palette::viridis, 1));
  CHECK(color_at(Palette::balance, not_a_number) == nan_color);
  for (int i = 0; i <= 100; ++i) {
    for (const Palette palette : {Palette::viridis, Palette::balance}) {
      const Rgb fill = color_at(palette, i / 100.0);
      CHECK_FALSE(fill == nan_color);
      // WCAG asks for a contrast of 4.5; the better of black and white always reaches it.
      const double light = std::max(luminance(fill), luminance(ink_on(fill)));
      const double dark = std::min(luminance(fill), luminance(ink_on(fill)));
      CHECK((light + 0.05) / (dark + 0.05) >= 4.5);
    }
  }
}

TEST_CASE("ticks are round numbers inside the range") {
  CHECK(tick_labels(nice_ticks({0, 1}, 5)) == std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(tick_labels(nice_ticks({-3, 7}, 5)) == std::vector<std::string>{"-2", "0", "2", "4", "6"});
  CHECK(tick_labels(nice_ticks({0, 3e-4}, 3)) == std::vector<std::string>{"0", "1e-04", "2e-04", "3e-04"});
  CHECK(tick_labels(log_ticks({1e-5, 1}, 6)) ==
        std::vector<std::string>{"1e-05", "0.0001", "0.001", "0.01", "0.1", "1"});
  CHECK(tick_labels(log_ticks({0.5, 20}, 6)) == std::vector<std::string>{"0.5", "1", "2", "5", "10", "20"});
}

TEST_CASE("ticks of extreme ranges are few, finite and inside") {
  const double most = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const Range range : {Range{-most, most}, Range{0, least}, Range{1e17, 1e17 + 64}, Range{-1e-300, 1e-300},
                            Range{most / 2, most}, Range{3, 3}}) {
    const std::vector<double> ticks = nice_ticks(widened(range), 5);
    CHECK(ticks.size() <= 20);
    for (const double tick : ticks) CHECK(std::isfinite(tick));
    CHECK(tick_labels(ticks).size() == ticks.size());
  }
}

TEST_CASE("a heat map whose counts do not match is refused with the numbers in the text") {
  HeatMap map = small_map();
  map.values.pop_back();
  CHECK_THROWS_WITH_AS(to_svg(map), "heat map: 5 values for 2 rows and 3 columns; 6 are needed", gradus::Error);
  map = small_map();
  map.row_labels.pop_back();
  CHECK_THROWS_WITH_AS(to_terminal(map, plain), "heat map: 1 row labels for 2 rows; give one per row or none",
                       gradus::Error);
  map = small_map();
  map.low = 1;
  map.high = 1;
  CHECK_THROWS_AS(to_svg(map), gradus::Error);
  map.low = not_a_number;
  CHECK_THROWS_AS(to_svg(map), gradus::Error);
}

TEST_CASE("the colour range is that of the finite values, and symmetric for signed ones") {
  HeatMap map = small_map();
  map.values = {-2, not_a_number, inf, 1, 0, -inf};
  CHECK(color_range(map).low == -2);
  CHECK(color_range(map).high == 1);
  map.palette = Palette::balance;
  CHECK(color_range(map).low == -2);
  CHECK(color_range(map).high == 2);
  map.low = 5;  // every value lies below
  map.palette = Palette::viridis;
  CHECK(color_range(map).low == 5);
  CHECK(color_range(map).high > 5);
}

TEST_CASE("a plain heat map shows labels, shades, NaN and the legend without a single escape") {
  const std::string text = to_terminal(small_map(), plain);
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(has(text, "␣cat"));
  CHECK(has(text, "猫"));
  CHECK(has(text, "↵"));
  CHECK(has(text, "██"));
  CHECK(has(text, "▒▒"));
  CHECK(has(text, "×× NaN"));
  CHECK(has(text, "0 · 0.05 ░ 0.25 ▒ 0.5 ▓ 0.75 █ 1"));
}

TEST_CASE("a coloured heat map paints each cell with its colour and ends every line uncoloured") {
  const std::string text = to_terminal(small_map(), colored);
  CHECK(has(text, background(color_at(Palette::viridis, 0.3))));
  CHECK(has(text, background(color_at(Palette::viridis, 1))));
  CHECK(has(text, background(nan_color)));
  for (const std::string& line : lines(text)) {
    if (has(line, "\x1b")) CHECK(uncolored_end(line));
  }
}

TEST_CASE("rows of a heat map line up, whatever the width of their labels") {
  HeatMap map = small_map();
  map.row_labels = {"猫猫", "x"};
  for (const Terminal& terminal : {plain, colored}) {
    const std::vector<std::string> rows = lines(uncolored(to_terminal(map, terminal)));
    CHECK(display_width(rows[1]) == display_width(rows[2]));
    CHECK(display_width(rows[0]) == display_width(rows[1]));
  }
}

TEST_CASE("a heat map wider than the terminal continues in blocks and loses no column") {
  HeatMap map;
  map.rows = 2;
  map.columns = 150;
  map.values.assign(300, 0.5);
  map.column_labels.assign(150, "字");
  const std::string text = to_terminal(map, plain);
  CHECK(count(text, "字") == 150);
  CHECK(has(text, "columns 0 to 37"));
  for (const std::string& line : lines(text)) CHECK(display_width(line) <= 80);
}

TEST_CASE("long column labels are written downwards") {
  HeatMap map;
  map.rows = 1;
  map.columns = 20;
  map.values.assign(20, 1);
  map.column_labels.assign(20, "abc");
  const std::vector<std::string> rows = lines(to_terminal(map, plain));
  CHECK(count(rows[0], "a") == 20);
  CHECK(count(rows[1], "b") == 20);
  CHECK(count(rows[2], "c") == 20);
}

TEST_CASE("an SVG heat map is well-formed, escaped, scalable, and tells each number under the pointer") {
  HeatMap map = small_map();
  map.title = "a < b & \"c\" \x1b";
  map.row_title = "query";
  map.column_title = "key";
  const std::string svg = to_svg(map);
  CHECK(well_formed(svg));
  CHECK(has(svg, "viewBox=\"0 0 "));
  CHECK(has(svg, "a &lt; b &amp; &quot;c&quot;"));
  CHECK(has(svg, "<title>query ␣cat, key &lt;&amp;&gt;: 0.9</title>"));
  CHECK(has(svg, ": nan</title>"));
  CHECK(count(svg, "<title>") == 6);
  CHECK(has(svg, hex(color_at(Palette::viridis, 0.3))));
  CHECK(count(svg, hex(nan_color)) == 1);
  CHECK_FALSE(has(svg, "\x1b"));
}

TEST_CASE("empty and one-cell heat maps are drawn") {
  const HeatMap empty;
  CHECK(well_formed(to_svg(empty)));
  CHECK(has(to_terminal(empty, plain), "no cells"));
  HeatMap one;
  one.rows = one.columns = 1;
  one.values = {not_a_number};
  CHECK(well_formed(to_svg(one)));
  CHECK(has(to_terminal(one, plain), "××"));
}

TEST_CASE("numbers are written into cells when asked") {
  HeatMap map = small_map();
  map.numbers = true;
  CHECK(has(to_terminal(map, plain), "0.30"));
  CHECK(has(uncolored(to_terminal(map, colored)), "0.90"));
  CHECK(has(to_svg(map), ">0.60</text>"));
}

TEST_CASE("a point that is not finite breaks the line in two") {
  Curve curve{.title = "", .x_title = "", .y_title = "", .series = {{"loss", {}, {1, 2, not_a_number, 4, 5, inf}}}};
  CHECK(count(to_svg(curve), "<path d=\"M") == 2);
  CHECK(count(to_svg(curve), "<circle") == 4);
  CHECK(well_formed(to_svg(curve)));
}

TEST_CASE("a logarithmic axis breaks the line where it is not positive") {
  Curve curve{.title = "", .x_title = "", .y_title = "", .series = {{"loss", {}, {1, 10, 0, 100, 10, -1}}}};
  curve.log_y = true;
  CHECK(count(to_svg(curve), "<path d=\"M") == 2);
  const Axes axes = axes_of(curve);
  CHECK(std::isnan(axes.up(0)));
  CHECK(axes.up(10) == doctest::Approx(0.5));  // the middle of 1 to 100
}

TEST_CASE("empty, constant, one-point and hopeless series make a chart without NaN in it") {
  const std::vector<std::vector<Series>> charts = {{},
                                                   {{"none", {}, {}}},
                                                   {{"one", {3}, {7}}},
                                                   {{"zero", {}, {0, 0}}},
                                                   {{"constant", {}, {0.5, 0.5, 0.5}}},
                                                   {{"nothing", {}, {not_a_number, inf}}},
                                                   {{"huge", {}, {-1.7e308, 1.7e308}}},
                                                   {{"tiny", {}, {5e-324, 0}}},
                                                   {{"same x", {2, 2}, {1, 3}}}};
  for (const std::vector<Series>& series : charts) {
    for (const bool log_y : {false, true}) {
      Curve curve{.title = "t", .x_title = "x", .y_title = "y", .series = series, .log_y = log_y};
      const std::string svg = to_svg(curve);
      CHECK(well_formed(svg));
      CHECK_FALSE(has(svg, "nan"));
      CHECK_FALSE(has(svg, "inf"));
      CHECK(lines(to_terminal(curve, plain)).size() >= 14);
    }
  }
}

TEST_CASE("a constant series is a line, a single point a dot") {
  Curve curve{.title = "", .x_title = "", .y_title = "", .series = {{"constant", {}, {0.5, 0.5, 0.5}}}};
  CHECK(count(to_svg(curve), "<path") == 1);
  int dotted_rows = 0;  // braille characters start with the bytes e2 a0 to e2 a3
  for (const std::string& line : lines(to_terminal(curve, plain))) {
    dotted_rows +=
        count(line, "\xe2\xa0") + count(line, "\xe2\xa1") + count(line, "\xe2\xa2") + count(line, "\xe2\xa3") > 60;
  }
  CHECK(dotted_rows == 1);
  curve.series = {{"one", {3}, {7}}};
  CHECK(count(to_svg(curve), "<path") == 0);
  CHECK(has(to_svg(curve), "<title>one: 3, 7</title>"));
}

TEST_CASE("a NaN prints without a sign") {
  CHECK(short_number(-not_a_number) == "nan");
  CHECK(cell_number(-not_a_number) == "nan");
  CHECK(has(progress_line({.step = 7, .loss = -not_a_number}, 0, 80, true), "loss nan"));
}

TEST_CASE("series with unequal counts of x and y are refused") {
  Curve curve{.title = "", .x_title = "", .y_title = "", .series = {{"loss", {1, 2}, {1}}}};
  CHECK_THROWS_WITH_AS(to_svg(curve), "curve: series 'loss' has 2 x for 1 y; give as many, or no x at all",
                       gradus::Error);
}

TEST_CASE("a long series is thinned but keeps its spike") {
  Series series{"loss", {}, std::vector<double>(100000, 1.0)};
  series.y[54321] = 9;
  Curve curve{.title = "", .x_title = "", .y_title = "", .series = {series}};
  const std::string thin = to_svg(curve);
  CHECK(thin.size() < 60000);
  curve.series = {{"loss", {}, {1, 9, 1}}};  // the same axes, nothing to thin
  CHECK(highest(thin) == highest(to_svg(curve)));
}

TEST_CASE("a terminal chart has the asked height, fits the width, and letters its lines without colour") {
  Curve curve{
      .title = "t", .x_title = "step", .y_title = "loss", .series = {{"one", {}, {3, 2, 1}}, {"two", {}, {1, 2, 3}}}};
  const std::string text = to_terminal(curve, plain, 10);
  CHECK(count(text, "│") + count(text, "┤") == 10);
  CHECK(has(text, "a one   b two"));
  CHECK(count(text, "b") == 2);  // in the legend and on the line
  for (const std::string& line : lines(text)) CHECK(display_width(line) <= 80);
  CHECK(has(to_terminal(curve, colored), foreground(series_color(1))));
}

TEST_CASE("a sparkline rises with its values, leaves gaps, and keeps to its width") {
  CHECK(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline(std::vector<double>{0, not_a_number, 1}, 8) == "▁ █");
  CHECK(display_width(sparkline(std::vector<double>(1000, 2.0), 20)) == 20);
  CHECK(sparkline({}, 20).empty());
}

TEST_CASE("a progress line never exceeds its width and gives up the bar first") {
  const Pace pace{.step = 4200, .loss = 1.2345, .learning_rate = 3e-4, .tokens_per_second = 12345, .seconds_left = 80};
  for (int columns = 1; columns < 140; ++columns)
    CHECK(display_width(progress_line(pace, 10000, columns, true)) <= columns);
  const std::string wide = progress_line(pace, 10000, 120, true);
  for (const char* part : {"42%", "━━", "4200/10000", "loss 1.2345", "lr 3.00e-04", "12.3k tok/s", "1m 20s left"}) {
    CHECK(has(wide, part));
  }
  const std::string narrow = progress_line(pace, 10000, 40, true);
  CHECK_FALSE(has(narrow, "━"));
  CHECK(has(narrow, "loss 1.2345"));
  CHECK(has(progress_line({.step = 7, .loss = not_a_number}, 0, 80, true), "step 7  loss nan"));
}

TEST_CASE("durations read like a clock") {
  CHECK(duration_text(8.4) == "8s");
  CHECK(duration_text(59.7) == "1m 00s");
  CHECK(duration_text(3725) == "1h 02m");
  CHECK(duration_text(100000) == "1d 03h");
  CHECK(duration_text(not_a_number) == "?");
}

TEST_CASE("progress redraws one line at most ten times a second and shows the last step at the end") {
  std::FILE* file = std::tmpfile();
  double now = 0;
  {
    Progress progress(file, 1000, true, 80, [&now] { return now; });
    for (int step = 1; step <= 1000; ++step) {
      now += 0.001;
      progress.update(step, 2.0, 1e-3, 100, 1);
    }
  }
  const std::string text = read_back(file);
  std::fclose(file);
  CHECK(count(text, "\r") >= 9);
  CHECK(count(text, "\r") <= 12);
  CHECK(count(text, "\n") == 1);
  CHECK(has(text.substr(text.rfind('\r')), "1000/1000"));
}

TEST_CASE("progress outside a terminal prints whole lines, about one per 5 percent or 10 seconds") {
  for (const double seconds_per_step : {0.001, 1.0}) {
    std::FILE* file = std::tmpfile();
    double now = 0;
    Progress progress(file, 1000, false, 80, [&now] { return now; });
    for (int step = 1; step <= 1000; ++step) {
      now += seconds_per_step;
      progress.update(step, 2.0, 1e-3, 100, 1);
    }
    progress.finish();
    progress.finish();
    const std::string text = read_back(file);
    std::fclose(file);
    CHECK_FALSE(has(text, "\r"));
    CHECK_FALSE(has(text, "━"));
    CHECK(count(text, "1000/1000") == 1);
    CHECK(count(text, "\n") == (seconds_per_step < 0.5 ? 21 : 101));
  }
}

TEST_CASE("a note is printed above the bar") {
  std::FILE* file = std::tmpfile();
  Progress progress(file, 10, true, 60);
  progress.update(1, 2.0, 1e-3, 100, 1);
  progress.note("saved");
  progress.finish();
  const std::string text = read_back(file);
  std::fclose(file);
  CHECK(has(text, "\rsaved\n\r 10%"));
}

TEST_CASE("progress into a pipe without reader neither throws nor kills the process") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::FILE* file = fdopen(ends[1], "w");
  close(ends[0]);
  void (*before)(int) = std::signal(SIGPIPE, SIG_DFL);  // one SIGPIPE would end the test program
  {
    Progress progress(file, 3, false);
    for (int step = 1; step <= 3; ++step) CHECK_NOTHROW(progress.update(step, 1, 1, 1, 1));
    CHECK_NOTHROW(progress.note("nobody reads this"));
  }
  std::fclose(file);
  std::signal(SIGPIPE, before);
}
