// One entry of a term, written out in entries.
#include <fmt/format.h>

#include "study/spelling.hpp"

namespace gradus::study {
namespace {

/// Symbols and numbers side by side, with how tightly both bind.
struct Entry {
  std::string symbols, numbers;
  Binding binding = Binding::atom;
  std::string symbols_at(Binding least) const { return binding < least ? "(" + symbols + ")" : symbols; }
  std::string numbers_at(Binding least) const { return binding < least ? "(" + numbers + ")" : numbers; }
};

std::string number_text(double v) { return fmt::format("{:.4g}", v); }

std::string index_text(const Shape& index) {
  std::string text;
  for (const std::int64_t i : index) text += fmt::format("{}{}", text.empty() ? "" : ",", i);
  return text.empty() ? "" : "[" + text + "]";
}

double value_at(const Tensor& x, const Shape& index) {
  std::int64_t at = 0;
  for (int i = 0; i < x.rank(); ++i) at += index[i] * x.strides()[i];
  return dispatch(x.dtype(), [&](auto zero) { return static_cast<double>(x.data<decltype(zero)>()[at]); });
}

// The entry of a smaller tensor that is repeated to the entry at `index`.
Shape broadcast_index(const Shape& index, const Shape& shape) {
  Shape at;
  for (int i = 0; i < shape.rank(); ++i) at.push_back(shape[i] == 1 ? 0 : index[index.rank() - shape.rank() + i]);
  return at;
}

Shape unflatten(std::int64_t flat, const Shape& shape) {
  Shape index = shape;
  for (int i = shape.rank(); i-- > 0; flat /= std::max<std::int64_t>(shape[i], 1))
    index[i] = flat % std::max<std::int64_t>(shape[i], 1);
  return index;
}

constexpr std::string_view elementwise[] = {"exp",        "log",  "sqrt",  "rsqrt",      "sin",  "cos",      "tanh",
                                            "sigmoid",    "relu", "gelu",  "gelu_tanh",  "silu", "softplus", "abs",
                                            "normal_cdf", "sign", "clamp", "leaky_relu", "elu",  "cast"};

class Expander {
 public:
  std::vector<std::pair<std::string, Shape>> leaves;

  explicit Expander(int longest) : longest_(longest) {}

  Entry entry(const Term& term, const Shape& index) {
    if (!term.op) return leaf(term, index);
    const std::string_view op = term.op->info().name;
    if (op == "add" || op == "sub") return binary(term, index, op == "add" ? " + " : " - ", Binding::addition);
    if (op == "mul" || op == "local_product") return binary(term, index, "·", Binding::product);
    if (op == "div") return binary(term, index, " / ", Binding::product);
    if (op == "pow") return binary(term, index, "^", Binding::power);
    if (op == "neg") return negative(entry(*term.inputs[0], index));
    if (op == "matmul") return matrix_product(term, index);
    if (op == "sum" || op == "mean") return reduction(term, index, op == "mean");
    if (const auto at = moved(term, index)) return entry(*term.inputs[0], *at);
    for (const std::string_view name : elementwise)
      if (op == name) return function(term, entry(*term.inputs[0], index));
    return {fmt::format("{}{}", to_expression(term), index_text(index)), number_text(value_at(term.value, index))};
  }

 private:
  Entry leaf(const Term& term, const Shape& index) {
    if (!term.name.empty()) leaves.emplace_back(term.name, index);
    const double v = value_at(term.value, index);
    const Binding binding = v < 0 ? Binding::sign : Binding::atom;
    const std::string number = number_text(v);
    return {term.name.empty() ? number : term.name + index_text(index), number, binding};
  }

  Entry joined(const Entry& a, const Entry& b, const char* sign, Binding binding, bool same_right) const {
    const Binding right = same_right ? binding : Binding(static_cast<int>(binding) + 1);
    // A sign stands in brackets behind an operator, in symbols it can only be a number's.
    const auto number = [&](const Entry& e, Binding least) {
      return e.binding == Binding::sign ? "(" + e.numbers + ")" : e.numbers_at(least);
    };
    const auto symbol = [&](const Entry& e, Binding least) {
      return e.symbols.front() == '-'     ? "(" + e.symbols + ")"
             : e.binding == Binding::sign ? e.symbols
                                          : e.symbols_at(least);
    };
    return {symbol(a, binding) + sign + symbol(b, right), number(a, binding) + sign + number(b, right), binding};
  }

  Entry binary(const Term& term, const Shape& index, const char* sign, Binding binding) {
    const Term &a = *term.inputs[0], &b = *term.inputs[1];
    return joined(entry(a, broadcast_index(index, a.value.shape())), entry(b, broadcast_index(index, b.value.shape())),
                  sign, binding, binding == Binding::addition && sign[1] == '+');
  }

  static Entry negative(const Entry& e) {
    return {"-" + e.symbols_at(Binding::product),
            "-" + (e.binding == Binding::sign ? "(" + e.numbers + ")" : e.numbers_at(Binding::product)), Binding::sign};
  }

