#include "study/article_heads.hpp"

#include "nn/heads.hpp"
#include "ops/ops.hpp"

#include <cmath>

namespace gradus::study::toy {

FullWidthHeads::FullWidthHeads(std::int64_t embed, std::int64_t head_count) : fc(embed * head_count, embed) {
  for (std::int64_t h = 0; h < head_count; ++h) heads.emplace_back(embed);
}

Tensor FullWidthHeads::side_by_side(const Tensor& x) const {
  std::vector<Tensor> outputs;
  for (const nn::SelfAttention& head : heads) outputs.push_back(attention(head.query(x), head.key(x), head.value(x)));
  return concat(outputs, -1);
}

SlicedHeads::SlicedHeads(std::int64_t embed, std::int64_t head_count)
    : values(embed / head_count, embed / head_count, false),
      keys(embed / head_count, embed / head_count, false),
      queries(embed / head_count, embed / head_count, false),
      fc_out(embed, embed),
      heads(head_count) {}

Tensor SlicedHeads::by_head(const Tensor& x) const {
  const Tensor slices = nn::split_heads(x, heads);
  return attention(queries(slices), keys(slices), values(slices), {}, {}, false,
                   1 / std::sqrt(static_cast<double>(x.size(-1))));
}

Tensor SlicedHeads::operator()(const Tensor& x) const { return fc_out(nn::merge_heads(by_head(x))); }

Tensor standard_heads(const Tensor& x, const Tensor& wq, const Tensor& wk, const Tensor& wv, std::int64_t heads) {
  return attention(nn::split_heads(matmul(x, wq), heads), nn::split_heads(matmul(x, wk), heads),
                   nn::split_heads(matmul(x, wv), heads));
}

}  // namespace gradus::study::toy
