#include "nn/cache.hpp"

#include "ops/ops.hpp"

#include <algorithm>

namespace gradus::nn {
namespace {

void check_fits(const char* what, const Tensor& held, const Tensor& added) {
  bool fits = !held.defined() || (held.rank() == added.rank() && held.dtype() == added.dtype());
  for (int i = 0; fits && held.defined() && i < held.rank(); ++i)
    fits = i == held.rank() - 2 || held.shape()[i] == added.shape()[i];
  if (!fits)
    fail("KeyValueCache: {} {} {} after {} {}; a cache serves one batch, start a new one", what, added.dtype(),
         added.shape(), held.dtype(), held.shape());
}

/// `buffer`, or a larger copy of its first `length` positions when it lacks room or somebody else holds it.
void make_room(Tensor& buffer, std::int64_t length, std::int64_t needed, const Tensor& like) {
  if (buffer.defined() && buffer.size(-2) >= needed && buffer.storage().unique() && !buffer.requires_grad()) return;
  constexpr std::int64_t least = 16;
  Shape shape = like.shape();
  shape[like.rank() - 2] = std::max({needed, 2 * length, least});
  Tensor larger(shape, like.dtype());
  if (length > 0) {
    Tensor first = slice(larger, -2, 0, length);
    assign(first, slice(buffer, -2, 0, length));
  }
  buffer = larger;
}

void append_to(Tensor& buffer, std::int64_t length, const Tensor& added) {
  if (grad_enabled() && (added.requires_grad() || (buffer.defined() && buffer.requires_grad()))) {
    buffer = length == 0 ? added : concat({slice(buffer, -2, 0, length), added}, -2);
    return;
  }
  const NoGrad guard;
  const std::int64_t needed = length + added.size(-2);
  make_room(buffer, length, needed, added);
  Tensor room = slice(buffer, -2, length, needed);
  assign(room, added);
}

}  // namespace

KeyValueCache::KeyValueCache(Tensor keys, Tensor values) : keys_(std::move(keys)), values_(std::move(values)) {
  length_ = keys_.size(-2);
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  check_fits("keys", keys_, keys);
  check_fits("values", values_, values);
  append_to(keys_, length_, keys);
  append_to(values_, length_, values);
  length_ += keys.size(-2);
}

Tensor KeyValueCache::held(const Tensor& buffer) const {
  if (length_ == 0 || buffer.size(-2) == length_) return buffer;
  return slice(buffer, -2, 0, length_);
}

}  // namespace gradus::nn
