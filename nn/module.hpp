#pragma once
#include "core/arrays.hpp"
#include "core/tensor.hpp"

#include <optional>
#include <typeinfo>
#include <vector>

// A module is a plain struct that names its parts in one line:
//
//   struct Linear {
//     Tensor weight, bias;
//     void parts(auto&& f) { f("weight", weight); f("bias", bias); }
//   };
//
// A part is a tensor, a module, or a std::vector or std::optional of either; undefined tensors and empty optionals are
// skipped. Parameters are the tensors that require grad, buffers the others. A member `bool training` is found by name.
// Copies share parameters, `clone` does not. A tensor that is the part of two owners is listed once, under its first
// name.
namespace gradus::nn {

/// Where a part stands, as a chain up to the root: walking allocates nothing. `to_string` joins it: `layers.0.weight`.
struct Path {
  const Path* above = nullptr;  ///< null at the root, which has no name
  std::string_view name = {};   ///< empty for an element of a list
  std::size_t index = 0;        ///< of that element
};
std::string to_string(const Path& path);

/// What a walk does at each part, in the order of `parts`; a module comes before what it holds.
class PartVisitor {
 public:
  /// A defined tensor. Assigning to `part` replaces it in the module.
  virtual void tensor(const Path& path, Tensor& part) = 0;
  /// A module; `training` points at its flag, null if it has none.
  virtual void module(const Path& path, const std::type_info& type, bool* training);

 protected:
  ~PartVisitor() = default;
};

namespace detail {
struct AnyPart {
  template <class P>
  void operator()(std::string_view name, P& part) const;
  template <class P>
  void operator()(std::size_t index, P& part) const;
};
}  // namespace detail

/// A struct with the line that names its parts.
template <class M>
concept HasParts = requires(M& m) {
  m.parts(detail::AnyPart{});
};

namespace detail {

template <class T>
struct ListOf : std::false_type {};
template <class T>
struct ListOf<std::vector<T>> : std::true_type {};
template <class T>
struct MaybeOf : std::false_type {};
template <class T>
struct MaybeOf<std::optional<T>> : std::true_type {};

template <class P>
void walk(PartVisitor& visitor, const Path& path, P& part);

/// What `parts` calls: f("weight", weight), or f(0, first) for numbered parts.
struct Walker {
  PartVisitor& visitor;
  const Path& path;
  template <class P>
  void operator()(std::string_view name, P& part) const {
    walk(visitor, Path{&path, name, 0}, part);
  }
  template <class P>
  void operator()(std::size_t index, P& part) const {
    walk(visitor, Path{&path, {}, index}, part);
  }
};

/// The only template that knows what parts may be.
template <class P>
void walk(PartVisitor& visitor, const Path& path, P& part) {
  if constexpr (std::is_same_v<P, Tensor>) {
    if (part.defined()) visitor.tensor(path, part);
  } else if constexpr (ListOf<P>::value) {
    for (std::size_t i = 0; i < part.size(); ++i) walk(visitor, Path{&path, {}, i}, part[i]);
  } else if constexpr (MaybeOf<P>::value) {
    if (part) walk(visitor, path, *part);
  } else {
    static_assert(HasParts<P>, "a part is a tensor, a struct with a parts line, or a vector or optional of either");
    bool* training = nullptr;
    if constexpr (requires { training = &part.training; }) training = &part.training;
    visitor.module(path, typeid(P), training);
    part.parts(Walker{visitor, path});
  }
}

}  // namespace detail

/// A reference to a module of any type, for parameters only. The functions that take it read the module or write into
/// its tensors; those that change the struct itself (train, eval, to, freeze) take it by its own type.
class AnyModule {
 public:
  template <HasParts M>
  AnyModule(const M& m)
      : object_(const_cast<M*>(&m)),
        walk_([](void* object, PartVisitor& visitor) { detail::walk(visitor, Path{}, *static_cast<M*>(object)); }) {}
  void walk(PartVisitor& visitor) const { walk_(object_, visitor); }

 private:
  void* object_;
  void (*walk_)(void*, PartVisitor&);
};

/// True for two handles of one tensor: the same leaf, or without a node the same elements of the same storage.
bool same_tensor(const Tensor& a, const Tensor& b);

/// The tensors that require grad, each once under its first name, in the order of `parts`.
NamedTensors named_parameters(AnyModule m);
/// The same without names: what an optimizer takes.
std::vector<Tensor> parameters(AnyModule m);
/// Parameters and buffers, each once under its first name: what `save` writes.
NamedTensors named_tensors(AnyModule m);
/// The number of elements of all parameters.
std::int64_t count(AnyModule m);
/// A table of the parts: names, types, shapes, elements, and the totals. Modules that hold no tensor are left out.
std::string summary(AnyModule m);

/// Writes parameters and buffers as safetensors, under names as in a PyTorch state dict.
void save(AnyModule m, const std::filesystem::path& path, const std::map<std::string, std::string>& metadata = {});
/// Writes `from` into the existing tensors, which stay the same leaves: optimizers remain valid. Either float type is
/// converted to the module's. A tied tensor may be there under any of its names, or under several with equal values.
/// One Error lists missing, extra and misshapen names; then nothing was changed.
void load(AnyModule m, const NamedTensors& from);
/// The same from a safetensors file, for instance one that PyTorch wrote.
void load(AnyModule m, const std::filesystem::path& path);

/// Drops all gradients.
void zero_grad(AnyModule m);

namespace detail {
void set_training(AnyModule m, bool on);
void unshare(AnyModule m);
void convert(AnyModule m, DType dtype);
void detach(AnyModule m);
}  // namespace detail

/// Sets every `training` flag: dropout is active.
template <HasParts M>
void train(M& m, bool on = true) {
  detail::set_training(m, on);
}
/// Clears every `training` flag: dropout is the identity.
template <HasParts M>
void eval(M& m) {
  detail::set_training(m, false);
}
/// A module of the same values that shares nothing with m: fresh leaves, no gradients. Sharing inside is preserved.
template <HasParts M>
M clone(const M& m) {
  M copy = m;
  detail::unshare(copy);
  return copy;
}
/// Converts the floating tensors: fresh leaves where the dtype changes, so make optimizers afterwards. Sharing inside
/// is preserved. Error for i64 and b8.
template <HasParts M>
void to(M& m, DType dtype) {
  detail::convert(m, dtype);
}
/// Makes constants of all parameters of m. Other copies of m keep theirs.
template <HasParts M>
void freeze(M& m) {
  detail::detach(m);
}

}  // namespace gradus::nn
