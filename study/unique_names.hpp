#pragma once
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace gradus::study {

/// Names that are given once: a second `x` becomes x_2.
class UniqueNames {
 public:
  /// The name as wished, or with the first number that is free.
  std::string take(const std::string& wish) {
    std::string name = wish;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wish, i);
    return name;
  }
  /// The first of t1, t2, ... that is free.
  std::string numbered(const std::string& stem) {
    for (int& i = last_[stem];;)
      if (std::string name = fmt::format("{}{}", stem, ++i); taken_.insert(name).second) return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;
};

}  // namespace gradus::study
