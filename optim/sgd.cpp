#include "optim/sgd.hpp"

// With learning rate a, momentum u, dampening d, weight decay w, velocity v:
//
//   g <- g + w p
//   v <- g                    in the first step
//   v <- u v + (1 - d) g      afterwards
//   p <- p - a v              or, with Nesterov's momentum, p <- p - a (g + u v)
//
// Polyak, "Some methods of speeding up the convergence of iteration methods" (1964); Nesterov (1983), in the form of
// Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013). The rate is outside v,
// as in PyTorch.
namespace gradus {
namespace {

template <class T>
void descend(const UpdatePiece<T>& piece, const SGDOptions& o) {
  const T rate = static_cast<T>(o.learning_rate), decay = static_cast<T>(o.weight_decay);
  T* const p = piece.p;
  const T* const g = piece.g;
  if (o.momentum == 0) {
    for (std::int64_t i = 0; i < piece.n; ++i) p[i] -= rate * (g[i] + decay * p[i]);
    return;
  }
  const T keep = piece.t == 1 ? T{0} : static_cast<T>(o.momentum),
          take = piece.t == 1 ? T{1} : static_cast<T>(1 - o.dampening);
  const T ahead = static_cast<T>(o.momentum);
  T* const v = piece.state[0];
  for (std::int64_t i = 0; i < piece.n; ++i) {
    const T d = g[i] + decay * p[i];
    v[i] = keep * v[i] + take * d;
    p[i] -= rate * (o.nesterov ? d + ahead * v[i] : v[i]);
  }
}

}  // namespace

void SGDOptions::check(const char* op) const {
  check_not_negative(op, "learning_rate", learning_rate);
  check_not_negative(op, "momentum", momentum);
  check_not_negative(op, "dampening", dampening);
  check_not_negative(op, "weight_decay", weight_decay);
  if (nesterov && (momentum == 0 || dampening != 0))
    fail("{}: nesterov needs momentum above 0 and dampening 0, not {} and {}", op, momentum, dampening);
}

std::vector<const char*> SGD::state_names(std::size_t group) const {
  if (options(group).momentum == 0) return {};
  return {"velocity"};
}
void SGD::update(const UpdatePiece<float>& piece) const { descend(piece, options(piece.group)); }
void SGD::update(const UpdatePiece<double>& piece) const { descend(piece, options(piece.group)); }

}  // namespace gradus
