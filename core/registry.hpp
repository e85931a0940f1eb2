#pragma once
#include "core/op.hpp"
#include "core/random.hpp"

#include <functional>
#include <utility>

namespace gradus {

inline const Value None{};

/// A parameter of a public function: its name and, where it has one, its default. `{"x"}` is required, `{"axis", -1}`
/// is not.
struct Param {
  std::string_view name;
  Value fallback{};
  bool required = true;
  bool list =
      false;  ///< takes a list of tensors (set by Register); as the last parameter, the remaining positional arguments
  bool tensor = false;  ///< takes a tensor (set by Register)
  bool number = false;  ///< takes a tensor or a number (set by Register)
  Param(const char* n) : name(n) {}
  Param(const char* n, Value v) : name(n), fallback(std::move(v)), required(false) {}
};

/// One call with which the generated tests, the op reference and the benchmarks exercise an op.
struct Sample {
  std::vector<Value> arguments;   ///< positional, without trailing defaults
  bool kink = false;              ///< at a point where the derivative jumps: differences are not compared
  bool first_order_only = false;  ///< the second derivative does not exist at this point
  bool benchmark = false;
  double tolerance = 1e-6;  ///< of the comparison with differences
  Sample& at_kink() {
    kink = true;
    return *this;
  }
  Sample& first_order() {
    first_order_only = true;
    return *this;
  }
  Sample& for_benchmark() {
    benchmark = true;
    return *this;
  }
  Sample& within(double t) {
    tolerance = t;
    return *this;
  }
};
/// A call that must fail with an Error whose text contains `message`.
struct ErrorSample {
  std::string message;
  std::vector<Value> arguments;
};

namespace detail {

// Holds what an argument refers to while the function runs.
template <class T>
struct Held {
  T value;
  Held(const Value& v, ArgumentName name) : value(from_value<T>(v, name)) {}
  const T& get() const { return value; }
};
template <>
struct Held<Operand> {
  Tensor tensor;
  double number = 0;
  Held(const Value& v, ArgumentName name);
  Operand get() const { return tensor.defined() ? Operand(tensor) : Operand(number); }
};
template <>
struct Held<TensorList> {
  std::vector<Tensor> tensors;
  Held(const Value& v, ArgumentName name) : tensors(as_tensors(v, name)) {}
  TensorList get() const { return TensorList(tensors); }
};
template <>
struct Held<std::string_view> {
  std::string text;
  Held(const Value& v, ArgumentName name) : text(as_text(v, name)) {}
  std::string_view get() const { return text; }
};

template <class A, class B>
Value argument_value(B&& b) {
  using T = std::remove_cvref_t<A>;
  if constexpr (std::same_as<T, TensorList>) {
    Value::List list;
    for (const Tensor& t : TensorList(b)) list.emplace_back(t);
    return Value(std::move(list));
  } else if constexpr (std::same_as<T, Operand>) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<B>>) return Value(static_cast<double>(b));
    else return Value(Tensor(b));
  } else if constexpr (std::same_as<T, std::string_view>) {
    return Value(std::string(b));
  } else {
    return to_value(T(std::forward<B>(b)));
  }
}

template <class... A, std::size_t... i, class... B>
Value::List values_of(std::index_sequence<i...>, B&&... b) {
  static_assert(sizeof...(B) <= sizeof...(A), "more arguments than parameters");
  Value::List list;
  list.reserve(sizeof...(B));
  (list.push_back(argument_value<std::tuple_element_t<i, std::tuple<std::remove_cvref_t<A>...>>>(std::forward<B>(b))),
   ...);
  return list;
}

}  // namespace detail

/// Collects an op's samples. Tensors are f64 and drawn from a fixed seed.
class Samples {
 public:
  explicit Samples(std::uint64_t seed = 0) : generator_(seed) {}
  Tensor randn(const Shape& shape) { return gradus::randn(shape, DType::f64, generator_); }
  Tensor uniform(const Shape& shape, double low, double high) {
    return gradus::uniform(shape, low, high, DType::f64, generator_);
  }
  Tensor full(const Shape& shape, double value) { return gradus::full(shape, value, DType::f64); }
  Tensor tensor(std::initializer_list<double> values, const Shape& shape) {
    return gradus::tensor(values, shape, DType::f64);
  }
  Tensor tensor(std::initializer_list<double> values) { return gradus::tensor(values, DType::f64); }
  /// i64 in [0, n).
  Tensor indices(const Shape& shape, std::int64_t n) { return gradus::randint(0, n, shape, generator_); }
  /// b8, true with probability one half.
  Tensor bools(const Shape& shape);

