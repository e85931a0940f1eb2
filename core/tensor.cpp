#include "core/tensor.hpp"

#include "core/elementwise.hpp"
#include "core/mode.hpp"
#include "core/node.hpp"

#include <algorithm>
#include <cmath>

namespace gradus {
namespace {

std::int64_t checked_bytes(const Shape& shape, DType dtype) {
  for (const std::int64_t n : shape)
    if (n < 0) fail("shape: {} has a negative extent; extents are 0 or more", shape);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.numel(), bytes_of(dtype), &bytes))
    fail("memory: a tensor {} {} exceeds 2^63 bytes", dtype, shape);
  return bytes;
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType dtype)
    : storage_(checked_bytes(shape, dtype)),
      layout_{shape, contiguous_strides(shape), 0},
      dtype_(dtype),
      defined_(true) {}

void Tensor::fail_unreadable(DType asked) const {
  if (!defined_) fail("tensor: an undefined tensor was read; check `defined()` for optional inputs");
  if (!storage_)
    fail(
        "tensor: {} {} was not kept for backward; the op says what it reads, e.g. `static constexpr Keep keeps = "
        "Keep::inputs`",
        dtype_, shape());
  fail("tensor: {} {} was read as {}; cast it first", dtype_, shape(), asked);
}

void Tensor::prepare_write(const char* op) {
  if (!defined_) fail("{}: an undefined tensor cannot be written to; make one with zeros or empty", op);
  if (grad_enabled()) {
    if (node_ && !node_->is_leaf())
      fail("{}: tensor {} is the result of the recorded op {}; use where(condition, value, x) to make a changed copy",
           op, shape(), op_name(*node_));
    fail("{}: writing in place is not recorded; put it under a NoGrad guard, or use where to make a changed copy", op);
  }
  if (layout_.overlaps())
    fail("{}: tensor {} is expanded, several elements share one place; write to contiguous() instead", op, shape());
  if (!storage_) fail_unreadable(dtype_);
  storage_.bump_version();
}

double Tensor::item() const {
  if (numel() != 1) fail("item: a tensor of shape {} has {} elements, not one; use at or to_vector", shape(), numel());
  return at_offset(0);
}

double Tensor::at_offset(std::int64_t offset) const {
  return dispatch(dtype_, [&](auto zero) { return static_cast<double>(data<decltype(zero)>()[offset]); });
}

double Tensor::at(std::initializer_list<std::int64_t> index) const {
  if (static_cast<int>(index.size()) != rank())
    fail("at: {} indices for shape {}; give one for each axis", index.size(), shape());
  std::int64_t offset = 0;
  int axis = 0;
  for (std::int64_t i : index) {
    const std::int64_t n = shape()[axis];
    if (i < -n || i >= n) fail("at: index {} is out of range for axis {} of shape {}", i, axis, shape());
    offset += (i < 0 ? i + n : i) * strides()[axis++];
  }
  return at_offset(offset);
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor x = packed(*this);
  std::vector<T> values(static_cast<std::size_t>(x.numel()));
  dispatch(x.dtype(), [&](auto zero) {
    const auto* const from = x.data<decltype(zero)>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(from[i]);
  });
  return values;
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

// ---- the graph

Tensor& Tensor::requires_grad(bool on) {
  if (!defined_) fail("requires_grad: the tensor is undefined; make one with zeros or randn");
  if (node_ && !node_->is_leaf())
    fail(
        "requires_grad: tensor {} is the result of the recorded op {}; only leaves can be switched, use detach() first",
        shape(), op_name(*node_));
  if (!on) {
    node_ = {};
  } else if (!node_) {
    if (!is_floating(dtype_)) fail("requires_grad: dtype {} is not differentiable; cast to f32 or f64 first", dtype_);
    node_ = NodePtr(::new (pool::allocate(sizeof(Node))) Node);
    node_->output = detach().ghost();
    node_->more();
  }
  return *this;
}

bool Tensor::is_leaf() const { return !node_ || node_->is_leaf(); }

Tensor Tensor::grad() const {
  if (!node_) return {};
  if (!node_->is_leaf() && !(node_->extra && node_->extra->retains))
    fail("grad: tensor {} is the result of op {}, not a leaf; call retain_grad() on it before backward", shape(),
         op_name(*node_));
  return node_->extra->gradient;
}

void Tensor::set_grad(const Tensor& g) {
  if (!node_ || !node_->is_leaf()) fail("set_grad: tensor {} is not a leaf that requires grad", shape());
  if (g.defined() && (g.shape() != shape() || g.dtype() != dtype_))
    fail("set_grad: gradient {} {} does not match tensor {} {}", g.dtype(), g.shape(), dtype_, shape());
  node_->more().gradient = g.defined() ? packed(g) : Tensor{};
}

void Tensor::zero_grad() {
  if (node_ && node_->extra) node_->extra->gradient = {};
}

void Tensor::retain_grad() {
  if (!node_) fail("retain_grad: tensor {} does not require grad, so it has no gradient", shape());
  node_->more().retains = true;
}

void Tensor::on_gradient(std::function<Tensor(const Tensor&)> hook) {
  if (!node_) fail("on_gradient: tensor {} does not require grad, so it has no gradient", shape());
  node_->more().hooks.push_back(std::move(hook));
}

Tensor Tensor::ghost() const {
  Tensor g(Storage{}, layout_, dtype_, defined_);
  g.node_ = node_;
  return g;
}

// ---- operands

Tensor Operand::as(DType dtype) const { return tensor_ ? *tensor_ : scalar(number_, dtype); }

namespace {

[[noreturn, gnu::cold]] void fail_operands(const char* op, const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) fail("{}: an input is undefined; give both tensors", op);
  fail("{}: dtypes {} and {} do not mix; cast one of them", op, a.dtype(), b.dtype());
}

}  // namespace

OperandPair operands(const char* op, const Operand& a, const Operand& b) {
  const Tensor *x = a.tensor(), *y = b.tensor();
  if (x && y) {
    if (x->dtype() != y->dtype() || !x->defined() || !y->defined()) fail_operands(op, *x, *y);
    return {x, y};
  }
  const DType dtype = x ? x->dtype() : y ? y->dtype() : DType::f32;
  for (const Operand* number : {&a, &b})
    if (!number->tensor() && dtype == DType::i64 && number->number() != std::nearbyint(number->number()))
      fail("{}: the number {} does not fit a tensor of dtype i64; cast the tensor to f32 or f64", op, number->number());
  return {a, b, dtype};
}

}  // namespace gradus
