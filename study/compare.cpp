#include "study/compare.hpp"

#include "core/error.hpp"
#include "draw/quiet_write.hpp"

#include <cmath>
#include <cstdio>

namespace gradus::study {
namespace {

const char* word(Comparison::Grade grade) {
  switch (grade) {
    case Comparison::Grade::exact: return "exact";
    case Comparison::Grade::close: return "close";
    case Comparison::Grade::wrong: return "wrong";
    case Comparison::Grade::shape: return "wrong shape";
  }
  return "";
}

/// What `mine` is compared with.
Tensor right_of(std::string_view name, const Tensor& x) {
  if (!x.defined()) fail("compare: there is nothing to compare {} with: an undefined tensor", name);
  if (!x.requires_grad()) return x;
  const Tensor gradient = x.grad();
  if (!gradient.defined()) fail("compare: {} has no gradient yet; call backward first", name);
  return gradient;
}

}  // namespace

Comparison comparison_of(const Tensor& mine, const Tensor& right) {
  Comparison c{.mine = mine.shape(), .right = right.shape()};
  if (!(c.mine == c.right)) {
    c.grade = Comparison::Grade::shape;
    return c;
  }
  c.difference = difference_of(mine, right);
  const double apart = c.difference.largest, size = c.difference.size;
  if (apart <= 1e-12 * size) c.grade = Comparison::Grade::exact;
  else if (apart <= 1e-6 * std::max(1.0, size)) c.grade = Comparison::Grade::close;
  return c;
}

std::string to_line(std::string_view name, const Comparison& c) {
  if (c.grade == Comparison::Grade::shape)
    return fmt::format("{}  {}  yours is {}, the right one {}", name, word(c.grade), c.mine, c.right);
  std::string line =
      fmt::format("{}  {}  {}  largest difference {:.3g}", name, word(c.grade), c.right, c.difference.largest);
  if (!c.close())
    line += fmt::format("{}: {} instead of {}", at_text(c.difference.at), number_text(c.difference.a),
                        number_text(c.difference.b));
  return line;
}

Comparison compare(std::string_view name, const Tensor& mine, const Tensor& x) {
  if (!mine.defined()) fail("compare: {} is undefined; give a tensor", name);
  const Comparison c = comparison_of(mine.detach(), right_of(name, x).detach());
  draw::quiet_write(stdout, to_line(name, c) + "\n");
  return c;
}

}  // namespace gradus::study
