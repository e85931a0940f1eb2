#include "core/parameter_dtype.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace gradus {
namespace {

// Filled while the program's static objects are made, in whatever order the linker chose, hence made at first use;
// never destroyed.
struct Table {
  std::vector<std::unique_ptr<const OpEntry>> ops;  // by name
  std::string duplicate;                            // told at first use: nobody could catch an Error before main
};

Table& table() {
  static Table& made = *new Table;
  return made;
}

const Table& checked_table() {
  const Table& made = table();
  if (!made.duplicate.empty()) fail("registry: two ops are named {}; rename one", made.duplicate);
  return made;
}

auto position(const Table& made, std::string_view name) {
  return std::lower_bound(made.ops.begin(), made.ops.end(), name,
                          [](const auto& entry, std::string_view n) { return entry->info->name < n; });
}

// ---- numbers and lists where tensors are expected

// i64 or b8 for a parameter that the op's own samples give tensors of that dtype alone (an index, a condition).
using ParameterDTypes = std::vector<std::optional<DType>>;

ParameterDTypes learn_dtypes(const OpEntry& op) {
  Mode quiet;
  quiet.grad = false;
  const ModeGuard guard(quiet);  // samples may be made by ops, which no observer should take for the caller's
  Samples samples;
  op.samples(samples);
  ParameterDTypes dtypes(op.params.size());
  std::vector<bool> mixed(op.params.size());
  for (const Sample& sample : samples.good())
    for (std::size_t i = 0; i < sample.arguments.size(); ++i) {
      const auto* const t = sample.arguments[i].get_if<Tensor>();
      if (!t || !t->defined()) continue;
      if (dtypes[i] && *dtypes[i] != t->dtype()) mixed[i] = true;
      dtypes[i] = t->dtype();
    }
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (mixed[i] || (dtypes[i] && is_floating(*dtypes[i]))) dtypes[i].reset();
  return dtypes;
}

}  // namespace

std::optional<DType> parameter_dtype(const OpEntry& op, std::size_t parameter) {
  static std::mutex mutex;
  static auto& known = *new std::map<const OpEntry*, ParameterDTypes>;
  const std::lock_guard lock(mutex);
  auto at = known.find(&op);
  if (at == known.end()) at = known.emplace(&op, learn_dtypes(op)).first;
  return at->second[parameter];
}

namespace {

void look_for_floating(const Value& v, std::optional<DType>& found) {
  if (found) return;
  if (const auto* list = v.get_if<Value::List>())
    for (const Value& item : *list) look_for_floating(item, found);
  if (const auto* t = v.get_if<Tensor>(); t && t->defined() && is_floating(t->dtype())) found = t->dtype();
}

bool is_tensor_or_none(const Value& v) { return v.is_none() || v.get_if<Tensor>(); }
bool is_plain_number(const Value& v) { return v.get_if<std::int64_t>() || v.get_if<double>(); }

// Turns what stands for a tensor into one, so that op functions see nothing else.
void make_tensors(const OpEntry& op, std::vector<Value>& values) {
  std::optional<DType> floating;
  for (const Value& v : values) look_for_floating(v, floating);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Param& p = op.params[i];
    const ArgumentName name{op.info->name, p.name};
    Value& v = values[i];
    if ((p.tensor || p.number) && p.required && (v.is_none() || (v.get_if<Tensor>() && !v.get_if<Tensor>()->defined())))
      fail("{}: argument {} is None; give a tensor: {}", op.info->name, p.name, op.signature());
    if (p.tensor ? !is_tensor_or_none(v) : p.number && !is_tensor_or_none(v) && !is_plain_number(v)) {
      const DType numbers = parameter_dtype(op, i).value_or(floating.value_or(DType::f64));
      v = Value(as_tensor(v, name, numbers));
    }
    if (!p.list) continue;
    Value::List tensors;
    for (Tensor& t : as_tensors(v, name, floating.value_or(DType::f64))) tensors.emplace_back(std::move(t));
    v = Value(std::move(tensors));
  }
}

// ---- arguments to parameters

