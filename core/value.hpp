#pragma once
#include "core/axes.hpp"
#include "core/mask.hpp"
#include "core/tensor.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace gradus {

/// One argument or attribute of an op, at run time: what the expression language, the samples and the observers handle.
class Value {
 public:
  using List = std::vector<Value>;
  Value();  ///< None
  Value(bool b);
  Value(int i);
  Value(std::int64_t i);
  Value(double d);
  Value(const char* s);
  Value(std::string s);
  Value(Tensor t);
  Value(Mask m);
  Value(List list);
  Value(const Axes& axes);
  Value(const Shape& shape);
  Value(DType dtype);
  // Out of line, all of them: they would be compiled again in every op's file.
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  bool is_none() const { return std::holds_alternative<std::monostate>(v_); }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&v_);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&v_);
  }
  /// The kind for error messages: "None", "a bool", "an int", "a number", "a string", "a tensor", "a mask", "a list".
  std::string_view kind() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, Mask, List> v_;
};

/// As the expression language writes it: None, True, 3, 0.5, "mean", [0, 1], causal(), tensor [2, 3].
std::string to_string(const Value& value);

// Conversions from Value to the parameter types of ops. Error `op: argument axis is a string; give an int or a list of
// ints`.
struct ArgumentName {
  std::string_view op;
  std::string_view argument;
};
bool as_bool(const Value& v, ArgumentName name);
std::int64_t as_int(const Value& v, ArgumentName name);  ///< also a number without a fraction, such as 4 / 2
double as_double(const Value& v, ArgumentName name);
std::string as_text(const Value& v, ArgumentName name);
/// A tensor as it is, None as an undefined one, a number as a rank-0 tensor, a nested list of numbers as a tensor.
/// Numbers become `numbers` (also whole ones: [1, 2] is f64 unless an index is expected), a list of nothing but True
/// and False becomes b8. Error for rows of different lengths, and for a fraction where `numbers` is i64.
Tensor as_tensor(const Value& v, ArgumentName name, DType numbers = DType::f64);
/// A mask, None as the mask that allows everything, a b8 tensor (or a nested list of True and False) as keep(t).
Mask as_mask(const Value& v, ArgumentName name);
Axes as_axes(const Value& v, ArgumentName name);    ///< an int, a list of ints, or None for all
Shape as_shape(const Value& v, ArgumentName name);  ///< a list of ints, or one int
std::vector<Tensor> as_tensors(const Value& v, ArgumentName name,
                               DType numbers = DType::f64);  ///< a list of what as_tensor takes

/// An enum that ops take by name: specialise `names` as an array of string_view in the order of its values.
template <class E>
struct EnumNames;
[[noreturn]] void fail_enum(ArgumentName name, std::string_view given, std::span<const std::string_view> allowed);
template <class E>
E as_enum(const Value& v, ArgumentName name) {
  const std::string given = as_text(v, name);
  for (std::size_t i = 0; i < std::size(EnumNames<E>::names); ++i)
    if (EnumNames<E>::names[i] == given) return static_cast<E>(i);
  fail_enum(name, given, EnumNames<E>::names);
}

/// How a loss folds its elements.
enum class Reduction : std::uint8_t { none, mean, sum };
template <>
struct EnumNames<Reduction> {
  static constexpr std::string_view names[] = {"none", "mean", "sum"};
};

template <>
struct EnumNames<Align> {
  static constexpr std::string_view names[] = {"unspecified", "start", "end"};
};

namespace detail {
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
}  // namespace detail

[[noreturn]] void fail_narrow(ArgumentName name, std::int64_t given);
template <class T>
T narrow(std::int64_t given, ArgumentName name) {
  if (!std::in_range<T>(given)) fail_narrow(name, given);
  return static_cast<T>(given);
}

/// The parameter of C++ type T (references and const taken off) from a Value.
template <class T>
T from_value(const Value& v, ArgumentName name) {
  if constexpr (std::is_same_v<T, Value>) return v;
  else if constexpr (detail::is_optional<T>::value)
    return v.is_none() ? T{} : T{from_value<typename T::value_type>(v, name)};
  else if constexpr (std::is_same_v<T, bool>) return as_bool(v, name);
  else if constexpr (std::is_same_v<T, DType>) return dtype_from_name(as_text(v, name));
  else if constexpr (std::is_enum_v<T>) return as_enum<T>(v, name);
  else if constexpr (std::is_integral_v<T>) return narrow<T>(as_int(v, name), name);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(as_double(v, name));
  else if constexpr (std::is_same_v<T, std::string>) return as_text(v, name);
  else if constexpr (std::is_same_v<T, Tensor>) return as_tensor(v, name);
  else if constexpr (std::is_same_v<T, Mask>) return as_mask(v, name);
  else if constexpr (std::is_same_v<T, Axes>) return as_axes(v, name);
  else return as_shape(v, name);
}

/// A member of an op as a Value.
template <class T>
Value to_value(const T& x) {
  if constexpr (detail::is_optional<T>::value) return x ? to_value(*x) : Value{};
  else if constexpr (std::is_same_v<T, bool>) return Value(x);
  else if constexpr (std::is_same_v<T, DType>) return Value(x);
  else if constexpr (std::is_enum_v<T>) return Value(std::string(EnumNames<T>::names[static_cast<std::size_t>(x)]));
  else if constexpr (std::is_integral_v<T>) return Value(static_cast<std::int64_t>(x));
  else if constexpr (std::is_floating_point_v<T>) return Value(static_cast<double>(x));
  else return Value(x);
}

}  // namespace gradus

extern template class std::vector<gradus::Value>;
