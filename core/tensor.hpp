#pragma once
#include "core/dtype.hpp"
#include "core/shape.hpp"
#include "core/storage.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace gradus {

struct Node;
class Axes;
class Operand;

/// A counted reference to a graph node; see core/node.hpp.
class NodePtr {
 public:
  NodePtr() = default;
  /// Takes over one reference.
  explicit NodePtr(Node* owned) : node_(owned) {}
  NodePtr(const NodePtr& other) noexcept;
  NodePtr(NodePtr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodePtr& operator=(NodePtr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodePtr();
  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

/// A value with three parts: storage (where the numbers are), layout (how to read them) and node (where they came
/// from). Copies share storage and node. `Tensor{}` is undefined: an optional tensor that was not given.
class Tensor {
 public:
  Tensor() = default;
  /// A new contiguous tensor with uninitialised elements. Error for a negative extent.
  Tensor(const Shape& shape, DType dtype);
  /// A tensor that reads `storage` by `layout`; no node.
  Tensor(Storage storage, const Layout& layout, DType dtype)
      : storage_(std::move(storage)), layout_(layout), dtype_(dtype), defined_(true) {}

  bool defined() const { return defined_; }
  const Shape& shape() const { return layout_.shape; }
  const Strides& strides() const { return layout_.strides; }
  const Layout& layout() const { return layout_; }
  const Storage& storage() const { return storage_; }
  DType dtype() const { return dtype_; }
  int rank() const { return layout_.shape.rank(); }
  std::int64_t numel() const { return layout_.shape.numel(); }
  /// The extent of an axis, counted from the end if negative. Error when out of range.
  std::int64_t size(int axis) const { return layout_.shape[checked_axis("size", layout_.shape, axis)]; }
  bool is_contiguous() const { return layout_.is_contiguous(); }

  /// The first element, for reading with `strides()`. Error when T is not the dtype or the tensor is a ghost.
  template <class T>
  const T* data() const {
    check_readable(dtype_of<T>);
    return static_cast<const T*>(storage_.data()) + layout_.offset;
  }
  /// The first element of a tensor that this kernel has just made: no check, no version.
  template <class T>
  T* fresh_data() {
    return static_cast<T*>(storage_.data()) + layout_.offset;
  }
  /// The first element, for writing in place; bumps the version. Error without a NoGrad guard, or on an expanded
  /// tensor.
  template <class T>
  T* mutable_data() {
    prepare_write("write");
    check_readable(dtype_of<T>);
    return fresh_data<T>();
  }
  /// The check that precedes every write in place, with the version bump. `op` names the caller in errors.
  void prepare_write(const char* op);

  /// The only element, as double. Error unless there is exactly one.
  double item() const;
  /// One element, as double: `x.at({1, 2})`. Error when out of range.
  double at(std::initializer_list<std::int64_t> index) const;
  /// All elements in row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector() const;

  // ---- the graph
  bool requires_grad() const { return static_cast<bool>(node_); }
  /// Makes this tensor a leaf whose gradient `backward` collects (or an ordinary tensor again). Error for i64 and b8,
  /// and for results of ops.
  Tensor& requires_grad(bool on);
  /// True for a tensor that no recorded op made.
  bool is_leaf() const;
  /// The gradient collected by `backward`; undefined if none. Error on the result of an op without `retain_grad()`.
  Tensor grad() const;
  /// Replaces the collected gradient. Error unless this is a leaf and shapes and dtypes match; an undefined `g` clears
  /// it.
  void set_grad(const Tensor& g);
  /// Drops the collected gradient: afterwards there is none (not a zero one).
  void zero_grad();
  /// Asks that `grad()` be kept for this result of an op.
  void retain_grad();
  /// The same elements without a node: a constant to the chain rule. Shares storage and version.
  Tensor detach() const { return Tensor(storage_, layout_, dtype_, defined_); }
  /// Calls `hook` with this tensor's complete gradient in every pass; a defined return value replaces it. Error without
  /// a node.
  void on_gradient(std::function<Tensor(const Tensor&)> hook);

  const NodePtr& node() const { return node_; }
  void set_node(NodePtr node) { node_ = std::move(node); }
  /// Layout and dtype alone, with the node: what a graph holds of a tensor that backward will not read. Reading it is
  /// an error.
  Tensor ghost() const;
  bool is_ghost() const { return defined_ && !storage_; }

  // ---- shortcuts; each is the op of the same name (ops/ops.hpp) and is defined in that op's file
  Tensor operator[](std::int64_t index) const;  ///< select(x, 0, index)
  Tensor T() const;                             ///< transpose of the last two axes
  Tensor transpose(int axis0, int axis1) const;
  Tensor permute(const Shape& axes) const;
  Tensor reshape(const Shape& shape) const;
  Tensor expand(const Shape& shape) const;
  Tensor contiguous() const;
  Tensor to(DType dtype) const;  ///< cast
  Tensor sum() const;
  Tensor sum(const Axes& axis, bool keepdim = false) const;
  Tensor mean() const;
  Tensor mean(const Axes& axis, bool keepdim = false) const;
  Tensor max() const;
  Tensor max(const Axes& axis, bool keepdim = false) const;
  Tensor min() const;
  Tensor min(const Axes& axis, bool keepdim = false) const;

  /// In place, under NoGrad: the right side broadcasts to this shape. Error when the result would be larger.
  Tensor& operator+=(const Operand& b);
  Tensor& operator-=(const Operand& b);
  Tensor& operator*=(const Operand& b);
  Tensor& operator/=(const Operand& b);

 private:
  Tensor(Storage storage, const Layout& layout, DType dtype, bool defined)
      : storage_(std::move(storage)), layout_(layout), dtype_(dtype), defined_(defined) {}
  void check_readable(DType asked) const {
    if (dtype_ != asked || !storage_) fail_unreadable(asked);
  }
  [[noreturn, gnu::cold]] void fail_unreadable(DType asked) const;
  double at_offset(std::int64_t offset) const;

  Storage storage_;
  NodePtr node_;
  Layout layout_;
  DType dtype_ = DType::f32;
  bool defined_ = false;
};

/// A tensor, or a number that takes the dtype of the tensor beside it: the argument type of the binary ops.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  template <class N>
  requires std::is_arithmetic_v<N> Operand(N number) : number_(static_cast<double>(number)) {}
  const Tensor* tensor() const { return tensor_; }
  double number() const { return number_; }
  /// The tensor, or the number as a scalar tensor of `dtype`.
  Tensor as(DType dtype) const;

 private:
  const Tensor* tensor_ = nullptr;
  double number_ = 0;
};

/// x <- op(x, b) in place: what the compound assignments do. Error when the result would be larger than x.
Tensor& update_in_place(const char* op, Tensor& x, const Operand& b,
                        Tensor (*function)(const Operand&, const Operand&));

/// Both operands of a binary op as tensors, without copying those that are: `const auto [x, y] = operands("add", a,
/// b);`.
class OperandPair {
 public:
  OperandPair(const Tensor* a, const Tensor* b) : a_(a), b_(b) {}
  OperandPair(const Operand& a, const Operand& b, DType dtype) : a_(a.tensor()), b_(b.tensor()) {
    if (!a_) made_a_ = a.as(dtype);
    if (!b_) made_b_ = b.as(dtype);
  }
  template <std::size_t i>
  const Tensor& get() const {
    if constexpr (i == 0) return a_ ? *a_ : *made_a_;
    else return b_ ? *b_ : *made_b_;
  }

 private:
  const Tensor *a_, *b_;
  std::optional<Tensor> made_a_, made_b_;
};
/// A number takes the other's dtype (f32 when both are numbers). Error `op: dtypes f32 and f64 do not mix; cast one of
/// them`.
OperandPair operands(const char* op, const Operand& a, const Operand& b);

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Tensor& x);
Tensor operator==(const Operand& a, const Operand& b);  ///< elementwise, b8
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

// ---- factories: f32 unless told
Tensor empty(const Shape& shape, DType dtype = DType::f32);
Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
/// A rank-0 tensor.
Tensor scalar(double value, DType dtype = DType::f32);
/// start, start+step, ... below stop. Error for a zero step.
Tensor arange(double start, double stop, double step = 1, DType dtype = DType::i64);
/// The identity matrix [n, n].
Tensor eye(std::int64_t n, DType dtype = DType::f32);
/// The values in row-major order. Error when their number is not the shape's.
Tensor tensor(std::span<const double> values, const Shape& shape, DType dtype = DType::f32);
Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype = DType::f32);
/// A vector, and a matrix from its rows. Error when the rows differ in length.
Tensor tensor(std::initializer_list<double> values, DType dtype = DType::f32);
Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype = DType::f32);
/// i64 indices from integers.
Tensor indices(std::span<const std::int64_t> values, const Shape& shape);
Tensor indices(std::initializer_list<std::int64_t> values);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);

/// The same numbers, contiguous and without a node: `x` itself when it is contiguous, else a copy. For kernels; not
/// recorded.
Tensor packed(const Tensor& x);
/// A contiguous copy without a node, never sharing storage. Not recorded.
Tensor copy_of(const Tensor& x);

// ---- in place, under NoGrad
/// y <- x, with broadcasting and conversion of dtype. Error when x does not broadcast to y.
void assign(Tensor& y, const Tensor& x);
void fill(Tensor& y, double value);

/// As NumPy prints arrays, with shape and dtype where they are not obvious.
std::string to_string(const Tensor& x);
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace gradus

template <>
struct std::tuple_size<gradus::OperandPair> : std::integral_constant<std::size_t, 2> {};
template <std::size_t i>
struct std::tuple_element<i, gradus::OperandPair> {
  using type = const gradus::Tensor;
};

template <>
struct fmt::formatter<gradus::Tensor> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const gradus::Tensor& value, Context& context) const {
    const auto text = gradus::to_string(value);
    return std::copy(text.begin(), text.end(), context.out());
  }
};

#include "core/node.hpp"  // completes NodePtr: copying a tensor counts a reference to its node