// The last parameter of einsum(equation, *tensors) takes what is left: tensors one by one, or one list that holds a
// tensor.
void gather_rest(const OpEntry& op, std::vector<Value>& positional) {
  const std::size_t last = op.params.size() - 1;
  if (!op.params[last].list || positional.size() <= last) return;
  const auto* const first = positional[last].get_if<Value::List>();
  const auto holds_tensor = [](const Value::List& list) {
    return list.empty() || std::any_of(list.begin(), list.end(), [](const Value& v) { return v.get_if<Tensor>(); });
  };
  if (positional.size() == last + 1 && first && holds_tensor(*first)) return;
  Value::List rest(positional.begin() + static_cast<std::ptrdiff_t>(last), positional.end());
  positional.resize(last);
  positional.emplace_back(std::move(rest));
}

std::size_t find_parameter(const OpEntry& op, const std::string& keyword) {
  for (std::size_t i = 0; i < op.params.size(); ++i)
    if (op.params[i].name == keyword) return i;
  fail("{}: no argument is named {}; write {}", op.info->name, keyword, op.signature());
}

}  // namespace

OpEntry::OpEntry() = default;
OpEntry::OpEntry(OpEntry&&) noexcept = default;
OpEntry& OpEntry::operator=(OpEntry&&) noexcept = default;
OpEntry::~OpEntry() = default;

Tensor OpEntry::call(std::vector<Value> positional, std::vector<std::pair<std::string, Value>> keywords) const {
  if (!params.empty()) gather_rest(*this, positional);
  if (positional.size() > params.size())
    fail("{}: {} arguments, but it takes {}; write {}", info->name, positional.size(), params.size(), signature());
  std::vector<Value> values = std::move(positional);
  std::vector<bool> given(values.size(), true);
  values.resize(params.size());
  given.resize(params.size());
  for (auto& [keyword, value] : keywords) {
    const std::size_t i = find_parameter(*this, keyword);
    if (given[i]) fail("{}: argument {} is given twice; write {}", info->name, keyword, signature());
    values[i] = std::move(value);
    given[i] = true;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (given[i]) continue;
    if (params[i].required) fail("{}: argument {} is missing; write {}", info->name, params[i].name, signature());
    values[i] = params[i].fallback;
  }
  make_tensors(*this, values);
  return function(values);
}

std::string OpEntry::signature() const {
  std::string text;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Param& p = params[i];
    if (i) text += ", ";
    if (p.list && i + 1 == params.size()) text += '*';
    text += p.name;
    if (!p.required) text += fmt::format("={}", to_string(p.fallback));
  }
  return fmt::format("{}({})", info->name, text);
}

std::vector<const OpEntry*> all_ops() {
  std::vector<const OpEntry*> ops;
  for (const auto& entry : checked_table().ops) ops.push_back(entry.get());
  return ops;
}

const OpEntry* find_op(std::string_view name) {
  const Table& made = checked_table();
  const auto at = position(made, name);
  return at != made.ops.end() && (*at)->info->name == name ? at->get() : nullptr;
}

Sample& Samples::keep_good(Value::List arguments) {
  Sample sample;
  sample.arguments = std::move(arguments);
  good_.push_back(std::move(sample));
  return good_.back();
}

void Samples::keep_bad(std::string message, Value::List arguments) {
  bad_.push_back({std::move(message), std::move(arguments)});
}

Tensor Samples::bools(const Shape& shape) {
  Tensor y(shape, DType::b8);
  bool* const out = y.fresh_data<bool>();
  const Philox random{generator_.key()};
  for (std::int64_t i = 0; i < y.numel(); ++i) out[i] = random.uniform(static_cast<std::uint64_t>(i)) < 0.5f;
  return y;
}

namespace detail {

void register_op(OpEntry entry) {
  Table& made = table();
  const auto at = position(made, entry.info->name);
  if (at != made.ops.end() && (*at)->info->name == std::string_view(entry.info->name)) {
    made.duplicate = entry.info->name;
    return;
  }
  made.ops.insert(at, std::make_unique<const OpEntry>(std::move(entry)));
}

Held<Operand>::Held(const Value& v, ArgumentName name) {
  if (v.get_if<std::int64_t>() || v.get_if<double>()) number = as_double(v, name);
  else tensor = as_tensor(v, name);
  if (v.is_none()) fail("{}: argument {} is None; give a tensor or a number", name.op, name.argument);
}

}  // namespace detail
}  // namespace gradus
