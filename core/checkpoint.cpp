#include "core/checkpoint.hpp"

#include "core/op.hpp"
#include "core/random.hpp"

#include <algorithm>

namespace gradus {

/// What has to be run again.
struct CheckpointBody {
  std::function<Tensor(const Tensor&)> f;
  std::uint64_t seed, drawn;  // of the default generator when it ran first
  Tensor y;                   // what it gave then; the first forward takes it
};

// An attribute for no reader.
inline Value to_value(const std::shared_ptr<CheckpointBody>&) { return {}; }

namespace {

// The default generator as it was, for a scope.
class Replay {
 public:
  explicit Replay(const CheckpointBody& body) : seed_(default_generator().seed()), drawn_(default_generator().drawn()) {
    default_generator().restore(body.seed, body.drawn);
  }
  ~Replay() { default_generator().restore(seed_, drawn_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  std::uint64_t seed_, drawn_;
};

// Inputs: x, then the parameters that f reads.
struct Checkpointed {
  std::shared_ptr<CheckpointBody> body;
  static constexpr OpInfo info{
      .name = "checkpoint", .math = "y = f(x)", .rule = R"(\bar x = \bar y \partial f / \partial x)"};
  static constexpr Keep keeps = Keep::inputs;

  Tensor forward(TensorList) const { return std::exchange(body->y, Tensor{}); }

  Grads vjp(const Vjp& v) const {
    const EnableGrad enable;
    const Replay replay(*body);
    const Tensor x = v.x[0].requires_grad() ? detail::alias(v.x[0], v.create_graph) : v.x[0];
    const Tensor y = body->f(x);
    std::vector<Tensor> wanted;
    for (std::size_t i = 0; i < v.x.size(); ++i)
      if (v.wants(static_cast<int>(i))) wanted.push_back(i == 0 ? x : v.x[i]);
    const std::vector<Tensor> found = grad(y, wanted, v.g, {.create_graph = v.create_graph});
    PoolVector<Tensor> gradients(v.x.size());
    for (std::size_t i = 0, next = 0; i < v.x.size(); ++i)
      if (v.wants(static_cast<int>(i))) gradients[i] = found[next++];
    return Grads(std::move(gradients));
  }
};

// The parameters that ops read while nothing is recorded: whatever has a node and is not x.
class Parameters final : public Observer {
 public:
  explicit Parameters(const Tensor& x) : x_(x) {}
  void on_op(const OpEvent& event) override {
    for (const Tensor& t : event.inputs) {
      if (!t.requires_grad() || t.node().get() == x_.node().get()) continue;
      if (!t.is_leaf())
        fail(
            "checkpoint: the function reads a result of shape {} that was recorded outside; make it part of x, or "
            "compute it inside",
            t.shape());
      const bool known =
          std::any_of(found.begin(), found.end(), [&](const Tensor& k) { return k.node().get() == t.node().get(); });
      if (!known) found.push_back(t);
    }
  }
  std::vector<Tensor> found;

 private:
  const Tensor& x_;
};

}  // namespace

Tensor checkpoint(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  auto body = std::make_shared<CheckpointBody>(
      CheckpointBody{f, default_generator().seed(), default_generator().drawn(), Tensor{}});
  Parameters parameters(x);
  {
    const NoGrad guard;
    const Observe observe(parameters);
    body->y = f(x).detach();
  }
  std::vector<Tensor> inputs{x};
  inputs.insert(inputs.end(), parameters.found.begin(), parameters.found.end());
  return apply(Checkpointed{std::move(body)}, TensorList(inputs));
}

}  // namespace gradus
