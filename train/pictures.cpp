#include "train/pictures.hpp"

#include <fmt/format.h>

namespace gradus::train {

draw::Curve loss_curve(const std::vector<LogRow>& rows, std::string_view run) {
  draw::Series training{.name = "training", .x = {}, .y = {}};
  draw::Series validation{.name = "validation", .x = {}, .y = {}};
  for (const LogRow& row : rows) {
    training.x.push_back(static_cast<double>(row.step));
    training.y.push_back(row.loss);
    if (!row.validation_loss) continue;
    validation.x.push_back(static_cast<double>(row.step));
    validation.y.push_back(*row.validation_loss);
  }
  draw::Curve curve{
      .title = fmt::format("{}: loss", run), .x_title = "step", .y_title = "nats per token", .series = {}};
  curve.series.push_back(std::move(training));
  if (!validation.x.empty()) curve.series.push_back(std::move(validation));
  return curve;
}

}  // namespace gradus::train
