#pragma once
#include "nn/embedding.hpp"
#include "nn/positions.hpp"
#include "nn/transformer.hpp"

namespace gradus::nn {

/// How a model is told the order of its input.
enum class Positions : std::uint8_t { none, sinusoidal, learned };

struct Seq2SeqOptions {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  LayerOptions layer{};
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  Positions positions = Positions::sinusoidal;
  std::int64_t max_length = 512;          ///< of source and target, where positions are not none
  bool share_positions = false;           ///< one learned table for both sides
  bool share_embeddings = false;          ///< one embedding for both sides; the vocabularies must be equal
  bool tie_output = false;                ///< the output layer's weight is the target embedding
  bool scale_embedding = true;            ///< multiply embeddings by sqrt(embed), as the paper does
  std::optional<std::int64_t> padding{};  ///< this token is never attended to, in the source and in the target
};

/// What the decoder sees of a source: the encoder's output [B, S, embed], and which of its positions are no padding.
struct Encoded {
  Tensor memory;
  Mask mask;
};

/// A decoder under way: what `step` needs besides the new tokens.
struct Seq2SeqCache {
  DecoderCache decoder;
  Mask memory_mask;
};

/// Tokens to tokens: embeddings, positions, a Transformer and an output layer. Tokens are i64 [B, S] and [B, T] (or
/// without the batch axis when there is no padding), logits [B, T, target vocabulary]. Dropout also after the
/// positions. Embeddings from N(0, 1/embed) when scaled or tied, else N(0, 1); learned positions from N(0, 1/embed);
/// the transformer Xavier uniform; the output as Linear.
struct Seq2Seq {
  Embedding source_embedding, target_embedding;
  std::optional<SinusoidalPositions> sinusoidal;
  std::optional<LearnedPositions> source_positions, target_positions;
  Dropout dropout;
  Transformer transformer;
  Linear output;
  double embedding_scale;
  std::optional<std::int64_t> padding;

  explicit Seq2Seq(const Seq2SeqOptions& options);

  /// Logits for every position of the target input, each from the target up to there and the whole source.
  Tensor operator()(const Tensor& source, const Tensor& target) const;
  /// The same with the last layer's attention over the source, [B, heads, T, S].
  Attended with_weights(const Tensor& source, const Tensor& target) const;
  /// The two halves of operator().
  Encoded encode(const Tensor& source) const;
  Tensor decode(const Tensor& target, const Encoded& encoded) const;

  /// Decoding token by token: the cache of a source, then the logits [B, L, vocabulary] of the next tokens [B, L].
  Seq2SeqCache start(const Encoded& encoded) const;
  Tensor step(const Tensor& tokens, Seq2SeqCache& cache) const;

  void parts(auto&& f) {
    f("source_embedding", source_embedding);
    f("target_embedding", target_embedding);
    f("source_positions", source_positions);
    f("target_positions", target_positions);
    f("dropout", dropout);
    f("transformer", transformer);
    f("output", output);
  }

 private:
  Tensor embed(const Embedding& table, const std::optional<LearnedPositions>& learned, const Tensor& tokens,
               std::int64_t offset) const;
  Mask target_mask(const Tensor& target) const;
};

}  // namespace gradus::nn

template <>
struct gradus::EnumNames<gradus::nn::Positions> {
  static constexpr std::string_view names[] = {"none", "sinusoidal", "learned"};
};
