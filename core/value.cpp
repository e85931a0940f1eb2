#include "core/value.hpp"

#include <cmath>

namespace gradus {

Value::Value() = default;
Value::Value(bool b) : v_(b) {}
Value::Value(int i) : v_(std::int64_t{i}) {}
Value::Value(std::int64_t i) : v_(i) {}
Value::Value(double d) : v_(d) {}
Value::Value(const char* s) : v_(std::string(s)) {}
Value::Value(std::string s) : v_(std::move(s)) {}
Value::Value(Tensor t) : v_(std::move(t)) {}
Value::Value(Mask m) : v_(std::move(m)) {}
Value::Value(List list) : v_(std::move(list)) {}
Value::Value(DType dtype) : v_(std::string(name_of(dtype))) {}
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;
namespace {

[[noreturn]] void fail_kind(ArgumentName name, const Value& v, const char* wanted) {
  fail("{}: argument {} is {}; give {}", name.op, name.argument, v.kind(), wanted);
}

Value list_of(const Shape& numbers) {
  Value::List list;
  for (const std::int64_t n : numbers) list.emplace_back(n);
  return Value(std::move(list));
}

// 1e-5 where fmt writes 1e-05.
std::string number_text(double d) {
  if (std::isnan(d)) return "nan";  // of either sign
  std::string text = fmt::format("{}", d);
  const std::size_t e = text.find('e');
  if (e != std::string::npos)
    while (e + 2 < text.size() - 1 && text[e + 2] == '0') text.erase(e + 2, 1);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// ---- a nested list of numbers as a tensor

bool only_bools(const Value& v) {
  if (const auto* list = v.get_if<Value::List>()) {
    for (const Value& item : *list)
      if (!only_bools(item)) return false;
    return true;
  }
  return v.get_if<bool>() != nullptr;
}

// The extents along the first items, e.g. [2, 3] for [[1, 2, 3], [4, 5, 6]].
Shape list_shape(const Value& v) {
  Shape shape;
  for (const Value* at = &v; const auto* list = at->get_if<Value::List>(); at = &list->front()) {
    shape.push_back(static_cast<std::int64_t>(list->size()));
    if (list->empty()) break;
  }
  return shape;
}

double list_number(const Value& v, ArgumentName name) {
  if (const auto* i = v.get_if<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* d = v.get_if<double>()) return *d;
  if (const auto* b = v.get_if<bool>()) return *b ? 1 : 0;
  fail("{}: argument {} is a list that holds {}; give numbers, or stack(...) tensors first", name.op, name.argument,
       v.kind());
}

void flatten(const Value& v, const Shape& shape, int depth, ArgumentName name, std::vector<const Value*>& items) {
  const auto* const list = v.get_if<Value::List>();
  const std::int64_t found = list ? static_cast<std::int64_t>(list->size()) : -1;
  const std::int64_t expected = depth < shape.rank() ? shape[depth] : -1;
  if (found != expected) {
    if (found < 0 || expected < 0)
      fail("{}: argument {} mixes numbers and lists at one level; nest them evenly", name.op, name.argument);
    fail("{}: argument {} has rows of {} and {} items; make them equally long", name.op, name.argument, expected,
         found);
  }
  if (!list) return items.push_back(&v);
  for (const Value& item : *list) flatten(item, shape, depth + 1, name, items);
}

template <class T>
T checked_element(const Value& v, ArgumentName name) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (const auto* i = v.get_if<std::int64_t>()) return *i;
    const double d = list_number(v, name);
    if (std::abs(d) >= 0x1p63 || std::floor(d) != d)
      fail("{}: argument {} holds {}; give whole numbers", name.op, name.argument, number_text(d));
    return static_cast<T>(d);
  } else if constexpr (std::is_same_v<T, bool>) {
    const double d = list_number(v, name);
    if (d != 0 && d != 1) fail("{}: argument {} holds {}; give True or False", name.op, name.argument, number_text(d));
    return d != 0;
  } else {
    return static_cast<T>(list_number(v, name));
  }
}

Tensor tensor_of(const Value& v, ArgumentName name, DType numbers) {
  const Shape shape = list_shape(v);
  std::vector<const Value*> items;
  flatten(v, shape, 0, name, items);
  Tensor y(shape, !items.empty() && only_bools(v) ? DType::b8 : numbers);
  dispatch(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const out = y.fresh_data<T>();
    for (std::size_t i = 0; i < items.size(); ++i) out[i] = checked_element<T>(*items[i], name);
  });
  return y;
}

}  // namespace

Value::Value(const Axes& axes) {
  if (axes.is_all()) return;
  if (axes.listed().rank() == 1) v_ = axes.listed()[0];
  else *this = list_of(axes.listed());
}

