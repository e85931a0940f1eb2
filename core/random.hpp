#pragma once
#include "core/tensor.hpp"

#include <cstdint>

namespace gradus {

/// Philox-4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): four 32-bit words from a key and
/// a counter. A pure function, so element i of a random tensor is the same on any number of threads.
struct Philox {
  std::uint64_t key = 0;
  struct Words {
    std::uint32_t w[4];
  };
  Words operator()(std::uint64_t counter, std::uint64_t stream = 0) const;
  /// The words of `batch` neighbouring blocks, in order: out[4 i + j] is word j of block first + i. Vectorised: what
  /// kernels call.
  static constexpr int batch = 32;
  void words(std::uint64_t first, std::uint32_t (&out)[4 * batch]) const;
  /// Uniform in the open interval (0, 1), from element number `i`; 24 bits, exactly representable in f32.
  float uniform(std::uint64_t i) const;
  /// Uniform in (0, 1) with 53 bits.
  double uniform53(std::uint64_t i) const;
  /// Standard normal number of element `i` (Box-Muller in double).
  double normal(std::uint64_t i) const;
};

/// A stream of random numbers with a state that can be saved: the key and how many numbers were drawn.
class Generator {
 public:
  constexpr explicit Generator(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t bits();                                       ///< 64 random bits
  double uniform();                                           ///< in [0, 1)
  double normal();                                            ///< standard normal
  std::int64_t integer(std::int64_t low, std::int64_t high);  ///< low <= n < high, without bias. Error when empty.
  std::uint64_t key() { return bits(); }                      ///< a key for Philox
  std::uint64_t seed() const { return seed_; }
  std::uint64_t drawn() const { return drawn_; }
  void restore(std::uint64_t seed, std::uint64_t drawn) { seed_ = seed, drawn_ = drawn; }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

/// The thread's generator, which factories, initialisers and dropout draw their keys from. Seed 0 at the start.
Generator& default_generator();
/// Restarts the thread's generator.
void seed(std::uint64_t value);

Tensor randn(const Shape& shape, DType dtype = DType::f32);  ///< standard normal
Tensor rand(const Shape& shape, DType dtype = DType::f32);   ///< uniform in (0, 1)
Tensor uniform(const Shape& shape, double low, double high, DType dtype = DType::f32);
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape);  ///< i64, low <= n < high
Tensor randn(const Shape& shape, DType dtype, Generator& generator);
Tensor uniform(const Shape& shape, double low, double high, DType dtype, Generator& generator);
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator);

}  // namespace gradus
