#include "study/call.hpp"

#include <algorithm>
#include <optional>

#include "core/parameter_dtype.hpp"

namespace gradus::study {
namespace {

bool is_number(const Value& v) { return v.get_if<std::int64_t>() || v.get_if<double>(); }
bool is_plain(const Value& v) { return v.get_if<bool>() || is_number(v); }

// The parameter that takes the positional argument i: the last one takes what is left if it is a list.
const Param* positional_parameter(const OpEntry& op, std::size_t i) {
  if (i < op.params.size()) return &op.params[i];
  return !op.params.empty() && op.params.back().list ? &op.params.back() : nullptr;
}

const Param* keyword_parameter(const OpEntry& op, std::string_view name) {
  for (const Param& p : op.params)
    if (p.name == name) return &p;
  return nullptr;
}

/// Calls f(parameter, value) for each argument of a known parameter.
template <class F>
void each_argument(const OpEntry& op, std::vector<Value>& positional, Keywords& keywords, F&& f) {
  for (std::size_t i = 0; i < positional.size(); ++i)
    if (const Param* p = positional_parameter(op, i)) f(*p, positional[i]);
  for (auto& [name, value] : keywords)
    if (const Param* p = keyword_parameter(op, name)) f(*p, value);
}

bool holds_floating(const Value& v) {
  if (const auto* list = v.get_if<Value::List>())
    return std::any_of(list->begin(), list->end(), [](const Value& item) { return holds_floating(item); });
  const auto* const t = v.get_if<Tensor>();
  return t && t->defined() && is_floating(t->dtype());
}

// ---- numbers alone

bool numbers_alone(const OpEntry& op, std::vector<Value>& positional, Keywords& keywords) {
  bool some = false, others = false;
  each_argument(op, positional, keywords, [&](const Param& p, const Value& v) {
    if (p.list) others = true;
    if (!p.tensor && !p.number) return;
    some |= is_plain(v);
    others |= !is_plain(v) && !v.is_none();
  });
  return some && !others;
}

std::optional<Value> plain(const Tensor& y) {
  if (y.rank() != 0) return {};
  if (y.dtype() == DType::b8) return Value(*y.data<bool>());
  if (y.dtype() == DType::i64) return Value(*y.data<std::int64_t>());
  return Value(y.item());
}

std::optional<Value> plain_result(const OpEntry& op, std::vector<Value> positional, Keywords keywords) {
  each_argument(op, positional, keywords, [&](const Param& p, Value& v) {
    if (p.number && is_number(v)) v = scalar(as_double(v, {op.info->name, p.name}), DType::f64);
  });
  Mode quiet = mode();
  quiet.grad = false;
  quiet.observer = nullptr;
  const ModeGuard guard(quiet);
  return plain(op.call(std::move(positional), std::move(keywords)));
}

// ---- the dtype of lists

// where(c, 1, 0): numbers that no tensor stands beside are of `dtype`.
void make_numbers(const OpEntry& op, std::vector<Value>& positional, Keywords& keywords, DType dtype) {
  bool all = true;
  each_argument(op, positional, keywords, [&](const Param& p, const Value& v) { all &= !p.number || is_number(v); });
  if (!all) return;
  each_argument(op, positional, keywords, [&](const Param& p, Value& v) {
    if (p.number) v = scalar(as_double(v, {op.info->name, p.name}), dtype);
  });
}

bool all_whole(const Value& v) {
  const auto* const list = v.get_if<Value::List>();
  return list ? std::all_of(list->begin(), list->end(), all_whole) : v.get_if<std::int64_t>() != nullptr;
}

// index == [1, 2]: whole numbers beside i64 are i64.
void make_integers(const OpEntry& op, std::vector<Value>& positional, Keywords& keywords) {
  bool beside = false;
  each_argument(op, positional, keywords, [&](const Param& p, const Value& v) {
    const auto* const t = v.get_if<Tensor>();
    beside |= p.number && t && t->defined() && t->dtype() == DType::i64;
  });
  each_argument(op, positional, keywords, [&](const Param& p, Value& v) {
    if (beside && p.number && v.get_if<Value::List>() && all_whole(v))
      v = as_tensor(v, {op.info->name, p.name}, DType::i64);
  });
}

// Where no tensor decides the dtype of the lists, they are of `dtype`; indices and conditions stay what the op expects.
void make_lists(const OpEntry& op, std::vector<Value>& positional, Keywords& keywords, DType dtype) {
  bool decided = dtype == DType::f64;
  each_argument(op, positional, keywords, [&](const Param&, const Value& v) { decided |= holds_floating(v); });
  if (decided) return;
  const auto make = [&](const Param& p, Value& v) {
    if (v.get_if<Value::List>() || (p.tensor && is_plain(v))) v = as_tensor(v, {op.info->name, p.name}, dtype);
  };
  each_argument(op, positional, keywords, [&](const Param& p, Value& v) {
    if (p.list) {
      auto* const list = v.get_if<Value::List>();
      const bool one = positional.size() > op.params.size();  // einsum("...", a, b): each argument is an item
      if (!list) return;
      if (one) return make(p, v);
      for (Value& item : *list) make(p, item);
    } else if ((p.tensor || p.number) && !parameter_dtype(op, static_cast<std::size_t>(&p - op.params.data()))) {
      make(p, v);
    }
  });
}

// one_hot makes numbers out of indices: they are of `dtype`, unless the call says otherwise.
Tensor of_dtype(const OpEntry& op, Tensor y, bool decided, DType dtype) {
  if (decided || !is_floating(y.dtype()) || y.dtype() == dtype || keyword_parameter(op, "dtype")) return y;
  return *run_op("cast", {y, std::string(name_of(dtype))}).get_if<Tensor>();
}

}  // namespace

Value call_op(const OpEntry& op, std::vector<Value> positional, Keywords keywords, DType dtype) {
  // Who asks for a dtype wants a tensor: cast(1, "i64").
  if (!keyword_parameter(op, "dtype") && numbers_alone(op, positional, keywords))
    if (auto result = plain_result(op, positional, keywords)) return *std::move(result);
  bool decided = false;  // by a tensor
  each_argument(op, positional, keywords, [&](const Param&, const Value& v) { decided |= holds_floating(v); });
  make_numbers(op, positional, keywords, dtype);
  make_integers(op, positional, keywords);
  make_lists(op, positional, keywords, dtype);
  return of_dtype(op, op.call(std::move(positional), std::move(keywords)), decided, dtype);
}

Value run_op(std::string_view op, std::vector<Value> positional, Keywords keywords, DType dtype) {
  const OpEntry* const entry = find_op(op);
  if (!entry) fail("{}: there is no such op", op);
  return call_op(*entry, std::move(positional), std::move(keywords), dtype);
}

}  // namespace gradus::study
