#pragma once
#include "optim/optimizer.hpp"

namespace gradus {

struct RMSpropOptions {
  double learning_rate = 1e-2;
  double alpha = 0.99;  ///< how much of the running mean a step keeps
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2: added to the gradient
  double momentum = 0;
  bool centered = false;  ///< divide by the deviation instead of the root mean square
  void check(const char* op) const;
};

/// RMSprop (Tieleman and Hinton 2012), centered as in Graves (2013); the equations stand in optim/rmsprop.cpp.
class RMSprop final : public OptimizerOf<RMSpropOptions> {
 public:
  explicit RMSprop(const Parameters& parameters, const RMSpropOptions& options = {})
      : RMSprop({{parameters, options}}) {}
  explicit RMSprop(const std::vector<ParameterGroup<RMSpropOptions>>& groups) : OptimizerOf("rmsprop", groups) {}

 protected:
  std::vector<const char*> state_names(std::size_t group) const override;
  void update(const UpdatePiece<float>& piece) const override;
  void update(const UpdatePiece<double>& piece) const override;
};

}  // namespace gradus
