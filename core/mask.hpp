#pragma once
#include "core/tensor.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gradus {

/// Where query 0 stands among the keys when their numbers differ: `start` aligns the first of both, `end` the last (a
/// cache).
enum class Align : std::uint8_t { unspecified, start, end };

/// Which keys each query may attend to: **true = may attend**. Built from causal, window, lengths, keys and keep;
/// composed with & | ~. A default Mask allows everything. Cheap to copy.
class Mask {
 public:
  struct Term;  // defined in mask.cpp
  Mask() = default;
  explicit Mask(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
  /// True for a mask that allows everything because nothing was asked.
  bool is_everything() const { return !term_; }

  /// The mask as a b8 tensor that broadcasts to the scores' shape [..., L, S]; undefined when everything is allowed.
  /// Error when a part does not fit, naming both shapes, or a causal or window part has L != S without an alignment.
  Tensor dense(const Shape& scores) const;
  /// True when it is causal() alone (with its alignment).
  bool is_causal_only() const;
  /// The diagonals that causal() or window() alone allows, so that kernels may skip instead of asking; none for other
  /// masks.
  struct Band {
    std::int64_t low = 0, high = 0;  ///< query i sees keys i + low ... i + high
  };
  std::optional<Band> band(std::int64_t queries, std::int64_t keys) const;

  const std::shared_ptr<const Term>& term() const { return term_; }
  friend Mask operator&(const Mask& a, const Mask& b);
  friend Mask operator|(const Mask& a, const Mask& b);
  friend Mask operator~(const Mask& a);

 private:
  std::shared_ptr<const Term> term_;
};

/// Query i sees keys up to itself: j <= i (+ S - L with Align::end).
Mask causal(Align align = Align::unspecified);
/// Query i sees keys i - left ... i + right (+ S - L with Align::end). A causal window of W keys including the query
/// itself is window(W - 1, 0). Error for a negative width.
Mask window(std::int64_t left, std::int64_t right, Align align = Align::unspecified);
/// Key j of batch item b is seen when j < n[b]; n is i64 [B] with values in [0, S], the scores are [B, ..., L, S].
/// lengths, keys and keep take a copy: later writes into the tensor do not change the mask.
Mask lengths(const Tensor& n);
/// Key j of batch item b is seen when t[b, j]; t is b8 [B, S], the scores are [B, ..., L, S].
Mask keys(const Tensor& t);
/// t as it is: b8, of rank 2 ([L, S]) or the scores' rank, broadcasting to the scores; else an error.
Mask keep(const Tensor& t);

/// The expression that made it: `causal() & keys([2, 5])`.
std::string to_string(const Mask& mask);
/// A grid of # (may attend) and . (may not) for [L, S] scores, one block for each leading index.
std::string grid(const Mask& mask, const Shape& scores);

}  // namespace gradus
