#pragma once
#include "core/differences.hpp"

#include <functional>
#include <span>
#include <string>

namespace gradus {

/// A function of several tensors, as the checker and the derivatives of core/derivatives.hpp take it.
using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

struct CheckOptions {
  double tolerance = 1e-6;        ///< of `difference`
  std::uint64_t key = 1;          ///< of the random cotangents and directions
  std::int64_t every_entry = 64;  ///< tensors with more elements are checked along random directions
  int directions = 8;             ///< how many
};

/// What a check found. `text` says which input, how it was compared, and the worst pair of numbers.
struct CheckResult {
  bool ok = true;
  double difference = 0;  ///< the largest of all inputs: max|a - n| / max(|a|, |n|, 1e-3)
  int input = -1;         ///< the input where it is largest; -1 when the check failed before any comparison
  std::string text;
};

/// Compares the gradients of sum(f(x) * c), c a random cotangent, with central differences. Every input that is f64 is
/// checked: each entry, or along random directions where it is large. Contiguous copies are perturbed, never the
/// inputs; all is computed twice and must agree bit for bit. Elements of f(x) that are not finite take no part. Error
/// for f32 inputs or results (cast to f64).
CheckResult gradcheck(const TensorFunction& f, std::span<const Tensor> inputs, const CheckOptions& options = {});
CheckResult gradcheck(const TensorFunction& f, std::initializer_list<Tensor> inputs, const CheckOptions& options = {});

/// The same for the gradients themselves, as functions of the inputs and of the cotangent: the second derivative.
/// `input` counts the cotangent as the last one.
CheckResult gradgradcheck(const TensorFunction& f, std::span<const Tensor> inputs, const CheckOptions& options = {});
CheckResult gradgradcheck(const TensorFunction& f, std::initializer_list<Tensor> inputs,
                          const CheckOptions& options = {});

}  // namespace gradus
