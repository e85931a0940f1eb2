#pragma once
#include "core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace gradus {

/// Element types: f32 and f64 are differentiable, i64 holds indices, b8 holds truth values.
enum class DType : std::uint8_t { f32, f64, i64, b8 };

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, float>          ? DType::f32
                                  : std::is_same_v<T, double>       ? DType::f64
                                  : std::is_same_v<T, std::int64_t> ? DType::i64
                                                                    : DType::b8;

/// "f32", "f64", "i64" or "b8".
constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"f32", "f64", "i64", "b8"};
  return names[static_cast<int>(dtype)];
}

/// The dtype of that name. Error listing the four otherwise.
DType dtype_from_name(std::string_view name);

constexpr bool is_floating(DType dtype) { return dtype <= DType::f64; }
constexpr std::int64_t bytes_of(DType dtype) {
  constexpr std::int64_t bytes[] = {4, 8, 8, 1};
  return bytes[static_cast<int>(dtype)];
}

/// Calls f with a zero of the dtype's C++ type: `dispatch(x.dtype(), [&](auto zero) { using T = decltype(zero); ...
/// })`. The only switch over dtypes; its sisters below cover fewer of them.
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i64: return f(std::int64_t{});
    case DType::b8: break;
  }
  return f(bool{});
}

[[noreturn]] void fail_not_floating(const char* op, DType dtype);
[[noreturn]] void fail_not_number(const char* op);

/// As `dispatch`, for f32 and f64 alone. Error for the others naming op and `cast`.
template <class F>
decltype(auto) dispatch_floating(const char* op, DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::f64) return f(double{});
  fail_not_floating(op, dtype);
}

/// As `dispatch`, for f32, f64 and i64. Error for b8 naming op and `cast`.
template <class F>
decltype(auto) dispatch_number(const char* op, DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::f64) return f(double{});
  if (dtype == DType::i64) return f(std::int64_t{});
  fail_not_number(op);
}

}  // namespace gradus

template <>
struct fmt::formatter<gradus::DType> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradus::DType& value, Context& context) const {
    const auto text = gradus::name_of(value);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
