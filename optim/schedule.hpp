#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace gradus {

/// The learning rate of step t = 0, 1, 2, ...: `optimizer.set_learning_rate(schedule(t))` before step t. A pure
/// function of t, so that resuming needs nothing but t. After its last step a schedule keeps its last rate. The
/// equations stand in optim/schedule.cpp.
using Schedule = std::function<double(std::int64_t step)>;

namespace schedule {

/// The same rate always.
Schedule constant(double rate);
/// From `start` to `end` along a line over `steps` steps; a warm-up is linear(0, rate, steps).
Schedule linear(double start, double end, std::int64_t steps);
/// From `rate` to `minimum` along half a cosine over `steps` steps (Loshchilov and Hutter 2017).
Schedule cosine(double rate, std::int64_t steps, double minimum = 0);
/// Multiplied by `factor` after every `every` steps.
Schedule step(double rate, std::int64_t every, double factor = 0.1);
/// Multiplied by `factor` at each milestone. Error unless they increase.
Schedule multistep(double rate, std::vector<std::int64_t> milestones, double factor = 0.1);
/// Multiplied by `factor` after every step.
Schedule exponential(double rate, double factor);
/// `rate` times sqrt(warmup / t) after a linear warm-up that reaches `rate` in step `warmup` - 1.
Schedule inverse_square_root(double rate, std::int64_t warmup);
/// The schedule of "Attention is all you need" (Vaswani et al. 2017) for models of that width, times `scale`.
Schedule noam(std::int64_t width, std::int64_t warmup, double scale = 1);
/// Linear warm-up, `rate` for `stable` steps, then a line to `minimum` over `decay` steps (Hu et al. 2024, MiniCPM).
Schedule warmup_stable_decay(double rate, std::int64_t warmup, std::int64_t stable, std::int64_t decay,
                             double minimum = 0);
/// The first schedule up to the first milestone, the next one from there on, counted from 0 again, ... Error unless
/// there is one milestone less than schedules and they increase.
Schedule joined(std::vector<Schedule> schedules, std::vector<std::int64_t> milestones);

}  // namespace schedule
}  // namespace gradus
