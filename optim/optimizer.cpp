#include "optim/optimizer.hpp"

#include "core/mode.hpp"
#include "core/node.hpp"
#include "core/parallel.hpp"

#include <cmath>
#include <set>

namespace gradus {
namespace {

constexpr std::int64_t piece_size = 8192;

// Two that would be updated twice: the same leaf, or leaves over the same memory.
bool same_parameter(const Tensor& a, const Tensor& b) {
  return a.node().get() == b.node().get() ||
         (a.storage() == b.storage() && a.layout().offset == b.layout().offset && a.numel() > 0);
}

const Tensor* find_or_null(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [key, value] : tensors)
    if (key == name) return &value;
  return nullptr;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text.empty() ? "none" : text;
}

}  // namespace

Parameters::Parameters(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) list_.push_back({std::to_string(list_.size()), t});
}
Parameters::Parameters(const NamedTensors& named) {
  for (const auto& [name, t] : named) list_.push_back({name, t});
}

Optimizer::Optimizer(const char* op, std::span<const Parameters* const> groups) : op_(op), group_count_(groups.size()) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const NamedParameter& p : groups[g]->list()) add(p, g);
  if (slots_.empty()) fail("{}: there are no parameters; give the tensors to train", op);
}

// Plain tensors are numbered through all groups.
void Optimizer::add(const NamedParameter& p, std::size_t group) {
  const Tensor& t = p.tensor;
  if (!t.defined()) fail("{}: parameter {} is undefined; leave it out", op_, p.name);
  if (!t.requires_grad() || !t.is_leaf())
    fail("{}: parameter {} {} is {}; only leaves that require grad can be trained", op_, p.name, t.shape(),
         t.requires_grad() ? "the result of an op" : "without requires_grad(true)");
  bool numbered = !p.name.empty();
  for (const char c : p.name) numbered = numbered && c >= '0' && c <= '9';
  const std::string name = numbered ? std::to_string(slots_.size()) : p.name;
  for (const Slot& other : slots_) {
    if (same_parameter(other.parameter, t))
      fail("{}: parameters {} and {} are the same tensor {}; give it once, or it would be updated twice", op_,
           other.name, name, t.shape());
    if (other.name == name) fail("{}: two parameters are named {}; their states could not be told apart", op_, name);
  }
  slots_.push_back({.name = name, .parameter = t, .group = group, .steps = 0, .state = {}});
}

double Optimizer::initial_state(std::size_t, std::size_t) const { return 0; }

double Optimizer::learning_rate(std::size_t group) const {
  if (group >= group_count_) fail("{}: there is no group {}; there are {}", op_, group, group_count_);
  return rate(group);
}
void Optimizer::set_learning_rate(double value) {
  check_not_negative(op_, "learning_rate", value);
  for (std::size_t g = 0; g < group_count_; ++g) rate(g) = value;
}
void Optimizer::set_learning_rate(double value, std::size_t group) {
  check_not_negative(op_, "learning_rate", value);
  if (group >= group_count_) fail("{}: there is no group {}; there are {}", op_, group, group_count_);
  rate(group) = value;
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.zero_grad();
}

// One parameter in this step: contiguous memory, since a parameter that is a strided view is updated in a copy and
// written back.
struct Optimizer::Work {
  const Slot* slot;
  Tensor parameter, gradient;
  std::int64_t first_piece;
};

Optimizer::Work Optimizer::prepare(Slot& slot) {
  Tensor& p = slot.parameter;
  if (slot.state.empty()) {
    const std::size_t count = state_names(slot.group).size();
    for (std::size_t i = 0; i < count; ++i)
      slot.state.push_back(full(p.shape(), initial_state(slot.group, i), p.dtype()));
  }
  ++slot.steps;
  if (!p.is_contiguous()) return {&slot, copy_of(p), p.grad(), 0};
  p.prepare_write(op_);
  return {&slot, p.detach(), p.grad(), 0};
}

template <class T>
void Optimizer::run(const Work& work, std::int64_t begin, std::int64_t end) const {
  const Slot& slot = *work.slot;
  Tensor parameter = work.parameter;
  UpdatePiece<T> piece{.n = end - begin,
                       .p = parameter.fresh_data<T>() + begin,
                       .g = work.gradient.data<T>() + begin,
                       .state = {},
                       .t = slot.steps,
                       .group = slot.group};
  for (std::size_t i = 0; i < slot.state.size(); ++i) {
    Tensor state = slot.state[i];
    piece.state[i] = state.fresh_data<T>() + begin;
  }
  update(piece);
}