Value::Value(const Shape& shape) { *this = list_of(shape); }

std::string_view Value::kind() const {
  constexpr std::string_view kinds[] = {"None",     "a bool",   "an int", "a number",
                                        "a string", "a tensor", "a mask", "a list"};
  return kinds[v_.index()];
}

std::string to_string(const Value& value) {
  if (const auto* b = value.get_if<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.get_if<std::int64_t>()) return fmt::format("{}", *i);
  if (const auto* d = value.get_if<double>()) return number_text(*d);
  if (const auto* s = value.get_if<std::string>()) return quoted(*s);
  if (const auto* m = value.get_if<Mask>()) return to_string(*m);
  if (const auto* t = value.get_if<Tensor>())
    return t->defined() ? fmt::format("tensor {}", t->shape()) : std::string("None");
  const auto* const list = value.get_if<Value::List>();
  if (!list) return "None";
  std::string text = "[";
  for (const Value& item : *list) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", to_string(item));
  return text + "]";
}

bool as_bool(const Value& v, ArgumentName name) {
  if (const auto* b = v.get_if<bool>()) return *b;
  fail_kind(name, v, "True or False");
}

std::int64_t as_int(const Value& v, ArgumentName name) {
  if (const auto* i = v.get_if<std::int64_t>()) return *i;
  const auto* const d = v.get_if<double>();
  if (d && std::abs(*d) < 0x1p63 && std::floor(*d) == *d) return static_cast<std::int64_t>(*d);
  if (d) fail("{}: argument {} is {}; give an int", name.op, name.argument, number_text(*d));
  fail_kind(name, v, "an int");
}

double as_double(const Value& v, ArgumentName name) {
  if (const auto* d = v.get_if<double>()) return *d;
  if (const auto* i = v.get_if<std::int64_t>()) return static_cast<double>(*i);
  fail_kind(name, v, "a number");
}

std::string as_text(const Value& v, ArgumentName name) {
  if (const auto* s = v.get_if<std::string>()) return *s;
  fail_kind(name, v, "a string");
}

Tensor as_tensor(const Value& v, ArgumentName name, DType numbers) {
  if (const auto* t = v.get_if<Tensor>()) return *t;
  if (v.is_none()) return {};
  if (v.get_if<std::string>() || v.get_if<Mask>()) fail_kind(name, v, "a tensor, a number or a nested list of numbers");
  return tensor_of(v, name, numbers);
}

Mask as_mask(const Value& v, ArgumentName name) {
  if (const auto* m = v.get_if<Mask>()) return *m;
  const auto* const t = v.get_if<Tensor>();
  if (v.is_none() || (t && !t->defined())) return {};
  if (t) return keep(*t);
  if (v.get_if<Value::List>()) return keep(tensor_of(v, name, DType::b8));
  fail_kind(name, v, "a mask such as causal(), or a b8 tensor that is true where a query may attend");
}

Axes as_axes(const Value& v, ArgumentName name) {
  if (v.is_none()) return Axes::all();
  const auto* const list = v.get_if<Value::List>();
  if (!list && !v.get_if<std::int64_t>() && !v.get_if<double>()) fail_kind(name, v, "an int, a list of ints, or None");
  return Axes(as_shape(v, name));
}

Shape as_shape(const Value& v, ArgumentName name) {
  const auto* const list = v.get_if<Value::List>();
  if (!list) {
    if (!v.get_if<std::int64_t>() && !v.get_if<double>()) fail_kind(name, v, "a list of ints");
    return Shape{as_int(v, name)};
  }
  if (list->size() > Shape::max_rank)
    fail("{}: argument {} lists {} ints; give at most {}", name.op, name.argument, list->size(), int{Shape::max_rank});
  Shape shape;
  for (const Value& item : *list) shape.push_back(as_int(item, name));
  return shape;
}

std::vector<Tensor> as_tensors(const Value& v, ArgumentName name, DType numbers) {
  const auto* const list = v.get_if<Value::List>();
  if (!list) fail_kind(name, v, "a list of tensors");
  std::vector<Tensor> tensors;
  for (const Value& item : *list) tensors.push_back(as_tensor(item, name, numbers));
  return tensors;
}

void fail_narrow(ArgumentName name, std::int64_t given) {
  fail("{}: argument {} is {}, beyond what it can hold; give a smaller number", name.op, name.argument, given);
}

void fail_enum(ArgumentName name, std::string_view given, std::span<const std::string_view> allowed) {
  std::string names;
  for (const std::string_view n : allowed) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", n);
  fail("{}: argument {} is \"{}\"; give one of {}", name.op, name.argument, given, names);
}

}  // namespace gradus

template class std::vector<gradus::Value>;
