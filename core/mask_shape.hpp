#pragma once
#include "core/mask.hpp"

#include <optional>

namespace gradus {

/// The shape of scores that a mask tells by itself: that of a `keep` among its parts; none where causal, window,
/// lengths and keys alone leave it open.
std::optional<Shape> known_shape(const Mask& mask);

}  // namespace gradus
