#pragma once
#include "core/tensor.hpp"

namespace gradus::nn {

/// The keys and values of the positions so far, [..., heads, length, head width]: what decoding need not compute again.
/// Appending writes into spare room; a copy of a cache is independent (the room is copied before either is written).
/// Where gradients are recorded the new positions are joined by `concat`, so that a cached pass can be differentiated.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  /// Holds these, without spare room: for the memory of a decoder, which does not grow.
  KeyValueCache(Tensor keys, Tensor values);
  /// The number of positions held: the offset of the next one.
  std::int64_t length() const { return length_; }
  /// Adds positions at the end. Error when the shapes differ in any axis but the length.
  void append(const Tensor& keys, const Tensor& values);
  /// The keys and values held; undefined while there are none.
  Tensor keys() const { return held(keys_); }
  Tensor values() const { return held(values_); }

 private:
  Tensor held(const Tensor& buffer) const;
  Tensor keys_, values_;  // with room for more along axis -2
  std::int64_t length_ = 0;
};

}  // namespace gradus::nn
