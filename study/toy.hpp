#pragma once
#include "core/mask.hpp"
#include "core/random.hpp"
#include "core/tensor.hpp"

#include <functional>

// What the exhibits share: small random matrices, one head of attention written out, and how to compare matrices.
namespace gradus::study::toy {

/// Random f64 matrices from a seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  /// Elements from N(0, deviation^2).
  Tensor normal(const Shape& shape, double deviation = 1);
  Generator& generator() { return generator_; }

 private:
  Generator generator_;
};

/// One head of attention with every intermediate by its name: S = Q K^T / sqrt(d), A = softmax(S), Z = A V.
struct Pass {
  Tensor q, k, v, s, a, z;
};
Pass attend(const Tensor& x, const Tensor& wq, const Tensor& wk, const Tensor& wv);

/// Five tokens of width 7, a head of width 4, and the cotangent of its output.
struct Problem {
  Tensor x;           ///< [5, 7]
  Tensor wq, wk, wv;  ///< [7, 4], leaves that require grad
  Tensor dz;          ///< [5, 4]: the loss is sum(Z * dZ)
  static constexpr double d = 4;
};
/// Always the same one.
Problem problem();

/// Central differences of f with respect to every element of x.
Tensor differences(const std::function<double(const Tensor&)>& f, const Tensor& x, double step = 1e-5);

double length(const Tensor& x);                           ///< the root of the sum of squares
double largest(const Tensor& x);                          ///< the largest magnitude
double cosine(const Tensor& a, const Tensor& b);          ///< of the angle between them, as vectors
double relative(const Tensor& a, const Tensor& b);        ///< length(a - b) / length(b)
double largest_change(const Tensor& a, const Tensor& b);  ///< largest(a - b)
/// Mean over all rows of -sum p ln p.
double row_entropy(const Tensor& weights);
/// The text of the error that f ends with; empty when there is none.
std::string error_of(const std::function<void()>& f);

}  // namespace gradus::study::toy
