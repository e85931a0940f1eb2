#include "optim/schedule.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

// With t = 0, 1, 2, ... and x = min(t, T) / T for a schedule of T steps:
//
//   constant              r
//   linear                r0 + (r1 - r0) x
//   cosine                m + (r - m) (1 + cos(pi x)) / 2
//   step                  r f^floor(t / every)
//   multistep             r f^(number of milestones <= t)
//   exponential           r f^t
//   inverse square root   r min((t+1) / W, sqrt(W / (t+1)))
//   noam                  s d^(-1/2) min((t+1)^(-1/2), (t+1) W^(-3/2)),  the same with r = s (d W)^(-1/2)
//   warm-up-stable-decay  r (t+1) / W for t < W;  r for the next S steps;  then r + (m - r) (t - W - S) / D, down to m
//   joined                schedule number k (of milestones <= t), at t minus the last of those milestones
namespace gradus::schedule {
namespace {

void check_rate(const char* op, double rate) {
  if (!(rate >= 0) || !std::isfinite(rate)) fail("{}: a rate of {} is not a number from 0 up; give one", op, rate);
}
void check_factor(const char* op, double factor) {
  if (!(factor >= 0) || !std::isfinite(factor))
    fail("{}: a factor of {} is not a number from 0 up; give one", op, factor);
}
void check_steps(const char* op, std::int64_t steps, std::int64_t least) {
  if (steps < least) fail("{}: {} steps are too few; give at least {}", op, steps, least);
}
void check_milestones(const char* op, const std::vector<std::int64_t>& milestones) {
  for (std::size_t i = 0; i < milestones.size(); ++i)
    if (milestones[i] < 0 || (i > 0 && milestones[i] <= milestones[i - 1]))
      fail("{}: milestone {} after {} does not increase; sort them", op, milestones[i], i > 0 ? milestones[i - 1] : 0);
}
// min(t, T) / T
double progress(std::int64_t t, std::int64_t steps) {
  return static_cast<double>(std::clamp<std::int64_t>(t, 0, steps)) / static_cast<double>(steps);
}
std::size_t passed(const std::vector<std::int64_t>& milestones, std::int64_t t) {
  return static_cast<std::size_t>(std::upper_bound(milestones.begin(), milestones.end(), t) - milestones.begin());
}

}  // namespace

Schedule constant(double rate) {
  check_rate("constant", rate);
  return [rate](std::int64_t) { return rate; };
}

Schedule linear(double start, double end, std::int64_t steps) {
  check_rate("linear", start), check_rate("linear", end), check_steps("linear", steps, 1);
  return [=](std::int64_t t) { return t >= steps ? end : start + (end - start) * progress(t, steps); };
}

Schedule cosine(double rate, std::int64_t steps, double minimum) {
  check_rate("cosine", rate), check_rate("cosine", minimum), check_steps("cosine", steps, 1);
  return [=](std::int64_t t) {
    return t >= steps ? minimum
                      : minimum + (rate - minimum) * (1 + std::cos(std::numbers::pi * progress(t, steps))) / 2;
  };
}

Schedule step(double rate, std::int64_t every, double factor) {
  check_rate("step", rate), check_steps("step", every, 1), check_factor("step", factor);
  return [=](std::int64_t t) { return rate * std::pow(factor, static_cast<double>(t / every)); };
}

Schedule multistep(double rate, std::vector<std::int64_t> milestones, double factor) {
  check_rate("multistep", rate), check_milestones("multistep", milestones), check_factor("multistep", factor);
  return [=](std::int64_t t) { return rate * std::pow(factor, static_cast<double>(passed(milestones, t))); };
}

Schedule exponential(double rate, double factor) {
  check_rate("exponential", rate), check_factor("exponential", factor);
  return [=](std::int64_t t) { return rate * std::pow(factor, static_cast<double>(t)); };
}

Schedule inverse_square_root(double rate, std::int64_t warmup) {
  check_rate("inverse_square_root", rate), check_steps("inverse_square_root", warmup, 1);
  return [rate, w = static_cast<double>(warmup)](std::int64_t t) {
    const double n = static_cast<double>(t + 1);
    return rate * std::min(n / w, std::sqrt(w / n));
  };
}

Schedule noam(std::int64_t width, std::int64_t warmup, double scale) {
  if (width < 1) fail("noam: a width of {} is not positive; give the model's", width);
  check_rate("noam", scale), check_steps("noam", warmup, 1);
  return inverse_square_root(scale / std::sqrt(static_cast<double>(width) * static_cast<double>(warmup)), warmup);
}

Schedule warmup_stable_decay(double rate, std::int64_t warmup, std::int64_t stable, std::int64_t decay,
                             double minimum) {
  constexpr const char* op = "warmup_stable_decay";
  check_rate(op, rate), check_rate(op, minimum);
  check_steps(op, warmup, 0), check_steps(op, stable, 0), check_steps(op, decay, 1);
  return [=](std::int64_t t) {
    if (t < warmup) return rate * static_cast<double>(t + 1) / static_cast<double>(warmup);
    if (t < warmup + stable) return rate;
    const std::int64_t n = t - warmup - stable;
    return n >= decay ? minimum : rate + (minimum - rate) * progress(n, decay);
  };
}

Schedule joined(std::vector<Schedule> schedules, std::vector<std::int64_t> milestones) {
  if (schedules.size() != milestones.size() + 1)
    fail("joined: {} schedules and {} milestones; give one milestone between each two", schedules.size(),
         milestones.size());
  check_milestones("joined", milestones);
  return [=](std::int64_t t) {
    const std::size_t k = passed(milestones, t);
    return schedules[k](k == 0 ? t : t - milestones[k - 1]);
  };
}

}  // namespace gradus::schedule
