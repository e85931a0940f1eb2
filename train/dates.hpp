// Dates as people write them, and the task of reading them.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "train/task.hpp"

namespace gradus::train {

/// The first day of the task; two-digit years 70 to 99 mean 1970 to 1999.
inline constexpr std::chrono::sys_days first_date = std::chrono::year{1970} / std::chrono::January / 1;

/// The last day of the task; two-digit years 00 to 69 mean 2000 to 2069.
inline constexpr std::chrono::sys_days last_date = std::chrono::year{2069} / std::chrono::December / 31;

/// The ways in which the task writes a day, as patterns of format_date. Slashes with the year last
/// are month/day/year, with the year first year/month/day; dots are day.month.year.
std::span<const std::string_view> date_formats();

/// The day written by a pattern, in which these stand for the parts of Sunday, 3 March 2024:
/// `%A` Sunday, `%a` Sun, `%B` March, `%b` Mar, `%m` 03, `%n` 3, `%d` 03, `%e` 3, `%o` 3rd, `%Y`
/// 2024, `%y` 24. Errors: another letter after `%`.
std::string format_date(std::chrono::sys_days day, std::string_view pattern);

/// The task `dates`: "march 3rd 2024", "3/3/24", "Sunday 3 Mar 2024" ... to "2024-03-03". Days are
/// uniform over a century, formats uniform, letters in mixed, lower or upper case. The identity of
/// a pair is its day.
PairTask dates_task();

}  // namespace gradus::train
