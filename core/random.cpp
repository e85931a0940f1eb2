#include "core/random.hpp"

#include "core/parallel.hpp"

#include <cmath>
#include <numbers>

namespace gradus {
namespace {

/// Streams (the upper half of Philox's counter) keep what one key is used for apart.
constexpr std::uint64_t fine_stream = 1;       // the low bits of uniform53
constexpr std::uint64_t generator_stream = 2;  // what a Generator draws
constexpr std::uint64_t retry_stream = 16;     // randint's attempts count up from here

/// The odd multiples of 2^-24 below 1: symmetric about 1/2, exact in f32, never 0 or 1.
double open_unit24(std::uint32_t word) { return (2.0 * (word >> 9) + 1.0) * 0x1p-24; }

/// The same number with 29 further bits. So f32 and f64 tensors from one seed differ by less than 2^-23.
double open_unit53(std::uint32_t word, std::uint32_t fine) {
  const std::uint64_t bits = static_cast<std::uint64_t>(word >> 9) << 29 | fine >> 3;
  return (2.0 * static_cast<double>(bits) + 1.0) * 0x1p-53;
}

/// Two independent standard normal numbers from two uniform ones in (0, 1) (Box and Muller 1958).
struct NormalPair {
  double first, second;
  NormalPair(double u, double v) {
    const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
    first = radius * std::cos(angle), second = radius * std::sin(angle);
  }
};

/// A 32-bit word as a number in (0, 1); for Box-Muller, where the smallest decides how far the tails reach (6.66).
double open_unit32(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// The four normal numbers of one block.
void normals(const Philox::Words& words, double* out) {
  for (int pair = 0; pair < 2; ++pair) {
    const NormalPair normal(open_unit32(words.w[2 * pair]), open_unit32(words.w[2 * pair + 1]));
    out[2 * pair] = normal.first, out[2 * pair + 1] = normal.second;
  }
}

/// Fills `out` four elements at a time: `block(b, four)` gives elements 4b to 4b+3, at about `cost` nanoseconds.
template <class T, class Four, class Block>
void fill_blocks(T* out, std::int64_t n, double cost, const Block& block) {
  parallel_for((n + 3) / 4, chunk_for(cost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      Four four[4];
      block(static_cast<std::uint64_t>(b), four);
      const std::int64_t count = n - 4 * b < 4 ? n - 4 * b : 4;
      for (std::int64_t i = 0; i < count; ++i) out[4 * b + i] = static_cast<T>(four[i]);
    }
  });
}

std::uint64_t word64(const Philox::Words& words, int half) {
  return static_cast<std::uint64_t>(words.w[2 * half + 1]) << 32 | words.w[2 * half];
}

/// How many integers there are from low to high - 1. Error when none.
std::uint64_t count_between(const char* op, std::int64_t low, std::int64_t high) {
  if (low >= high) fail("{}: no integer n with {} <= n < {}; raise the upper bound", op, low, high);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

/// Bits below this are drawn again, so that what is left is a multiple of `count`: 2^64 mod count.
std::uint64_t rejected_below(std::uint64_t count) { return (0 - count) % count; }

std::int64_t offset_by(std::int64_t low, std::uint64_t offset) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

}  // namespace

Philox::Words Philox::operator()(std::uint64_t counter, std::uint64_t stream) const {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  std::uint32_t c0 = low(counter), c1 = high(counter), c2 = low(stream), c3 = high(stream);
  std::uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c0, b = std::uint64_t{0xCD9E8D57} * c2;
    c0 = high(b) ^ c1 ^ k0, c1 = low(b);
    c2 = high(a) ^ c3 ^ k1, c3 = low(a);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;  // the golden ratio and sqrt(3) - 1
  }
  return {{c0, c1, c2, c3}};
}

void Philox::words(std::uint64_t first, std::uint32_t (&out)[4 * batch]) const {
  std::uint32_t c0[batch], c1[batch], c2[batch] = {}, c3[batch] = {};
  for (int i = 0; i < batch; ++i) {
    const std::uint64_t counter = first + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(counter), c1[i] = static_cast<std::uint32_t>(counter >> 32);
  }
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < batch; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * c0[i], b = std::uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = static_cast<std::uint32_t>(b >> 32) ^ c1[i] ^ k0, c1[i] = static_cast<std::uint32_t>(b);
      c2[i] = static_cast<std::uint32_t>(a >> 32) ^ c3[i] ^ k1, c3[i] = static_cast<std::uint32_t>(a);
    }
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  for (int i = 0; i < batch; ++i)
    out[4 * i] = c0[i], out[4 * i + 1] = c1[i], out[4 * i + 2] = c2[i], out[4 * i + 3] = c3[i];
}

