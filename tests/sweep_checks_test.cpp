// The checks of the sweep are checked: each must find the fault that it is there for, and find none in a right op.
#include "ops/ops.hpp"
#include "tests/sweep/checks.hpp"

#include <doctest/doctest.h>

namespace {

using namespace sweep;

enum class Fault {
  none,
  wrong_rule,
  wrong_second_order,
  fused_differs,
  reference_differs,
  ignores_strides,
  ignores_strides_of_cotangent,
  loses_precision,
  writes_into_input,
  counts_threads,
  wrong_tail,  // a blocked kernel whose last block is wrong
  drops_empty_shape,
};

Tensor squared(const Tensor& x) {
  const Tensor dense = packed(x);
  return dispatch_floating("test_square", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y(x.shape(), x.dtype());
    for (std::int64_t i = 0; i < y.numel(); ++i) y.fresh_data<T>()[i] = dense.data<T>()[i] * dense.data<T>()[i];
    return y;
  });
}
// x's elements if its strides were those of a contiguous tensor; of an expanded one, the first element.
Tensor misread(const Tensor& x) {
  return copy_of(Tensor(
      x.storage(), {x.shape(), x.layout().overlaps() ? x.strides() : contiguous_strides(x.shape()), 0}, x.dtype()));
}

// y = x^2 with one fault.
template <Fault fault>
struct Square {
  static constexpr OpInfo info{.name = "test_square", .math = "y = x^2", .rule = "\\bar x = 2 x \\bar y"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(const Tensor& x) const {
    if (fault == Fault::ignores_strides) return squared(misread(x));
    if (fault == Fault::loses_precision && x.dtype() == DType::f32) return squared(x) * 1.001;
    if (fault == Fault::counts_threads && threads() == 4) return squared(x) * (1 + 1e-15);
    const Tensor y = squared(x);
    if (fault == Fault::writes_into_input) Tensor(x.storage(), x.layout(), x.dtype()) *= 1.5;
    return y;
  }
  Grads vjp(const Vjp& v) const {
    const std::int64_t n = v.g.numel();
    if (fault == Fault::wrong_second_order) return {v.g * v.x[0].detach() * 2};
    if (fault == Fault::drops_empty_shape && n == 0) return {zeros({0}, v.g.dtype())};
    return {v.g * v.x[0] * (fault == Fault::wrong_rule || (fault == Fault::wrong_tail && n > 100) ? 2.001 : 2.0)};
  }
  Grads fused_vjp(const Vjp& v) const {
    if (fault == Fault::fused_differs) return {v.g * v.x[0] * (2 + 1e-8)};
    if (fault == Fault::ignores_strides_of_cotangent) return {misread(v.g) * v.x[0] * 2};
    return vjp(v);
  }
  Tensor reference(const Tensor& x) const { return x * x * (fault == Fault::reference_differs ? 1 + 1e-8 : 1.0); }
};

// y = a b, whose gradient of a is wrong unless b asks for one too.
struct Entangled {
  static constexpr OpInfo info{.name = "test_entangled", .math = "y = a b", .rule = "\\bar a = b \\bar y"};
  static constexpr Keep keeps = Keep::inputs;
  Tensor forward(const Tensor& a, const Tensor& b) const { return a * b; }
  Grads vjp(const Vjp& v) const {
    return {v.want(0, [&] { return v.wants(1) ? v.g * v.x[1] : v.g * 2; }), v.want(1, [&] { return v.g * v.x[0]; })};
  }
};

template <class Op>
OpEntry entry_of(std::function<Tensor(std::span<const Value>)> function, std::vector<Param> params) {
  OpEntry entry;
  entry.info = &Op::info;
  entry.params = std::move(params);
  entry.differentiable = true;
  entry.has_reference = detail::has_reference<Op>;
  entry.function = std::move(function);
  entry.samples = [](Samples&) {};
  return entry;
}

template <Fault fault>
std::string found_by(std::string (*check)(const Call&, const Sample&)) {
  using Op = Square<fault>;
  static const OpEntry entry =
      entry_of<Op>([](std::span<const Value> v) { return apply(Op{}, *v[0].get_if<Tensor>()); }, {"x"});
  Samples samples;
  try {
    return check(Call(entry, {samples.randn({3, 4})}), Sample{});
  } catch (const Error& e) { return e.what(); }
}

}  // namespace

