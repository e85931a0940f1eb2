#pragma once
#include "core/arrays.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gradus {

/// How one number lies in an array file: what it is, in how many bytes, which end first. What the .npy and safetensors
/// readers share.
struct Element {
  enum class Kind : std::uint8_t { real, bfloat, integer, natural, truth };  // natural: unsigned
  Kind kind = Kind::real;
  int bytes = 4;
  bool big_endian = false;

  /// The dtype that such elements become: f64, f32 (also from 16 bits), i64 or b8.
  DType dtype() const;
};

/// The bytes that `shape` takes at `element_bytes` each, as an error message's subject `where`: Error when the product
/// overflows, also when an axis of extent 0 hides that.
std::int64_t checked_bytes(const std::string& where, const Shape& shape, int element_bytes);

/// A contiguous tensor from exactly `checked_bytes` bytes. Error for an unsigned number of 2^63 or more.
Tensor decode_elements(const std::string& where, std::string_view bytes, const Shape& shape, Element element);

/// `x` packed, ready to be written under `name`. Error naming it when it is undefined or a ghost.
Tensor packed_for_saving(const char* op, std::string_view name, const Tensor& x);

/// The elements of a packed tensor as they lie in memory (little-endian).
std::string_view raw_bytes(const Tensor& packed);

/// A name from a file, fit for an error message: quoted, control characters escaped, cut when long.
std::string printable(std::string_view name);

/// The content of a .npy file, `where` being the subject of errors.
Tensor decode_npy(const std::string& where, std::string_view file);

/// The content of a .npy file that holds `x`, which must be packed.
std::string encode_npy(const Tensor& x);

}  // namespace gradus
