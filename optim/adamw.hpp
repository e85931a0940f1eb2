#pragma once
#include "optim/adam_rule.hpp"

namespace gradus {

/// AdamW (Loshchilov and Hutter 2019): Adam with weight decay apart from the gradient; the equations stand in
/// optim/adamw.cpp.
class AdamW final : public OptimizerOf<AdamWOptions> {
 public:
  explicit AdamW(const Parameters& parameters, const AdamWOptions& options = {}) : AdamW({{parameters, options}}) {}
  explicit AdamW(const std::vector<ParameterGroup<AdamWOptions>>& groups) : OptimizerOf("adamw", groups) {}

 protected:
  std::vector<const char*> state_names(std::size_t group) const override;
  void update(const UpdatePiece<float>& piece) const override;
  void update(const UpdatePiece<double>& piece) const override;
};

}  // namespace gradus