  /// A call of the public function; arguments that are left out take their defaults.
  template <class R, class... A, class... B>
  Sample& add(R (*)(A...), B&&... arguments) {
    return keep_good(detail::values_of<A...>(std::make_index_sequence<sizeof...(B)>{}, std::forward<B>(arguments)...));
  }
  /// A call that must fail with a message containing `message`.
  template <class R, class... A, class... B>
  void error(std::string message, R (*)(A...), B&&... arguments) {
    keep_bad(std::move(message),
             detail::values_of<A...>(std::make_index_sequence<sizeof...(B)>{}, std::forward<B>(arguments)...));
  }

  const std::vector<Sample>& good() const { return good_; }
  const std::vector<ErrorSample>& bad() const { return bad_; }

 private:
  Sample& keep_good(Value::List arguments);
  void keep_bad(std::string message, Value::List arguments);

  Generator generator_;
  std::vector<Sample> good_;
  std::vector<ErrorSample> bad_;
};

/// One registered op: everything that tests, documentation and the expression language know of it.
struct OpEntry {
  const OpInfo* info = nullptr;
  std::vector<Param> params;
  Keep keeps = Keep::nothing;
  bool broadcasts = false;
  bool differentiable = false;  ///< has a rule
  bool fused_rule = false;
  bool has_reference = false;
  std::function<Tensor(std::span<const Value>)> function;  ///< takes one value per parameter
  void (*samples)(Samples&) = nullptr;

  OpEntry();
  OpEntry(OpEntry&&) noexcept;
  OpEntry& operator=(OpEntry&&) noexcept;
  ~OpEntry();
  std::string name() const { return info->name; }
  /// Calls with positional and keyword arguments, filling in defaults. Where a tensor is expected, a number or a nested
  /// list of numbers is one: i64 or b8 where the op's own samples give that parameter nothing else, otherwise the dtype
  /// of the first f32 or f64 argument, f64 if there is none. Error for a missing, unknown or repeated argument, naming
  /// the signature.
  Tensor call(std::vector<Value> positional, std::vector<std::pair<std::string, Value>> keywords = {}) const;
  /// `softmax(x, axis=-1)`; a list that takes the remaining arguments is `*tensors`.
  std::string signature() const;
};

/// All registered ops by name, in alphabetical order. Error (also in find_op) when two ops were registered under one
/// name.
std::vector<const OpEntry*> all_ops();
/// The op of that name, or null.
const OpEntry* find_op(std::string_view name);

namespace detail {
void register_op(OpEntry entry);
}

/// Registers an op under its info.name with its public function, and its parameters' names and defaults.
template <class Op>
struct Register {
  template <class R, class... A>
  Register(R (*function)(A...), const Param (&params)[sizeof...(A)]) {
    static_assert(
        !requires { &Op::vjp; } || detail::has_vjp<Op>, "the rule must be `Grads vjp(const Vjp& v) const`");
    static_assert(
        !requires { &Op::fused_vjp; } || detail::has_fused_vjp<Op>,
        "the fused rule must be `Grads fused_vjp(const Vjp& v) const`");
    static_assert(
        requires { &Op::samples; }, "an op needs `static void samples(Samples& s)`: the generated tests run on them");
    OpEntry entry;
    entry.info = &Op::info;
    entry.params.assign(params, params + sizeof...(A));
    std::size_t i = 0;
    (describe<std::remove_cvref_t<A>>(entry.params[i++]), ...);
    entry.keeps = detail::keeps_of<Op>();
    entry.broadcasts = detail::broadcasts_of<Op>();
    entry.differentiable = detail::has_vjp<Op>;
    entry.fused_rule = detail::has_fused_vjp<Op>;
    entry.has_reference = detail::has_reference<Op>;
    entry.samples = &Op::samples;
    entry.function = [function, names = entry.params](std::span<const Value> v) {
      return call_with(function, names, v, std::index_sequence_for<A...>{});
    };
    detail::register_op(std::move(entry));
  }

  template <class R, class... A, std::size_t n>
  requires(n != sizeof...(A)) Register(R (*)(A...), const Param (&)[n]) {
    static_assert(n == sizeof...(A),
                  "give one name for each parameter of the public function, {name, default} where it has one");
  }

 private:
  template <class A>
  static void describe(Param& p) {
    p.list = std::same_as<A, TensorList>;
    p.tensor = std::same_as<A, Tensor>;
    p.number = std::same_as<A, Operand>;
  }
  template <class R, class... A, std::size_t... i>
  static Tensor call_with(R (*function)(A...), const std::vector<Param>& names, std::span<const Value> v,
                          std::index_sequence<i...>) {
    const std::tuple<detail::Held<std::remove_cvref_t<A>>...> held{
        detail::Held<std::remove_cvref_t<A>>(v[i], {Op::info.name, names[i].name})...};
    return function(std::get<i>(held).get()...);
  }
};

}  // namespace gradus
