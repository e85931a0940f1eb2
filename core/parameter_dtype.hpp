#pragma once
#include "core/registry.hpp"

#include <optional>

namespace gradus {

/// i64 or b8 where the op's own samples give that parameter tensors of nothing else (an index, a condition); none where
/// it takes f32 and f64. Learnt once from the samples.
std::optional<DType> parameter_dtype(const OpEntry& op, std::size_t parameter);

}  // namespace gradus
