#include "study/builders.hpp"

#include <cmath>

namespace gradus::study {
namespace {

using Keywords = std::vector<std::pair<std::string, Value>>;

// ---- arguments

struct Parameter {
  std::string_view name;
  bool required = true;
  Value fallback{};
};

// The values of the parameters, in order. Error for a missing, unknown or repeated argument, naming the signature.
std::vector<Value> bind(const Builder& self, std::vector<Parameter> parameters, std::vector<Value> positional,
                        Keywords keywords) {
  if (positional.size() > parameters.size())
    fail("{}: {} arguments, but it takes {}; write {}", self.name, positional.size(), parameters.size(),
         self.signature);
  std::vector<Value> values(parameters.size());
  std::vector<bool> given(parameters.size());
  for (std::size_t i = 0; i < positional.size(); ++i) values[i] = std::move(positional[i]), given[i] = true;
  for (auto& [keyword, value] : keywords) {
    std::size_t i = 0;
    while (i < parameters.size() && parameters[i].name != keyword) ++i;
    if (i == parameters.size()) fail("{}: no argument is named {}; write {}", self.name, keyword, self.signature);
    if (given[i]) fail("{}: argument {} is given twice; write {}", self.name, keyword, self.signature);
    values[i] = std::move(value);
    given[i] = true;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) continue;
    if (parameters[i].required)
      fail("{}: argument {} is missing; write {}", self.name, parameters[i].name, self.signature);
    values[i] = parameters[i].fallback;
  }
  return values;
}

DType dtype_argument(const Builder& self, const Value& v, const Scope& scope) {
  return v.is_none() ? scope.dtype : dtype_from_name(as_text(v, {self.name, "dtype"}));
}

Shape checked(const Builder& self, const Shape& shape) {
  std::int64_t count = 1;
  bool too_many = false, none = false;
  for (const std::int64_t n : shape) {
    if (n < 0) fail("{}: shape {} has a negative extent; give 0 or more", self.name, shape);
    none |= n == 0;
    too_many |= __builtin_mul_overflow(count, n, &count) || count > most_elements;
  }
  if (too_many && !none)
    fail("{}: shape {} has more than {} elements, the most that is made here; use smaller extents", self.name, shape,
         most_elements);
  return shape;
}

Shape shape_argument(const Builder& self, const Value& v) { return checked(self, as_shape(v, {self.name, "shape"})); }

struct Extents {
  Shape shape;
  DType dtype;
};
// zeros(2, 3), zeros([2, 3]), zeros(2, 3, dtype="i64").
Extents extents(const Builder& self, std::vector<Value> positional, Keywords keywords, const Scope& scope) {
  const std::vector<Value> rest = bind(self, {{"dtype", false}}, {}, std::move(keywords));
  const bool listed = positional.size() == 1 && positional[0].get_if<Value::List>();
  const Value shape = listed ? positional[0] : Value(std::move(positional));
  return {shape_argument(self, shape), dtype_argument(self, rest[0], scope)};
}

// ---- tensors

Value make_randn(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const Extents e = extents(self, std::move(positional), std::move(keywords), scope);
  return randn(e.shape, e.dtype, scope.generator);
}

Value make_rand(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const Extents e = extents(self, std::move(positional), std::move(keywords), scope);
  return uniform(e.shape, 0, 1, e.dtype, scope.generator);
}

Value make_zeros(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const Extents e = extents(self, std::move(positional), std::move(keywords), scope);
  return zeros(e.shape, e.dtype);
}

Value make_ones(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const Extents e = extents(self, std::move(positional), std::move(keywords), scope);
  return ones(e.shape, e.dtype);
}

Value make_full(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const auto v = bind(self, {{"shape"}, {"value"}, {"dtype", false}}, std::move(positional), std::move(keywords));
  return full(shape_argument(self, v[0]), as_double(v[1], {self.name, "value"}), dtype_argument(self, v[2], scope));
}

Value make_randint(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const auto v = bind(self, {{"low"}, {"high"}, {"shape"}}, std::move(positional), std::move(keywords));
  const std::int64_t low = as_int(v[0], {self.name, "low"}), high = as_int(v[1], {self.name, "high"});
  return randint(low, high, shape_argument(self, v[2]), scope.generator);
}

// arange(stop), arange(start, stop), arange(start, stop, step).
Value make_arange(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const auto v = bind(self, {{"start"}, {"stop", false}, {"step", false, 1}, {"dtype", false}}, std::move(positional),
                      std::move(keywords));
  double start = as_double(v[0], {self.name, "start"}), stop = start;
  if (v[1].is_none()) start = 0;
  else stop = as_double(v[1], {self.name, "stop"});
  const double step = as_double(v[2], {self.name, "step"});
  if (step != 0 && (stop - start) / step > static_cast<double>(most_elements))
    fail("arange: {} to {} in steps of {} are more than {} elements, the most that is made here; use a larger step",
         start, stop, step, most_elements);
  return arange(start, stop, step, dtype_argument(self, v[3], scope));
}

Value make_eye(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope& scope) {
  const auto v = bind(self, {{"n"}, {"dtype", false}}, std::move(positional), std::move(keywords));
  const std::int64_t n = as_int(v[0], {self.name, "n"});
  return eye(checked(self, {n, n})[0], dtype_argument(self, v[1], scope));
}

// ---- masks

Align align_argument(const Builder& self, const Value& v) { return as_enum<Align>(v, {self.name, "align"}); }

Value make_causal(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope&) {
  const auto v = bind(self, {{"align", false, "unspecified"}}, std::move(positional), std::move(keywords));
  return causal(align_argument(self, v[0]));
}

Value make_window(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope&) {
  const auto v =
      bind(self, {{"left"}, {"right"}, {"align", false, "unspecified"}}, std::move(positional), std::move(keywords));
  return window(as_int(v[0], {self.name, "left"}), as_int(v[1], {self.name, "right"}), align_argument(self, v[2]));
}

Value make_lengths(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope&) {
  const auto v = bind(self, {{"n"}}, std::move(positional), std::move(keywords));
  return lengths(as_tensor(v[0], {self.name, "n"}, DType::i64));
}

Value make_keys(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope&) {
  const auto v = bind(self, {{"t"}}, std::move(positional), std::move(keywords));
  return keys(as_tensor(v[0], {self.name, "t"}, DType::b8));
}

Value make_keep(const Builder& self, std::vector<Value> positional, Keywords keywords, Scope&) {
  const auto v = bind(self, {{"t"}}, std::move(positional), std::move(keywords));
  return keep(as_tensor(v[0], {self.name, "t"}, DType::b8));
}

}  // namespace

