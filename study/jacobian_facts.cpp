#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "study/jacobian.hpp"

// Each fact is a claim about every entry, tested on the numbers: what the matrix should be, and by how much it is not.
namespace gradus::study {
namespace {

constexpr double exactness = 1e-10;  // of a fact, relative to the largest entry

double largest(const std::vector<double>& values) {
  double found = 0;
  for (const double v : values) found = std::max(found, std::abs(v));
  return found;
}

/// Tests claims about one Jacobian and keeps what holds.
class Facts {
 public:
  explicit Facts(Jacobian& j)
      : j_(j), m_(j.matrix), scale_(largest(m_.values)), square_(m_.rows == m_.columns && m_.rows > 1) {}

  void find(const std::vector<Matrix>& elsewhere) {
    if (scale_ == 0) {
      add("zero", "every entry is 0", fmt::format("to first order y does not move with {}", j_.name), 0);
      return;
    }
    softmax();
    const bool multiple = square_ && identity();
    if (!multiple) {
      sums();
      if (!(square_ && shapes())) by_rows();
    }
    constant(elsewhere);
  }

 private:
  void add(std::string name, std::string text, std::string meaning, double deviation) {
    j_.facts.push_back({std::move(name), std::move(text), std::move(meaning), deviation});
  }

  bool holds(double deviation) const { return deviation <= exactness * scale_; }

  /// Adds the fact when it holds.
  bool claim(const char* name, std::string text, std::string meaning, double deviation) {
    if (!holds(deviation)) return false;
    add(name, std::move(text), std::move(meaning), deviation);
    return true;
  }

  /// The largest |J[i, k] - expected(i, k)|.
  template <class F>
  double away_from(F&& expected) const {
    double away = 0;
    for (std::int64_t i = 0; i < m_.rows; ++i)
      for (std::int64_t k = 0; k < m_.columns; ++k) away = std::max(away, std::abs(m_(i, k) - expected(i, k)));
    return away;
  }

  /// The largest |J[i, k]| where it should be 0.
  template <class F>
  double inside(F&& is_zero) const {
    return away_from([&](std::int64_t i, std::int64_t k) { return is_zero(i, k) ? 0 : m_(i, k); });
  }

  // ---- diag(a) - a a^T

  // Entries of y lie on one line when they differ along `axis` alone; without an axis all do.
  std::vector<std::int64_t> lines(std::optional<int> axis) const {
    std::vector<std::int64_t> line(static_cast<std::size_t>(m_.rows), 0);
    if (!axis) return line;
    std::int64_t inner = 1;
    for (int i = *axis + 1; i < j_.y.rank(); ++i) inner *= j_.y.shape()[i];
    const std::int64_t extent = j_.y.shape()[*axis];
    for (std::int64_t i = 0; i < m_.rows; ++i)
      line[static_cast<std::size_t>(i)] = i / (inner * extent) * inner + i % inner;
    return line;
  }

  // Nowhere negative, and every line sums to 1.
  bool are_weights(const std::vector<double>& a, const std::vector<std::int64_t>& line) const {
    std::vector<double> sums(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) sums[static_cast<std::size_t>(line[i])] += a[i];
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] < 0 || std::abs(sums[static_cast<std::size_t>(line[i])] - 1) > exactness) return false;
    return true;
  }

  bool softmax_along(std::optional<int> axis, const char* text) {
    const std::vector<std::int64_t> line = lines(axis);
    const std::vector<double> a = j_.y.to_vector<double>();
    const auto form = [&](std::int64_t row, std::int64_t column) {
      const auto i = static_cast<std::size_t>(row), k = static_cast<std::size_t>(column);
      return line[i] == line[k] ? (i == k ? a[i] : 0) - a[i] * a[k] : 0;
    };
    if (!are_weights(a, line)) return false;
    double top = 0, factor = 0;
    for (std::int64_t i = 0; i < m_.rows; ++i)
      for (std::int64_t k = 0; k < m_.columns; ++k)
        if (std::abs(form(i, k)) > top) top = std::abs(form(i, k)), factor = m_(i, k) / form(i, k);
    if (top == 0) return false;
    const bool once = std::abs(factor - 1) <= exactness;
    const std::string times = once ? "diag(a) - a a^T" : fmt::format("{:.6g} (diag(a) - a a^T)", factor);
    if (once) factor = 1;
    return claim("softmax", fmt::format("{} {}", text, times),
                 axis ? (*axis + 1 == j_.y.rank() ? "a is that row of y" : "a is that column of y") : "a is y",
                 away_from([&](std::int64_t i, std::int64_t k) { return factor * form(i, k); }));
  }