void Optimizer::step() {
  const NoGrad guard;
  std::vector<Work> all;
  std::int64_t pieces = 0;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined() || slot.parameter.numel() == 0) continue;
    all.push_back(prepare(slot));
    all.back().first_piece = pieces;
    pieces += (slot.parameter.numel() + piece_size - 1) / piece_size;
  }
  parallel_for(pieces, pieces <= 2 ? 2 : 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) {
      const auto after = std::upper_bound(all.begin(), all.end(), piece,
                                          [](std::int64_t at, const Work& w) { return at < w.first_piece; });
      const Work& work = *std::prev(after);
      const std::int64_t begin = (piece - work.first_piece) * piece_size,
                         end = std::min(begin + piece_size, work.parameter.numel());
      if (work.parameter.dtype() == DType::f32) run<float>(work, begin, end);
      else run<double>(work, begin, end);
    }
  });
  for (const Work& work : all)
    if (!work.slot->parameter.is_contiguous()) {
      Tensor target = work.slot->parameter;
      assign(target, work.parameter);
    }
}

NamedTensors Optimizer::state() const {
  NamedTensors saved;
  for (const Slot& slot : slots_) {
    saved.emplace_back(slot.name + ".step", indices(std::span(&slot.steps, 1), {}));
    const std::vector<const char*> names = state_names(slot.group);
    for (std::size_t i = 0; i < slot.state.size(); ++i)
      saved.emplace_back(slot.name + "." + names[i], copy_of(slot.state[i]));
  }
  for (std::size_t g = 0; g < group_count_; ++g)
    saved.emplace_back(fmt::format("learning_rate.{}", g), scalar(rate(g), DType::f64));
  return saved;
}

void Optimizer::load_state(const NamedTensors& saved) {
  std::vector<std::string> missing, wrong, extra;
  std::set<std::string> expected;
  const auto take = [&](const std::string& name, const Shape& shape, DType dtype) -> const Tensor* {
    expected.insert(name);
    const Tensor* const t = find_or_null(saved, name);
    if (!t) return missing.push_back(name), nullptr;
    if (t->shape() == shape && t->dtype() == dtype) return t;
    wrong.push_back(fmt::format("{} {} {} for {} {}", name, t->dtype(), t->shape(), dtype, shape));
    return nullptr;
  };
  std::vector<Slot> loaded = slots_;
  for (Slot& slot : loaded) {
    const Tensor* const steps = take(slot.name + ".step", {}, DType::i64);
    slot.steps = steps ? steps->data<std::int64_t>()[0] : 0;
    if (slot.steps < 0) wrong.push_back(fmt::format("{}.step is {}", slot.name, slot.steps));
    slot.state.clear();
    const std::vector<const char*> names = slot.steps > 0 ? state_names(slot.group) : std::vector<const char*>{};
    for (const char* n : names)
      if (const Tensor* const t = take(slot.name + "." + n, slot.parameter.shape(), slot.parameter.dtype()))
        slot.state.push_back(copy_of(*t));
  }
  std::vector<double> rates(group_count_);
  for (std::size_t g = 0; g < group_count_; ++g)
    if (const Tensor* const t = take(fmt::format("learning_rate.{}", g), {}, DType::f64)) rates[g] = t->item();
  for (const auto& entry : saved)
    if (!expected.count(entry.first)) extra.push_back(entry.first);
  if (!missing.empty() || !wrong.empty() || !extra.empty())
    fail("{}: the saved state does not fit these parameters; missing: {}; left over: {}; wrong: {}; nothing was loaded",
         op_, joined(missing), joined(extra), joined(wrong));
  for (const double r : rates) check_not_negative(op_, "learning_rate", r);
  slots_ = std::move(loaded);
  for (std::size_t g = 0; g < group_count_; ++g) rate(g) = rates[g];
}

void check_not_negative(const char* op, const char* option, double value) {
  if (!(value >= 0) || !std::isfinite(value)) fail("{}: {} {} is not a number from 0 up; give one", op, option, value);
}
void check_decay_rate(const char* op, const char* option, double value) {
  if (!(value >= 0 && value < 1))
    fail("{}: {} {} is not in [0, 1); give how much of a running mean a step keeps", op, option, value);
}

}  // namespace gradus
