#include "nn/module.hpp"

#include "core/mode.hpp"

#include <algorithm>

namespace gradus::nn {
namespace {

/// A visitor that calls f(path, tensor).
template <class F>
class EachTensor final : public PartVisitor {
 public:
  explicit EachTensor(F f) : f_(std::move(f)) {}
  void tensor(const Path& path, Tensor& part) override { f_(path, part); }

 private:
  F f_;
};
template <class F>
void each_tensor(AnyModule m, F f) {
  EachTensor<F> visitor(std::move(f));
  m.walk(visitor);
}

NamedTensors listed(AnyModule m, bool buffers) {
  NamedTensors list;
  each_tensor(m, [&](const Path& path, const Tensor& part) {
    if (!buffers && !part.requires_grad()) return;
    const auto is_part = [&](const auto& known) { return same_tensor(known.second, part); };
    if (std::none_of(list.begin(), list.end(), is_part)) list.emplace_back(to_string(path), part);
  });
  return list;
}

/// Replaces every tensor by f of it, called once for each distinct one, so that parts that shared a tensor still do.
template <class F>
void replace(AnyModule m, F f) {
  std::vector<std::pair<Tensor, Tensor>> done;  // before, after
  each_tensor(m, [&](const Path&, Tensor& part) {
    for (const auto& [before, after] : done)
      if (same_tensor(before, part)) {
        part = after;
        return;
      }
    Tensor after = f(part);
    if (part.requires_grad() && after.is_leaf() && !same_tensor(after, part)) after.requires_grad(true);
    done.emplace_back(part, after);
    part = std::move(after);
  });
}

}  // namespace

void PartVisitor::module(const Path&, const std::type_info&, bool*) {}

std::string to_string(const Path& path) {
  if (!path.above) return "";
  std::string text = to_string(*path.above);
  if (!text.empty()) text += '.';
  return text += path.name.empty() ? std::to_string(path.index) : std::string(path.name);
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.node() || b.node()) return a.node().get() == b.node().get();
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides() &&
         a.layout().offset == b.layout().offset;
}

NamedTensors named_parameters(AnyModule m) { return listed(m, false); }
NamedTensors named_tensors(AnyModule m) { return listed(m, true); }

std::vector<Tensor> parameters(AnyModule m) {
  std::vector<Tensor> list;
  for (auto& [name, tensor] : named_parameters(m)) list.push_back(std::move(tensor));
  return list;
}

std::int64_t count(AnyModule m) {
  std::int64_t n = 0;
  for (const auto& [name, tensor] : named_parameters(m)) n += tensor.numel();
  return n;
}

void zero_grad(AnyModule m) {
  each_tensor(m, [](const Path&, Tensor& part) { part.zero_grad(); });
}

namespace detail {

void set_training(AnyModule m, bool on) {
  class Flags final : public PartVisitor {
   public:
    explicit Flags(bool value) : value_(value) {}
    void tensor(const Path&, Tensor&) override {}
    void module(const Path&, const std::type_info&, bool* training) override {
      if (training) *training = value_;
    }

   private:
    bool value_;
  };
  Flags flags(on);
  m.walk(flags);
}

void unshare(AnyModule m) {
  replace(m, [](const Tensor& part) { return copy_of(part); });
}

void convert(AnyModule m, DType dtype) {
  if (!is_floating(dtype)) fail("to: dtype {} is not floating; modules are f32 or f64", dtype);
  replace(m, [dtype](const Tensor& part) {
    if (!is_floating(part.dtype()) || part.dtype() == dtype) return part;
    Tensor converted(part.shape(), dtype);
    const NoGrad guard;
    assign(converted, part);
    return converted;
  });
}

// Two parts that were one leaf become two handles of one storage with one layout: still the same tensor.
void detach(AnyModule m) {
  each_tensor(m, [](const Path&, Tensor& part) { part = part.detach(); });
}

}  // namespace detail
}  // namespace gradus::nn
