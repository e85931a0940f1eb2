#include "optim/adam.hpp"

// With learning rate a, first and second moments m and v, weight decay w, step t = 1, 2, ... of this parameter:
//
//   g <- g + w p
//   m <- beta1 m + (1 - beta1) g
//   v <- beta2 v + (1 - beta2) g^2
//   m_hat = m / (1 - beta1^t),  v_hat = v / (1 - beta2^t)
//   p <- p - a m_hat / (sqrt(v_hat) + eps)
//
// amsgrad: u <- max(u, v), and u / (1 - beta2^t) in place of v_hat. eps stands outside the bias-corrected root, as in
// the paper's algorithm.
//
// Kingma and Ba, "Adam: a method for stochastic optimization" (2015); Reddi, Kale and Kumar, "On the convergence of
// Adam and beyond" (2018).
namespace gradus {

void AdamOptions::check(const char* op) const { detail::check_adam(op, *this); }

std::vector<const char*> Adam::state_names(std::size_t group) const {
  return detail::adam_state_names(options(group).amsgrad);
}
void Adam::update(const UpdatePiece<float>& piece) const {
  const AdamOptions& o = options(piece.group);
  detail::adam_update(piece, o, 1, o.weight_decay);
}
void Adam::update(const UpdatePiece<double>& piece) const {
  const AdamOptions& o = options(piece.group);
  detail::adam_update(piece, o, 1, o.weight_decay);
}

}  // namespace gradus
