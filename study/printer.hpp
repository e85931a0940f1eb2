#pragma once
#include "study/spelling.hpp"

namespace gradus::study {

/// Writes a term as text of a language with Python's operators; what differs between languages is virtual.
class Printer {
 public:
  virtual ~Printer() = default;
  Spelled spell(const Term& term);

 private:
  virtual std::string name(const std::string& name) { return name; }
  virtual Spelled number(double value) = 0;
  /// A constant tensor; not a number.
  virtual Spelled constant(const Tensor& x) = 0;
  /// The last two axes swapped; `rank` of the operand.
  virtual Spelled transposed(const Spelled& x, int rank) = 0;
  virtual Spelled call(const Term& term) = 0;
  /// `where`, the language's function that selects.
  virtual const char* where() const = 0;
  Spelled local_product(const Term& term);
};

/// All elements are this number.
std::optional<double> uniform_value(const Tensor& x);

/// `[[1, 2], [3, 4]]` with `entry` for each element.
std::string nested_list(const Tensor& x, const std::function<std::string(double)>& entry);

}  // namespace gradus::study