  static Entry function(const Term& term, const Entry& e) {
    return {fmt::format("{}({})", term.op->info().name, e.symbols),
            fmt::format("{}({})", term.op->info().name, e.numbers)};
  }

  // The sum of `count` entries; a long one shows its first ones and its last.
  template <class F>
  Entry sum_of(std::int64_t count, F&& term) {
    if (count == 0) return {"0", "0"};
    const std::int64_t shown = count <= longest_ ? count : longest_ - 2;
    Entry sum = term(0);
    for (std::int64_t k = 1; k < shown; ++k) sum = joined(sum, term(k), " + ", Binding::addition, true);
    if (shown == count) return sum;
    const Entry dots{fmt::format("… ({} more)", count - shown - 1), "…"};
    return joined(joined(sum, dots, " + ", Binding::addition, true), term(count - 1), " + ", Binding::addition, true);
  }

  Entry matrix_product(const Term& term, const Shape& index) {
    const Term &a = *term.inputs[0], &b = *term.inputs[1];
    const int rank = index.rank();
    const Shape &left = a.value.shape(), &right = b.value.shape();
    return sum_of(left.back(), [&](std::int64_t k) {
      Shape at_a = index, at_b = index;
      at_a[rank - 1] = k;
      at_b[rank - 2] = k;
      return joined(entry(a, matrix_index(at_a, left)), entry(b, matrix_index(at_b, right)), "·", Binding::product,
                    false);
    });
  }
  // The leading axes of a factor broadcast, the last two are its own.
  static Shape matrix_index(const Shape& index, const Shape& shape) {
    Shape at = broadcast_index(index, shape);
    for (int i = 1; i <= 2; ++i) at[shape.rank() - i] = index[index.rank() - i];
    return at;
  }

  Entry reduction(const Term& term, const Shape& index, bool is_mean) {
    const Term& x = *term.inputs[0];
    const Shape& shape = x.value.shape();
    const std::vector<Value> attributes = term.op->attributes();
    const unsigned mask = as_axes(attributes[0], {"sum", "axis"}).mask("sum", shape);
    const bool keeps = *attributes[1].get_if<bool>();
    Shape summed, kept;
    for (int i = 0, j = 0; i < shape.rank(); ++i) {
      const bool reduced = (mask >> i & 1) != 0;
      summed.push_back(reduced ? shape[i] : 1);
      kept.push_back(reduced ? 0 : index[keeps ? i : j]);
      if (!reduced) ++j;
    }
    const std::int64_t count = summed.numel();
    const Entry sum = sum_of(count, [&](std::int64_t k) {
      Shape at = unflatten(k, summed);
      for (int i = 0; i < shape.rank(); ++i) at[i] += kept[i];
      return entry(x, at);
    });
    if (!is_mean || count <= 1) return sum;
    return joined(sum, Entry{fmt::format("{}", count), fmt::format("{}", count)}, " / ", Binding::product, false);
  }

  // Where an op that only moves entries reads from.
  static std::optional<Shape> moved(const Term& term, const Shape& index) {
    const std::string_view op = term.op->info().name;
    if (op == "alias" || op == "contiguous") return index;
    if (term.inputs.size() != 1) return {};
    const Shape& from = term.inputs[0]->value.shape();
    if (op == "expand") return broadcast_index(index, from);
    if (op == "reshape") {
      std::int64_t flat = 0;
      for (int i = 0; i < index.rank(); ++i) flat = flat * term.value.shape()[i] + index[i];
      return unflatten(flat, from);
    }
    const std::vector<Value> a = term.op->attributes();
    const auto number = [&](std::size_t i) { return *a[i].get_if<std::int64_t>(); };
    Shape at = index;
    if (op == "transpose") {
      std::swap(at[static_cast<int>(number(0))], at[static_cast<int>(number(1))]);
    } else if (op == "permute") {
      const auto& axes = *a[0].get_if<Value::List>();
      for (int i = 0; i < at.rank(); ++i)
        at[static_cast<int>(*axes[static_cast<std::size_t>(i)].get_if<std::int64_t>())] = index[i];
    } else if (op == "select") {
      at.insert(static_cast<int>(number(0)), number(1));
    } else if (op == "slice") {
      const int axis = static_cast<int>(number(0));
      at[axis] = number(1) + index[axis] * number(3);
    } else {
      return {};
    }
    return at;
  }

  std::int64_t longest_;
};

}  // namespace

ScalarForm scalar_form(const Term& term, const Shape& index, int longest) {
  if (index.rank() != term.value.rank())
    fail("scalar form: {} indices for a value of shape {}; give one for each axis", index.rank(), term.value.shape());
  for (int i = 0; i < index.rank(); ++i)
    if (index[i] < 0 || index[i] >= term.value.shape()[i])
      fail("scalar form: index {} is out of range for axis {} of shape {}", index[i], i, term.value.shape());
  Expander expander(longest);
  Entry entry = expander.entry(term, index);
  return {std::move(entry.symbols), std::move(entry.numbers), value_at(term.value, index), std::move(expander.leaves)};
}

}  // namespace gradus::study
