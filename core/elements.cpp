#include "core/elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gradus {
namespace {

static_assert(std::endian::native == std::endian::little, "array files are read and written as little-endian memory");

/// IEEE half precision: sign, 5 bits of exponent (bias 15), 10 of mantissa. Every half is exactly a float.
float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t mantissa = half & 1023u;
  if (exponent == 0) {  // zero and subnormal: mantissa * 2^-24
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;  // infinity and NaN stay; 112 = 127 - 15
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

/// bfloat16 is the upper half of a float.
float from_bfloat(std::uint16_t upper) { return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16); }

/// out[i] = f(element i of `bytes`, read as From).
template <class From, class To, class F>
void convert(std::string_view bytes, bool big_endian, To* out, F&& f) {
  const std::size_t n = bytes.size() / sizeof(From);
  for (std::size_t i = 0; i < n; ++i) {
    char raw[sizeof(From)];
    std::memcpy(raw, bytes.data() + i * sizeof(From), sizeof(From));
    if (big_endian) std::reverse(raw, raw + sizeof(From));
    out[i] = f(std::bit_cast<From>(raw));
  }
}

template <class From>
void convert_integers(const std::string& where, std::string_view bytes, bool big_endian, std::int64_t* out) {
  convert<From>(bytes, big_endian, out, [&](From value) {
    if constexpr (std::is_same_v<From, std::uint64_t>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        fail("{}: unsigned value {} does not fit into i64; store it as a float", where, value);
    return static_cast<std::int64_t>(value);
  });
}

void decode_integers(const std::string& where, std::string_view bytes, Element element, std::int64_t* out) {
  const bool natural = element.kind == Element::Kind::natural, big = element.big_endian;
  switch (element.bytes) {
    case 1:
      return natural ? convert_integers<std::uint8_t>(where, bytes, big, out)
                     : convert_integers<std::int8_t>(where, bytes, big, out);
    case 2:
      return natural ? convert_integers<std::uint16_t>(where, bytes, big, out)
                     : convert_integers<std::int16_t>(where, bytes, big, out);
    case 4:
      return natural ? convert_integers<std::uint32_t>(where, bytes, big, out)
                     : convert_integers<std::int32_t>(where, bytes, big, out);
    default:
      return natural ? convert_integers<std::uint64_t>(where, bytes, big, out)
                     : convert_integers<std::int64_t>(where, bytes, big, out);
  }
}

}  // namespace

DType Element::dtype() const {
  if (kind == Kind::truth) return DType::b8;
  if (kind == Kind::integer || kind == Kind::natural) return DType::i64;
  return bytes == 8 ? DType::f64 : DType::f32;
}

std::int64_t checked_bytes(const std::string& where, const Shape& shape, int element_bytes) {
  std::int64_t product = element_bytes;
  bool empty = false;
  for (const std::int64_t n : shape) {
    empty = empty || n == 0;
    if (__builtin_mul_overflow(product, n == 0 ? 1 : n, &product))
      fail("{}: shape {} has more elements than can be counted; the file is damaged", where, shape);
  }
  return empty ? 0 : product;
}

Tensor decode_elements(const std::string& where, std::string_view bytes, const Shape& shape, Element element) {
  using Kind = Element::Kind;
  Tensor y(shape, element.dtype());
  if (bytes.empty()) return y;
  const bool big = element.big_endian;
  if (element.kind == Kind::integer || element.kind == Kind::natural)
    decode_integers(where, bytes, element, y.fresh_data<std::int64_t>());
  else if (element.kind == Kind::truth)
    convert<std::uint8_t>(bytes, big, y.fresh_data<bool>(), [](std::uint8_t value) { return value != 0; });
  else if (element.kind == Kind::bfloat) convert<std::uint16_t>(bytes, big, y.fresh_data<float>(), from_bfloat);
  else if (element.bytes == 2) convert<std::uint16_t>(bytes, big, y.fresh_data<float>(), from_half);
  else if (!big) std::memcpy(y.storage().data(), bytes.data(), bytes.size());
  else if (element.bytes == 4) convert<float>(bytes, big, y.fresh_data<float>(), [](float value) { return value; });
  else convert<double>(bytes, big, y.fresh_data<double>(), [](double value) { return value; });
  return y;
}

Tensor packed_for_saving(const char* op, std::string_view name, const Tensor& x) {
  if (!x.defined()) fail("{}: {} is an undefined tensor; leave it out", op, printable(name));
  if (x.is_ghost())
    fail("{}: {} is a ghost of shape {}: its numbers were not kept; save the tensor it came from", op, printable(name),
         x.shape());
  return packed(x);
}

std::string_view raw_bytes(const Tensor& packed) {
  const auto begin =
      static_cast<const char*>(packed.storage().data()) + packed.layout().offset * bytes_of(packed.dtype());
  return {begin, static_cast<std::size_t>(packed.numel() * bytes_of(packed.dtype()))};
}

std::string printable(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text = "'";
  for (const char c : name.substr(0, longest)) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else text += c;
  }
  return text + (name.size() > longest ? "...'" : "'");
}

const Tensor& find(const NamedTensors& tensors, std::string_view name) {
  std::string names;
  for (const auto& [other, x] : tensors) {
    if (other == name) return x;
    names += (names.empty() ? "" : ", ") + other;
  }
  fail("find: no tensor is named {}; there are: {}", printable(name), names.empty() ? "none" : names);
}

}  // namespace gradus
