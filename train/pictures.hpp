// Pictures of a run.
#pragma once

#include <string_view>
#include <vector>

#include "draw/curve.hpp"
#include "train/log.hpp"

namespace gradus::train {

/// The loss over the steps: training, and validation where there is any.
draw::Curve loss_curve(const std::vector<LogRow>& rows, std::string_view run);

}  // namespace gradus::train
