#pragma once
#include "core/tensor.hpp"

namespace gradus {

/// The argument type of ops on several tensors: a braced list, a vector or a span. Refers, does not own: for parameters
/// only.
class TensorList {
 public:
  TensorList(std::initializer_list<Tensor> list) : list_(list.begin(), list.size()) {}
  TensorList(const std::vector<Tensor>& list) : list_(list) {}
  TensorList(std::span<const Tensor> list) : list_(list) {}
  std::span<const Tensor> span() const { return list_; }
  std::size_t size() const { return list_.size(); }
  const Tensor& operator[](std::size_t i) const { return list_[i]; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::span<const Tensor> list_;
};

}  // namespace gradus
