#include "optim/adagrad.hpp"

#include <cmath>

// With learning rate a, its decay r, sum of squared gradients s (initial_accumulator before the first step), weight
// decay w, step t = 1, 2, ...:
//
//   g <- g + w p
//   s <- s + g^2
//   p <- p - a / (1 + (t - 1) r)  g / (sqrt(s) + eps)
//
// Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization" (2011).
namespace gradus {
namespace {

template <class T>
void descend(const UpdatePiece<T>& piece, const AdagradOptions& o) {
  const T rate = static_cast<T>(o.learning_rate / (1 + static_cast<double>(piece.t - 1) * o.learning_rate_decay));
  const T decay = static_cast<T>(o.weight_decay), eps = static_cast<T>(o.eps);
  T* const p = piece.p;
  T* const s = piece.state[0];
  for (std::int64_t i = 0; i < piece.n; ++i) {
    const T g = piece.g[i] + decay * p[i];
    s[i] += g * g;
    p[i] -= rate * g / (std::sqrt(s[i]) + eps);
  }
}

}  // namespace

void AdagradOptions::check(const char* op) const {
  check_not_negative(op, "learning_rate", learning_rate);
  check_not_negative(op, "learning_rate_decay", learning_rate_decay);
  check_not_negative(op, "weight_decay", weight_decay);
  check_not_negative(op, "initial_accumulator", initial_accumulator);
  check_not_negative(op, "eps", eps);
}

std::vector<const char*> Adagrad::state_names(std::size_t) const { return {"sum"}; }
double Adagrad::initial_state(std::size_t group, std::size_t) const { return options(group).initial_accumulator; }
void Adagrad::update(const UpdatePiece<float>& piece) const { descend(piece, options(piece.group)); }
void Adagrad::update(const UpdatePiece<double>& piece) const { descend(piece, options(piece.group)); }

}  // namespace gradus
