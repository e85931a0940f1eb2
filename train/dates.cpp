#include "train/dates.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "core/error.hpp"
#include "core/random.hpp"

namespace gradus::train {
namespace {

constexpr std::array<std::string_view, 12> month_names{"January",   "February", "March",    "April",
                                                       "May",       "June",     "July",     "August",
                                                       "September", "October",  "November", "December"};

// In the order of std::chrono::weekday::c_encoding.
constexpr std::array<std::string_view, 7> day_names{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};

constexpr std::string_view formats[] = {
    "%B %o %Y",         // March 3rd 2024
    "%B %e, %Y",        // March 3, 2024
    "%b %e, %Y",        // Mar 3, 2024
    "%b %e '%y",        // Mar 3 '24
    "%e %B %Y",         // 3 March 2024
    "%e %B, %Y",        // 3 March, 2024
    "%o %b %Y",         // 3rd Mar 2024
    "the %o of %B %Y",  // the 3rd of March 2024
    "%A %e %b %Y",      // Sunday 3 Mar 2024
    "%A, %B %e, %Y",    // Sunday, March 3, 2024
    "%a %b %d %Y",      // Sun Mar 03 2024
    "%e-%b-%Y",         // 3-Mar-2024
    "%n/%e/%y",         // 3/3/24
    "%m/%d/%Y",         // 03/03/2024
    "%d.%m.%Y",         // 03.03.2024
    "%e.%n.%y",         // 3.3.24
    "%Y/%m/%d",         // 2024/03/03
    "%Y%m%d",           // 20240303
};

std::string_view ordinal_suffix(unsigned n) {
  if (n / 10 == 1) return "th";  // 11th, 12th, 13th
  switch (n % 10) {
    case 1: return "st";
    case 2: return "nd";
    case 3: return "rd";
    default: return "th";
  }
}

// ASCII alone: the result must not depend on the locale.
void change_case(std::string& text, char first, char last) {
  for (char& c : text) {
    if (c >= first && c <= last) c = static_cast<char>(c ^ 0x20);
  }
}

Drawn draw_date(Generator& generator) {
  const std::int64_t days = (last_date - first_date).count() + 1;
  const std::chrono::sys_days day = first_date + std::chrono::days{generator.integer(0, days)};
  const auto format = static_cast<std::size_t>(generator.integer(0, std::ssize(formats)));
  std::string source = format_date(day, formats[format]);
  switch (generator.integer(0, 4)) {
    case 0: change_case(source, 'A', 'Z'); break;  // all lower
    case 1: change_case(source, 'a', 'z'); break;  // ALL UPPER
    default: break;                                // half of all: As Written
  }
  std::string target = format_date(day, "%Y-%m-%d");
  return {.pair = {.source = std::move(source), .target = target}, .identity = target};
}

}  // namespace

std::span<const std::string_view> date_formats() { return formats; }

std::string format_date(std::chrono::sys_days day, std::string_view pattern) {
  const std::chrono::year_month_day date{day};
  const int y = static_cast<int>(date.year());
  const auto m = static_cast<unsigned>(date.month());
  const auto d = static_cast<unsigned>(date.day());
  const std::string_view month = month_names[m - 1];
  const std::string_view weekday = day_names[std::chrono::weekday{day}.c_encoding()];
  std::string text;
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    const char part = ++i < pattern.size() ? pattern[i] : '\0';
    switch (part) {
      case 'A': text += weekday; break;
      case 'a': text += weekday.substr(0, 3); break;
      case 'B': text += month; break;
      case 'b': text += month.substr(0, 3); break;
      case 'm': fmt::format_to(out, "{:02}", m); break;
      case 'n': fmt::format_to(out, "{}", m); break;
      case 'd': fmt::format_to(out, "{:02}", d); break;
      case 'e': fmt::format_to(out, "{}", d); break;
      case 'o': fmt::format_to(out, "{}{}", d, ordinal_suffix(d)); break;
      case 'Y': fmt::format_to(out, "{:04}", y); break;
      case 'y': fmt::format_to(out, "{:02}", y % 100); break;
      default:
        fail("format_date: \"{}\" has no known letter after the % at position {}; use AaBbmndeoYy", pattern, i - 1);
    }
  }
  return text;
}

PairTask dates_task() {
  return {.name = "dates",
          .description = "Dates as people write them (\"march 3rd 2024\", \"3/3/24\") to 2024-03-03.",
          .source_alphabet =
              " ',-./0123456789ABCDEFGHIJLMNOPRSTUVWY"
              "abcdefghijlmnoprstuvwy",
          .target_alphabet = "-0123456789",
          .longest_source = 29,  // Wednesday, September 30, 2026
          .longest_target = 10,
          .target = 0.995,
          .defaults = {},
          .draw = draw_date};
}

}  // namespace gradus::train
