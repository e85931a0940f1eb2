#include "study/indexing.hpp"

#include "study/call.hpp"

namespace gradus::study {
namespace {

using Kind = IndexItem::Kind;

Value element(const Value::List& list, std::int64_t index) {
  const auto n = static_cast<std::int64_t>(list.size());
  if (index < -n || index >= n) fail("index: {} is out of range for a list of {}; use {} to {}", index, n, -n, n - 1);
  return list[static_cast<std::size_t>(index < 0 ? index + n : index)];
}

// How many axes of x the items name.
int named_axes(const Tensor& x, const std::vector<IndexItem>& items) {
  int axes = 0, ellipses = 0;
  for (const IndexItem& item : items) {
    axes += item.kind == Kind::integer || item.kind == Kind::slice;
    ellipses += item.kind == Kind::ellipsis;
  }
  if (ellipses > 1) fail("index: ... stands there {} times; once is enough", ellipses);
  if (axes > x.rank())
    fail("index: {} indices for shape {}, which has {} axes; leave some out", axes, x.shape(), x.rank());
  return axes;
}

Tensor apply(const char* op, std::vector<Value> arguments) {
  return *run_op(op, std::move(arguments)).get_if<Tensor>();
}

// The slice of an axis, or x itself when nothing is cut off.
Tensor sliced(const Tensor& x, int axis, const IndexItem& item) {
  if (item.step < 1)
    fail("index: step {} is not positive; use 1 or more, flip(x, {}) reverses the axis", item.step, axis);
  if (!item.start && !item.stop && item.step == 1) return x;
  const Value stop = item.stop ? Value(*item.stop) : Value();
  return apply("slice", {x, axis, item.start.value_or(0), stop, item.step});
}

}  // namespace

Value indexed(const Value& value, const std::vector<IndexItem>& items, DType dtype) {
  if (const auto* list = value.get_if<Value::List>(); list && items.size() == 1 && items[0].kind == Kind::integer)
    return element(*list, items[0].index);
  Tensor x = as_tensor(value, {"index", "x"}, dtype);
  if (!x.defined()) fail("index: None has no elements; index a tensor or a list");
  const int skipped = x.rank() - named_axes(x, items);
  std::vector<int> new_axes;  // where they stand in the result
  int axis = 0;
  for (const IndexItem& item : items) {
    const int at = axis + static_cast<int>(new_axes.size());
    switch (item.kind) {
      case Kind::ellipsis: axis += skipped; break;
      case Kind::new_axis: new_axes.push_back(at); break;
      case Kind::integer: x = apply("select", {x, axis, item.index}); break;
      case Kind::slice: x = sliced(x, axis++, item); break;
    }
  }
  if (new_axes.empty()) return x;
  Shape shape = x.shape();
  for (const int at : new_axes) shape.insert(at, 1);
  return apply("reshape", {x, shape});
}

}  // namespace gradus::study