  void softmax() {
    if (!square_ || j_.y.shape() != j_.x.shape()) return;
    const int rank = j_.y.rank();
    if (rank >= 2 && softmax_along(rank - 1, "each row's block equals")) return;
    if (rank >= 2 && softmax_along(rank - 2, "each column's block equals")) return;
    softmax_along({}, "J equals");
  }

  // ---- the whole matrix

  // Then every further fact follows.
  bool identity() {
    const double factor = m_(0, 0);
    const bool once = std::abs(factor - 1) <= exactness;
    return factor != 0 &&
           claim(once ? "identity" : "identity_multiple",
                 once ? "J is the identity" : fmt::format("J is {:.6g} times the identity", factor),
                 once ? fmt::format("y moves exactly as {} does", j_.name) : "",
                 away_from([&](std::int64_t i, std::int64_t k) { return i == k ? (once ? 1 : factor) : 0.0; }));
  }

  // Every row, or column, has the same sum.
  void equal_sums(const char* name, const char* side, const std::vector<double>& sums, const std::string& zero,
                  const std::string& one) {
    const auto away = [&](double value) {
      double found = 0;
      for (const double s : sums) found = std::max(found, std::abs(s - value));
      return found;
    };
    if (claim(name, fmt::format("every {} sums to 0", side), zero, away(0))) return;
    if (claim(name, fmt::format("every {} sums to 1", side), one, away(1))) return;
    if (sums.size() > 1) claim(name, fmt::format("every {} sums to {:.6g}", side, sums[0]), "", away(sums[0]));
  }

  void sums() {
    if (m_.values.size() == 1) return;
    std::vector<double> rows(static_cast<std::size_t>(m_.rows)), columns(static_cast<std::size_t>(m_.columns));
    for (std::int64_t i = 0; i < m_.rows; ++i)
      for (std::int64_t k = 0; k < m_.columns; ++k) {
        rows[static_cast<std::size_t>(i)] += m_(i, k);
        columns[static_cast<std::size_t>(k)] += m_(i, k);
      }
    equal_sums("row_sums", "row", rows, fmt::format("one number added to all of {} leaves y as it is", j_.name),
               fmt::format("one number added to all of {} is added to all of y", j_.name));
    equal_sums("column_sums", "column", columns, "the sum over y stays as it is",
               fmt::format("the sum over y moves as that over {}", j_.name));
  }

  // True for a diagonal matrix, of which its blocks say nothing more.
  bool shapes() {
    const std::string x = j_.name;
    if (claim("diagonal", "diagonal", fmt::format("each entry of y depends on its own entry of {} alone", x),
              inside([](auto i, auto k) { return i != k; })))
      return true;
    permutation();
    claim("symmetric", "symmetric", "", away_from([&](auto i, auto k) { return m_(k, i); }));
    claim("antisymmetric", "antisymmetric", "", away_from([&](auto i, auto k) { return -m_(k, i); }));
    orthogonal();
    claim("lower_triangular", "lower triangular", fmt::format("entry i of y depends on entries 0 to i of {}", x),
          inside([](auto i, auto k) { return k > i; }));
    claim("upper_triangular", "upper triangular", fmt::format("entry i of y depends on entries i to the last of {}", x),
          inside([](auto i, auto k) { return k < i; }));
    return false;
  }