float Philox::uniform(std::uint64_t i) const { return static_cast<float>(open_unit24((*this)(i / 4).w[i % 4])); }

double Philox::uniform53(std::uint64_t i) const {
  return open_unit53((*this)(i / 4).w[i % 4], (*this)(i / 4, fine_stream).w[i % 4]);
}

double Philox::normal(std::uint64_t i) const {
  double four[4];
  normals((*this)(i / 4), four);
  return four[i % 4];
}

std::uint64_t Generator::bits() { return word64(Philox{seed_}(drawn_++, generator_stream), 0); }

double Generator::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Generator::normal() {
  const Philox::Words words = Philox{seed_}(drawn_++, generator_stream);
  return NormalPair(open_unit53(words.w[0], words.w[1]), open_unit53(words.w[2], words.w[3])).first;
}

std::int64_t Generator::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t count = count_between("integer", low, high), rejected = rejected_below(count);
  std::uint64_t drawn = bits();
  while (drawn < rejected) drawn = bits();
  return offset_by(low, drawn % count);
}

Generator& default_generator() {
  thread_local Generator generator(0);
  return generator;
}

void seed(std::uint64_t value) { default_generator() = Generator(value); }

Tensor randn(const Shape& shape, DType dtype, Generator& generator) {
  return dispatch_floating("randn", dtype, [&](auto zero) {
    using T = decltype(zero);
    Tensor y(shape, dtype);
    const Philox philox{generator.key()};
    fill_blocks<T, double>(y.fresh_data<T>(), y.numel(), 60,
                           [&](std::uint64_t b, double* four) { normals(philox(b), four); });
    return y;
  });
}

Tensor uniform(const Shape& shape, double low, double high, DType dtype, Generator& generator) {
  if (!(low <= high) || !std::isfinite(high - low))
    fail("uniform: the range {} to {} is not one; give low <= high, finite", low, high);
  return dispatch_floating("uniform", dtype, [&](auto zero) {
    using T = decltype(zero);
    Tensor y(shape, dtype);
    const Philox philox{generator.key()};
    fill_blocks<T, double>(y.fresh_data<T>(), y.numel(), 12, [&](std::uint64_t b, double* four) {
      const Philox::Words words = philox(b),
                          fine = std::is_same_v<T, double> ? philox(b, fine_stream) : Philox::Words{};
      for (int i = 0; i < 4; ++i) {
        const double unit = std::is_same_v<T, double> ? open_unit53(words.w[i], fine.w[i]) : open_unit24(words.w[i]);
        four[i] = low + (high - low) * unit;
      }
    });
    return y;
  });
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator) {
  const std::uint64_t count = count_between("randint", low, high), rejected = rejected_below(count);
  Tensor y(shape, DType::i64);
  const Philox philox{generator.key()};
  fill_blocks<std::int64_t, std::int64_t>(y.fresh_data<std::int64_t>(), y.numel(), 24,
                                          [&](std::uint64_t b, std::int64_t* four) {
                                            const Philox::Words words[2] = {philox(2 * b), philox(2 * b + 1)};
                                            for (int i = 0; i < 4; ++i) {
                                              const std::uint64_t pair = 2 * b + static_cast<std::uint64_t>(i / 2);
                                              std::uint64_t drawn = word64(words[i / 2], i % 2);
                                              for (std::uint64_t attempt = retry_stream; drawn < rejected; ++attempt)
                                                drawn = word64(philox(pair, attempt), i % 2);
                                              four[i] = offset_by(low, drawn % count);
                                            }
                                          });
  return y;
}

Tensor randn(const Shape& shape, DType dtype) { return randn(shape, dtype, default_generator()); }
Tensor rand(const Shape& shape, DType dtype) { return uniform(shape, 0, 1, dtype, default_generator()); }
Tensor uniform(const Shape& shape, double low, double high, DType dtype) {
  return uniform(shape, low, high, dtype, default_generator());
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, default_generator());
}

}  // namespace gradus
