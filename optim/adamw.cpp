#include "optim/adamw.hpp"

// With learning rate a, first and second moments m and v, weight decay w, step t = 1, 2, ... of this parameter:
//
//   p <- p - a w p                                      the decay comes first, and never enters the moments
//   m <- beta1 m + (1 - beta1) g
//   v <- beta2 v + (1 - beta2) g^2
//   p <- p - a m_hat / (sqrt(v_hat) + eps),   m_hat = m / (1 - beta1^t),  v_hat = v / (1 - beta2^t)
//
// amsgrad: u <- max(u, v), and u / (1 - beta2^t) in place of v_hat.
//
// Loshchilov and Hutter, "Decoupled weight decay regularization" (2019), the decay multiplied by the learning rate as
// in PyTorch.
namespace gradus {

void AdamWOptions::check(const char* op) const { detail::check_adam(op, *this); }

std::vector<const char*> AdamW::state_names(std::size_t group) const {
  return detail::adam_state_names(options(group).amsgrad);
}
void AdamW::update(const UpdatePiece<float>& piece) const {
  const AdamWOptions& o = options(piece.group);
  detail::adam_update(piece, o, 1 - o.learning_rate * o.weight_decay, 0);
}
void AdamW::update(const UpdatePiece<double>& piece) const {
  const AdamWOptions& o = options(piece.group);
  detail::adam_update(piece, o, 1 - o.learning_rate * o.weight_decay, 0);
}

}  // namespace gradus