  void permutation() {
    std::vector<int> rows(static_cast<std::size_t>(m_.rows)), columns(static_cast<std::size_t>(m_.columns));
    double away = 0;
    for (std::int64_t i = 0; i < m_.rows; ++i)
      for (std::int64_t k = 0; k < m_.columns; ++k) {
        const bool one = m_(i, k) > 0.5;
        rows[static_cast<std::size_t>(i)] += one;
        columns[static_cast<std::size_t>(k)] += one;
        away = std::max(away, std::abs(m_(i, k) - one));
      }
    const auto once = [](int count) { return count == 1; };
    if (std::all_of(rows.begin(), rows.end(), once) && std::all_of(columns.begin(), columns.end(), once))
      claim("permutation", "a permutation", fmt::format("y moves as {} does, entry by entry in another order", j_.name),
            away);
  }

  // J J^T = I. Rows of a large matrix are compared until one fails.
  void orthogonal() {
    double away = 0;
    for (std::int64_t i = 0; i < m_.rows; ++i)
      for (std::int64_t k = 0; k <= i; ++k) {
        double sum = 0;
        for (std::int64_t l = 0; l < m_.columns; ++l) sum += m_(i, l) * m_(k, l);
        away = std::max(away, std::abs(sum - (i == k)));
        if (away > exactness) return;
      }
    claim("orthogonal", "orthogonal: J J^T is the identity", "gradients keep their length", away);
  }

  // ---- blocks

  void by_rows() {
    const BlockStructure& b = j_.blocks;
    if (b.count == 0) return;
    const auto outside = [&](auto keep) {
      return inside([&](auto i, auto k) { return !keep(i / b.rows, k / b.columns); });
    };
    const std::string x = j_.name;
    if (claim("block_diagonal", "block diagonal by row",
              fmt::format("each row of y depends on its own row of {} alone", x),
              outside([](auto i, auto k) { return i == k; }))) {
      claim("equal_blocks", "all diagonal blocks are equal", "every row is treated alike",
            away_from([&](auto i, auto k) {
              return i / b.rows == k / b.columns ? m_(i % b.rows, k % b.columns) : m_(i, k);
            }));
      return;
    }
    claim("block_lower_triangular", "block lower triangular", fmt::format("row i of y depends on rows 0 to i of {}", x),
          outside([](auto i, auto k) { return k <= i; }));
    claim("block_upper_triangular", "block upper triangular",
          fmt::format("row i of y depends on rows i to the last of {}", x),
          outside([](auto i, auto k) { return k >= i; }));
  }

  // ---- other points

  void constant(const std::vector<Matrix>& elsewhere) {
    if (elsewhere.empty()) return;
    double away = 0;
    for (const Matrix& other : elsewhere) {
      if (other.values.size() != m_.values.size()) return;
      away = std::max(away, away_from([&](auto i, auto k) { return other(i, k); }));
      if (std::any_of(other.values.begin(), other.values.end(), [](double v) { return std::isnan(v); })) return;
    }
    const std::vector<double> x = j_.x.to_vector<double>(), y = j_.y.to_vector<double>();
    double offset = 0;
    for (std::int64_t i = 0; i < m_.rows; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < m_.columns; ++k) sum += m_(i, k) * x[static_cast<std::size_t>(k)];
      offset = std::max(offset, std::abs(sum - y[static_cast<std::size_t>(i)]));
    }
    const bool linear = offset <= exactness * std::max(largest(y), scale_ * largest(x));
    claim("constant", fmt::format("the same at {} other points", elsewhere.size()),
          linear ? fmt::format("y is linear in {}: y = J {}", j_.name, j_.name)
                 : fmt::format("y is J {} plus a constant", j_.name),
          away);
  }

  Jacobian& j_;
  const Matrix& m_;
  double scale_;
  bool square_;
};

}  // namespace

void detail::find_facts(Jacobian& j, const std::vector<Matrix>& elsewhere) {
  const auto& values = j.matrix.values;
  if (std::any_of(values.begin(), values.end(), [](double v) { return !std::isfinite(v); })) {
    j.rank = -1;
    j.rank_text = "not every entry is finite: no rank, no facts";
    return;
  }
  if (!values.empty()) Facts(j).find(elsewhere);
  find_rank(j);
}

}  // namespace gradus::study
