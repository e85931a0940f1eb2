#include "nn/seq2seq.hpp"

#include <algorithm>
#include <cmath>

namespace gradus::nn {
namespace {

double inverse_root(std::int64_t width) { return 1 / std::sqrt(static_cast<double>(width)); }

double embedding_deviation(const Seq2SeqOptions& o) {
  return o.scale_embedding || o.tie_output ? inverse_root(o.layer.embed) : 1;
}

/// Where padding stands in tokens [..., T]: nowhere, only at the ends of rows, or elsewhere too.
enum class Padding : std::uint8_t { absent, at_ends, inside };
Padding padding_in(const Tensor& tokens, std::int64_t padding) {
  const std::vector<std::int64_t> all = tokens.to_vector<std::int64_t>();
  const auto width = tokens.rank() ? tokens.size(-1) : 1;
  Padding found = Padding::absent;
  for (auto row = all.begin(); row != all.end() && width > 0; row += width) {
    const auto first = std::find(row, row + width, padding);
    if (first == row + width) continue;
    found = Padding::at_ends;
    if (std::any_of(first, row + width, [padding](std::int64_t token) { return token != padding; }))
      return Padding::inside;
  }
  return found;
}

}  // namespace

Seq2Seq::Seq2Seq(const Seq2SeqOptions& o)
    : source_embedding(o.source_vocabulary, o.layer.embed, {}, embedding_deviation(o)),
      target_embedding(o.target_vocabulary, o.layer.embed, {}, embedding_deviation(o)),
      dropout(o.layer.dropout),
      transformer(o.layer, o.encoder_layers, o.decoder_layers),
      output(o.layer.embed, o.target_vocabulary),
      embedding_scale(o.scale_embedding ? std::sqrt(static_cast<double>(o.layer.embed)) : 1),
      padding(o.padding) {
  if (o.share_embeddings && o.source_vocabulary != o.target_vocabulary)
    fail("Seq2Seq: vocabularies of {} and {} tokens cannot share an embedding; make one vocabulary for both",
         o.source_vocabulary, o.target_vocabulary);
  if (o.share_embeddings) target_embedding.weight = source_embedding.weight;
  if (o.tie_output) output.weight = target_embedding.weight;
  if (o.positions == Positions::sinusoidal) sinusoidal.emplace(o.max_length, o.layer.embed);
  if (o.positions != Positions::learned) return;
  source_positions.emplace(o.max_length, o.layer.embed, inverse_root(o.layer.embed));
  target_positions = source_positions;
  if (!o.share_positions) target_positions.emplace(o.max_length, o.layer.embed, inverse_root(o.layer.embed));
}

Tensor Seq2Seq::embed(const Embedding& table, const std::optional<LearnedPositions>& learned, const Tensor& tokens,
                      std::int64_t offset) const {
  Tensor x = table(tokens);
  if (embedding_scale != 1) x = x * embedding_scale;
  if (sinusoidal) x = (*sinusoidal)(x, offset);
  if (learned) x = (*learned)(x, offset);
  return dropout(x);
}

/// Causal. Padding at the end of a row is hidden from what stands before it by that alone; elsewhere it is masked.
Mask Seq2Seq::target_mask(const Tensor& target) const {
  if (padding && padding_in(target, *padding) == Padding::inside) return causal() & keys(target != *padding);
  return causal();
}

Encoded Seq2Seq::encode(const Tensor& source) const {
  Mask mask;
  if (padding && padding_in(source, *padding) != Padding::absent) mask = keys(source != *padding);
  return {transformer.encoder(embed(source_embedding, source_positions, source, 0), mask), mask};
}

Tensor Seq2Seq::decode(const Tensor& target, const Encoded& encoded) const {
  const Tensor x = embed(target_embedding, target_positions, target, 0);
  return output(transformer.decoder(x, encoded.memory, target_mask(target), encoded.mask));
}

Tensor Seq2Seq::operator()(const Tensor& source, const Tensor& target) const { return decode(target, encode(source)); }

Attended Seq2Seq::with_weights(const Tensor& source, const Tensor& target) const {
  const Encoded encoded = encode(source);
  const Tensor x = embed(target_embedding, target_positions, target, 0);
  Attended last = transformer.decoder.with_weights(x, encoded.memory, target_mask(target), encoded.mask);
  return {output(last.output), std::move(last.weights)};
}

Seq2SeqCache Seq2Seq::start(const Encoded& encoded) const {
  return {transformer.decoder.start(encoded.memory), encoded.mask};
}

Tensor Seq2Seq::step(const Tensor& tokens, Seq2SeqCache& cache) const {
  const Tensor x = embed(target_embedding, target_positions, tokens, cache.decoder.length());
  return output(transformer.decoder.step(x, cache.decoder, cache.memory_mask));
}

}  // namespace gradus::nn