const std::vector<Builder>& builders() {
  static const std::vector<Builder> all = {
      {"randn", "randn(*shape, dtype=None)", "standard normal numbers, drawn from --seed", make_randn},
      {"rand", "rand(*shape, dtype=None)", "uniform in (0, 1), drawn from --seed", make_rand},
      {"randint", "randint(low, high, shape)", "i64, low <= n < high, drawn from --seed", make_randint},
      {"zeros", "zeros(*shape, dtype=None)", "all 0", make_zeros},
      {"ones", "ones(*shape, dtype=None)", "all 1", make_ones},
      {"full", "full(shape, value, dtype=None)", "all `value`", make_full},
      {"arange", "arange(start, stop=None, step=1, dtype=None)", "start, start + step, ... below stop", make_arange},
      {"eye", "eye(n, dtype=None)", "the identity matrix", make_eye},
      {"causal", "causal(align=\"unspecified\")", "mask: query i sees keys up to i", make_causal},
      {"window", "window(left, right, align=\"unspecified\")", "mask: query i sees keys i - left to i + right",
       make_window},
      {"lengths", "lengths(n)", "mask: item b sees its first n[b] keys", make_lengths},
      {"keys", "keys(t)", "mask: item b sees key j where t[b, j]", make_keys},
      {"keep", "keep(t)", "mask: query i sees key j where t[..., i, j]", make_keep},
  };
  return all;
}

const Builder* find_builder(std::string_view name) {
  for (const Builder& b : builders())
    if (b.name == name) return &b;
  return nullptr;
}

}  // namespace gradus::study