TEST_CASE("no check finds a fault in a right op") {
  for (const auto check : {rule_against_differences, second_order, fused_against_composite, forward_against_reference,
                           every_subset_of_inputs, every_layout, strided_cotangents, f32_against_f64, inputs_unmodified,
                           same_on_any_number_of_threads, same_rule_at_larger_sizes, zero_sizes})
    CHECK(found_by<Fault::none>(check) == "");
}

TEST_CASE("each check of the sweep finds the fault that it is there for") {
  if (reference_mode()) return;  // GRADUS_REFERENCE=1 runs the composition, which has none of the faults
  CHECK(found_by<Fault::wrong_rule>(rule_against_differences) != "");
  CHECK(found_by<Fault::wrong_second_order>(second_order) != "");
  CHECK(found_by<Fault::fused_differs>(fused_against_composite) != "");
  CHECK(found_by<Fault::reference_differs>(forward_against_reference) != "");
  CHECK(found_by<Fault::ignores_strides>(every_layout) != "");
  CHECK(found_by<Fault::ignores_strides_of_cotangent>(strided_cotangents) != "");
  CHECK(found_by<Fault::loses_precision>(f32_against_f64) != "");
  CHECK(found_by<Fault::writes_into_input>(inputs_unmodified) != "");
  CHECK(found_by<Fault::counts_threads>(same_on_any_number_of_threads) != "");
  CHECK(found_by<Fault::wrong_tail>(same_rule_at_larger_sizes) != "");
  CHECK(found_by<Fault::drops_empty_shape>(zero_sizes) != "");
}

TEST_CASE("a gradient that depends on which others are wanted is found") {
  const OpEntry entry = entry_of<Entangled>(
      [](std::span<const Value> v) { return apply(Entangled{}, *v[0].get_if<Tensor>(), *v[1].get_if<Tensor>()); },
      {"a", "b"});
  Samples samples;
  const Call call(entry, {samples.randn({3}), samples.randn({3})});
  CHECK(rule_against_differences(call, Sample{}) == "");
  CHECK(every_subset_of_inputs(call, Sample{}) != "");
}

TEST_CASE("the layouts of the sweep hold the numbers that they were given") {
  Samples samples;
  const Tensor x = samples.randn({2, 3, 4});
  for (const Tensor& view : {transposed_copy(x), sliced_copy(x, 1), sliced_copy(x, 2)}) {
    CHECK(!view.is_contiguous());
    CHECK(view.to_vector<double>() == x.to_vector<double>());
  }
  for (int axis = 0; axis < 3; ++axis) {
    const auto [copy, view] = expanded(x, axis);
    CHECK(view.strides()[axis] == 0);
    CHECK(copy.is_contiguous());
    CHECK(copy.to_vector<double>() == view.to_vector<double>());
    CHECK(copy.at({0, 0, 0}) == x.at({0, 0, 0}));
  }
}

TEST_CASE("comparisons of the sweep see NaN, infinity, shape and the last bit") {
  const Tensor x = tensor({1.0, 2.0}, DType::f64), nan = tensor({1.0, NAN}, DType::f64),
               inf = tensor({1.0, INFINITY}, DType::f64);
  CHECK(close("x", x, x, 0) == "");
  CHECK(close("x", nan, nan, 0) == "");
  CHECK(close("x", inf, inf, 0) == "");
  CHECK(close("x", nan, x, 1) != "");
  CHECK(close("x", x, nan, 1) != "");
  CHECK(close("x", inf, x, 1) != "");
  CHECK(close("x", x, tensor({1.0}, DType::f64), 1) != "");
  CHECK(close("x", x, Tensor{}, 1) != "");
  CHECK(same_bits("x", x, tensor({1.0, std::nextafter(2.0, 3.0)}, DType::f64)) != "");
  CHECK(same_bits("x", x, copy_of(x)) == "");
}
