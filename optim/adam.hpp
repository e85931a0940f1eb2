#pragma once
#include "optim/adam_rule.hpp"

namespace gradus {

/// Adam (Kingma and Ba 2015), with amsgrad (Reddi, Kale and Kumar 2018); the equations stand in optim/adam.cpp.
class Adam final : public OptimizerOf<AdamOptions> {
 public:
  explicit Adam(const Parameters& parameters, const AdamOptions& options = {}) : Adam({{parameters, options}}) {}
  explicit Adam(const std::vector<ParameterGroup<AdamOptions>>& groups) : OptimizerOf("adam", groups) {}

 protected:
  std::vector<const char*> state_names(std::size_t group) const override;
  void update(const UpdatePiece<float>& piece) const override;
  void update(const UpdatePiece<double>& piece) const override;
};

}  // namespace gradus
