#include "nn/embedding.hpp"

#include "nn/init.hpp"
#include "ops/ops.hpp"

namespace gradus::nn {

Embedding::Embedding(std::int64_t count, std::int64_t width, std::optional<std::int64_t> padding, double deviation)
    : weight(normal_parameter({count, width}, deviation)), padding_index(padding) {
  if (!padding) return;
  if (*padding < -count || *padding >= count)
    fail("Embedding: padding index {} is not one of {} rows; give -{} to {}", *padding, count, count, count - 1);
  if (*padding < 0) *padding_index += count;
  const NoGrad guard;
  Tensor row = select(weight, 0, *padding_index);
  fill(row, 0);
}

Tensor Embedding::operator()(const Tensor& index) const { return embedding(weight, index, padding_index); }

}  // namespace gradus::nn
