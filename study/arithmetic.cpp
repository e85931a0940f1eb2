#include "study/arithmetic.hpp"

#include <cmath>

#include "study/call.hpp"

namespace gradus::study {
namespace {

bool is_number(const Value& v) { return v.get_if<std::int64_t>() || v.get_if<double>(); }
bool is_truth(const Value& v) { return v.get_if<bool>() != nullptr; }
double number(const Value& v) { return as_double(v, {"arithmetic", "a"}); }

// ---- numbers

// By squaring; false when it does not fit.
bool whole_power(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  if (exponent < 0) return false;
  for (result = 1; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) return false;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

// False for / and where the result does not fit 63 bits: the numbers with fractions take over.
bool whole(std::string_view sign, std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (sign == "+") return !__builtin_add_overflow(a, b, &result);
  if (sign == "-") return !__builtin_sub_overflow(a, b, &result);
  if (sign == "*") return !__builtin_mul_overflow(a, b, &result);
  return sign == "**" && whole_power(a, b, result);
}

Value of_numbers(std::string_view sign, const Value& va, const Value& vb) {
  if (sign == "@") fail("matmul: both sides of @ are numbers; write * for their product");
  const auto* const ia = va.get_if<std::int64_t>();
  const auto* const ib = vb.get_if<std::int64_t>();
  std::int64_t result = 0;
  if (ia && ib && whole(sign, *ia, *ib, result)) return result;
  const double a = number(va), b = number(vb);
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;  // 1 / 0 is inf, as for tensors
  if (sign == "**") return std::pow(a, b);
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  if (sign == ">") return a > b;
  if (sign == ">=") return a >= b;
  fail("{}: it joins masks and truth values, and these are numbers; compare first, as in (a > 0) & (b > 0)", sign);
}

// ---- truth values and masks

Tensor truth_tensor(std::string_view sign, const Value& v) {
  Tensor t;
  if (v.get_if<Tensor>() || v.get_if<Value::List>() || is_truth(v)) t = as_tensor(v, {sign, "side"}, DType::b8);
  if (!t.defined() || t.dtype() != DType::b8)
    fail("{}: it joins masks and truth values, not {}; compare first, as in (a > 0) & (b > 0)", sign,
         t.defined() ? fmt::format("{} {}", t.dtype(), t.shape()) : std::string(v.kind()));
  return t;
}

// and, or, not of truth values, each by one op: a and b is b where a is true, else a.
Value of_truths(std::string_view sign, const Value& va, const Value& vb) {
  if (is_truth(va) && is_truth(vb)) {
    const bool a = *va.get_if<bool>(), b = *vb.get_if<bool>();
    return sign == "&" ? a && b : a || b;
  }
  const Tensor a = truth_tensor(sign, va), b = truth_tensor(sign, vb);
  return sign == "&" ? run_op("where", {a, b, a}) : run_op("where", {a, a, b});
}

Value joined(std::string_view sign, const Value& a, const Value& b) {
  if (!a.get_if<Mask>() && !b.get_if<Mask>()) return of_truths(sign, a, b);
  const auto mask = [&](const Value& v) { return v.get_if<Mask>() ? *v.get_if<Mask>() : keep(truth_tensor(sign, v)); };
  return sign == "&" ? mask(a) & mask(b) : mask(a) | mask(b);
}

std::string_view op_of(std::string_view sign) {
  constexpr std::pair<std::string_view, std::string_view> ops[] = {
      {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"@", "matmul"}, {"**", "pow"},
      {"==", "eq"}, {"!=", "ne"}, {"<", "lt"},  {"<=", "le"}, {">", "gt"},     {">=", "ge"}};
  for (const auto& [known, op] : ops)
    if (known == sign) return op;
  return "";
}

}  // namespace

Value binary(std::string_view sign, const Value& a, const Value& b, DType dtype) {
  if (is_number(a) && is_number(b)) return of_numbers(sign, a, b);
  if (sign == "&" || sign == "|") return joined(sign, a, b);
  if (is_truth(a) && is_truth(b) && (sign == "==" || sign == "!="))
    return (*a.get_if<bool>() == *b.get_if<bool>()) == (sign == "==");
  return run_op(op_of(sign), {a, b}, {}, dtype);
}

Value unary(std::string_view sign, const Value& a, DType dtype) {
  if (sign == "~") {
    if (is_truth(a)) return !*a.get_if<bool>();
    if (const auto* m = a.get_if<Mask>()) return ~*m;
    return run_op("eq", {truth_tensor("~", a), false});
  }
  if (is_number(a) && sign == "+") return a;
  if (const auto* d = a.get_if<double>()) return -*d;
  if (is_number(a)) return of_numbers("-", std::int64_t{0}, a);
  if (sign == "-") return run_op("neg", {a}, {}, dtype);
  if (a.is_none() || a.get_if<Mask>() || a.get_if<std::string>() || is_truth(a))
    fail("+: its operand is {}; give a tensor or a number", a.kind());
  return as_tensor(a, {"+", "x"}, dtype);
}

}  // namespace gradus::study
