#pragma once
#include "core/tensor.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gradus {

/// Named tensors in file order.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// `.npy` (NumPy format 1 to 3): C and Fortran order, either endian; float16/32/64, (u)int8 to 64, bool. float32 and
/// float64 stay, float16 becomes f32, integers i64, bool b8. Error for anything else, for a truncated file, and for an
/// unsigned value above 2^63.
Tensor load_npy(const std::filesystem::path& path);
void save_npy(const std::filesystem::path& path, const Tensor& x);

/// `.npz` (zip of .npy; stored or deflated members, zip64). Checksums are verified.
NamedTensors load_npz(const std::filesystem::path& path);
void save_npz(const std::filesystem::path& path, const NamedTensors& arrays);

/// safetensors: f64 f32 f16 bf16 and the integer types in (f16 and bf16 become f32, integers i64), f64 f32 i64 bool
/// out. Every length in the header is checked before anything is allocated.
struct Safetensors {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};
Safetensors load_safetensors(const std::filesystem::path& path);
void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// The tensor of that name. Error listing the names that are there.
const Tensor& find(const NamedTensors& tensors, std::string_view name);

}  // namespace gradus
