#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace gradus::bench {

/// microgpt as a program written for it alone: no tensors, no graph, loops over numbers whose bounds the compiler
/// knows, and the backward pass derived by hand. What a library is measured against. See bench/by_hand.cpp.
class MicroGPTByHand {
 public:
  static constexpr int width = 16, heads = 4, context = 16, vocabulary = 27, hidden = 64;

  MicroGPTByHand();
  /// Forward, backward and Adam on one name, tokens[0 ... n] with n <= context positions to predict; the mean loss.
  float step(const std::vector<int>& tokens, float rate);
  static std::int64_t parameters() { return static_cast<std::int64_t>(sizeof(Weights) / sizeof(float)); }

 private:
  using Row = std::array<float, width>;
  template <int rows, int columns>
  using Matrix = std::array<std::array<float, columns>, rows>;
  struct Weights {
    Matrix<vocabulary, width> wte;
    Matrix<context, width> wpe;
    Matrix<width, width> q, k, v, projection;
    Matrix<hidden, width> up;
    Matrix<width, hidden> down;
    Matrix<vocabulary, width> head;
  };
  /// What the backward pass reads of one position.
  struct Position {
    Row sum, x, attention_in, q, k, v, attended, y, feed_in, z;
    std::array<float, hidden> h;
    Matrix<heads, context> weights;
    std::array<float, vocabulary> p;
  };
  float forward(const std::vector<int>& tokens, int t);
  void backward(const std::vector<int>& tokens, int t, float scale);
  void adam(float rate);

  Weights weights_{}, gradients_{}, means_{}, squares_{};
  std::array<Position, context> at_{};
  std::array<Row, context> dk_{}, dv_{};
  int steps_ = 0;
};

}  // namespace gradus::bench
