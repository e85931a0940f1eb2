#pragma once
#include <cstdint>
#include <vector>

namespace gradus::bench {

/// Numbers and how they were made: every sum and product of two numbers is an entry with its two slopes, and the chain
/// rule is one loop over the entries from the last to the first.
class ScalarTape {
 public:
  /// A number on the tape.
  struct Var {
    std::int32_t at;
  };
  std::vector<float> value, gradient;

  Var leaf(float v) { return push(v, {0, 0}, 0, 0); }
  Var add(Var a, Var b) { return push(of(a) + of(b), {a.at, b.at}, 1, 1); }
  Var mul(Var a, Var b) { return push(of(a) * of(b), {a.at, b.at}, of(b), of(a)); }
  /// f(a), with the slope there.
  Var map(Var a, float f, float slope) { return push(f, {a.at, a.at}, slope, 0); }
  float of(Var a) const { return value[static_cast<std::size_t>(a.at)]; }
  /// Drops all entries from the n-th on, and all gradients.
  void restart(std::size_t n);
  void backward(Var loss);

 private:
  struct Entry {
    std::int32_t a, b;
    float slope_a, slope_b;
  };
  struct Inputs {
    std::int32_t a, b;
  };
  Var push(float v, Inputs in, float slope_a, float slope_b) {
    value.push_back(v);
    entries_.push_back({in.a, in.b, slope_a, slope_b});
    return {static_cast<std::int32_t>(value.size() - 1)};
  }
  std::vector<Entry> entries_;
};

/// microgpt number by number on a tape of scalars: what teaching programs do, compiled with -Ofast.
class ScalarGPT {
 public:
  ScalarGPT();
  /// Forward, backward and Adam on one name, tokens[0 ... n] with n positions to predict; the mean loss.
  float step(const std::vector<int>& tokens, float rate);
  std::int64_t parameters() const { return static_cast<std::int64_t>(count_); }

 private:
  using Var = ScalarTape::Var;
  using Row = std::vector<Var>;
  Row linear(const Row& x, std::int32_t weight, int out);
  Row normalised(const Row& x);
  Row plus(Row x, const Row& y);
  Row softmax(const Row& x);
  Row attend(const Row& q);
  Var loss_at(const std::vector<int>& tokens, int t);
  void adam(float rate);

  ScalarTape tape_;
  std::size_t count_;
  std::vector<Row> keys_, values_;
  std::vector<float> means_, squares_;
  int steps_ = 0;
};

}  // namespace gradus::bench
