#include "study/work_count.hpp"

#include "core/op.hpp"

#include <algorithm>
#include <string_view>

namespace gradus::study::toy {
namespace {

std::int64_t bytes_of(const Tensor& x) {
  return x.numel() * (x.dtype() == DType::b8 ? 1 : x.dtype() == DType::f32 ? 4 : 8);
}

}  // namespace

void WorkCount::on_op(const OpEvent& event) {
  const Tensor& y = event.output;
  const auto shares = [&](const Tensor& x) { return x.defined() && x.storage() == y.storage(); };
  if (std::any_of(event.inputs.begin(), event.inputs.end(), shares)) return;  // a view
  ++ops;
  bytes += bytes_of(y);
  for (const Tensor& x : event.inputs)
    if (x.defined()) bytes += bytes_of(x);
  const std::string_view name = event.info().name;
  const auto last = [&](std::size_t input) { return event.inputs[input].size(-1); };
  if (name == "matmul" || name == "linear") multiply_adds += y.numel() * last(0);
  else if (name == "attention") multiply_adds += y.numel() / last(2) * event.inputs[1].size(-2) * (last(0) + last(2));
  else elements += y.numel();
}

}  // namespace gradus::study::toy
