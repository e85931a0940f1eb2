#pragma once
#include "optim/optimizer.hpp"

namespace gradus {

struct SGDOptions {
  double learning_rate = 1e-3;
  double momentum = 0;
  double dampening = 0;     ///< how much less of a new gradient enters the velocity
  double weight_decay = 0;  ///< L2: added to the gradient
  bool nesterov = false;
  void check(const char* op) const;
};

/// Stochastic gradient descent with momentum (Polyak 1964) or Nesterov's (1983); the equations stand in optim/sgd.cpp.
/// Error for negative options, and for nesterov without momentum or with dampening.
class SGD final : public OptimizerOf<SGDOptions> {
 public:
  explicit SGD(const Parameters& parameters, const SGDOptions& options = {}) : SGD({{parameters, options}}) {}
  explicit SGD(const std::vector<ParameterGroup<SGDOptions>>& groups) : OptimizerOf("sgd", groups) {}

 protected:
  std::vector<const char*> state_names(std::size_t group) const override;
  void update(const UpdatePiece<float>& piece) const override;
  void update(const UpdatePiece<double>& piece) const override;
};

}  // namespace gradus
