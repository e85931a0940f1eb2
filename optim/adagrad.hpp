#pragma once
#include "optim/optimizer.hpp"

namespace gradus {

struct AdagradOptions {
  double learning_rate = 1e-2;
  double learning_rate_decay = 0;
  double weight_decay = 0;  ///< L2: added to the gradient
  double initial_accumulator = 0;
  double eps = 1e-10;
  void check(const char* op) const;
};

/// Adagrad (Duchi, Hazan and Singer 2011); the equations stand in optim/adagrad.cpp.
class Adagrad final : public OptimizerOf<AdagradOptions> {
 public:
  explicit Adagrad(const Parameters& parameters, const AdagradOptions& options = {})
      : Adagrad({{parameters, options}}) {}
  explicit Adagrad(const std::vector<ParameterGroup<AdagradOptions>>& groups) : OptimizerOf("adagrad", groups) {}

 protected:
  std::vector<const char*> state_names(std::size_t group) const override;
  double initial_state(std::size_t group, std::size_t state) const override;
  void update(const UpdatePiece<float>& piece) const override;
  void update(const UpdatePiece<double>& piece) const override;
};

}  // namespace gradus
