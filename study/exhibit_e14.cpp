#include "core/storage.hpp"
#include "ops/attention_kernel.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"
#include "study/work_count.hpp"

#include <cmath>

namespace gradus::study {
namespace {

constexpr std::int64_t width = 32;

struct Inputs {
  Tensor q, k, v, dz;  // [length, width]
  explicit Inputs(std::int64_t length) {
    toy::Draw draw(14);
    for (Tensor* x : {&q, &k, &v}) *x = draw.normal({length, width}).requires_grad(true);
    dz = draw.normal({length, width});
  }
};

struct Gradients {
  Tensor dq, dk, dv;
};

/// The textbook's way: every matrix of scores is written to memory, forward and backward.
Gradients textbook(const Inputs& in) {
  const NoGrad guard;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const Tensor s = matmul(in.q, in.k.T()) * scale, a = softmax(s), z = matmul(a, in.v);
  const Tensor da = matmul(in.dz, in.v.T());
  const Tensor ds = a * (da - sum(da * a, -1, keepdim));
  return {matmul(ds, in.k) * scale, matmul(ds.T(), in.q) * scale, matmul(a.T(), in.dz)};
}

/// The same in one kernel, which keeps a block of scores at a time and computes it again on the way back.
Gradients kernel(const Inputs& in) {
  const std::vector<Tensor> g = grad(attention(in.q, in.k, in.v), {in.q, in.k, in.v}, in.dz);
  return {g[0], g[1], g[2]};
}

/// Bytes of tensors beyond the inputs, at the worst moment.
template <class F>
double peak_of(F&& f, const Inputs& in) {
  reset_peak_memory();
  const std::int64_t before = memory_use().live;
  f(in);
  return static_cast<double>(memory_use().peak - before);
}

/// What the kernel does, read off its blocks of query rows.
struct KernelCost {
  double multiply_adds, bytes, blocks, workspace;
};
KernelCost cost_of_kernel(const Inputs& in) {
  const detail::AttentionShape shape = detail::checked_attention("attention", in.q, in.k, &in.v, {}, false, {}, 0);
  const detail::AttentionProblem<double> p(shape, {}, in.q, in.k, {}, 1, 0, 0);
  const auto length = static_cast<double>(shape.queries), matrix = length * width * 8;
  const auto blocks = static_cast<double>(p.row_blocks);
  // Products of one matrix of scores by the width: forward S and Z; backward S again, dV, dA, dQ, dK.
  const double multiply_adds = 7 * length * length * width;
  // Each block reads all keys and values, backward also adds to all of dK and dV. Rows and their statistics go by once.
  const double forward = blocks * 2 * matrix + 2 * matrix + 16 * length;
  const double backward = blocks * 6 * matrix + 4 * matrix + 16 * length;
  return {multiply_adds, forward + backward, blocks, static_cast<double>(2 * p.block_size() * 8)};
}

std::vector<Finding> run() {
  const Inputs in(512);
  toy::WorkCount count;
  const Gradients plain = [&] {
    const Observe watch(count);
    return textbook(in);
  }();
  const Gradients fused = kernel(in);
  const KernelCost cost = cost_of_kernel(in);
  std::vector<std::vector<double>> memory;
  std::vector<std::string> lengths;
  for (const std::int64_t length : {256, 512, 1024}) {
    const Inputs inputs(length);
    memory.push_back({peak_of(textbook, inputs), peak_of(kernel, inputs), cost_of_kernel(inputs).workspace});
    lengths.push_back(fmt::format("length {}", length));
  }
  return {number("difference", "largest difference of the gradients, textbook against kernel, length 512",
                 std::max({toy::largest_change(plain.dq, fused.dq), toy::largest_change(plain.dk, fused.dk),
                           toy::largest_change(plain.dv, fused.dv)}))
              .scientific(),
          table("work", "forward and backward for length 512, width 32, f64",
                {{static_cast<double>(count.multiply_adds), static_cast<double>(count.bytes)},
                 {cost.multiply_adds, cost.bytes}})
              .headed({"multiply-adds", "bytes to and from memory"}, {"textbook", "kernel"})
              .whole(),
          number("blocks", "blocks of query rows in the kernel", cost.blocks).whole(),
          table("memory", "bytes of tensors at the worst moment, measured; and a thread's two blocks of scores", memory)
              .headed({"textbook", "kernel", "blocks in cache"}, lengths)
              .whole()};
}

const RegisteredExhibit registered({
    .id = "E14",
    .title = "Flash attention computes the same and no less; it moves far fewer bytes",
    .claim = "Problem: computational efficiency. Solution: Flash Attention, 3 to 5 times faster.\n"
             "(First article, section 6. It does say \"IO-aware\".)",
    .right = "Flash attention is exact, does the same multiplications and one more matrix of scores on the way back, "
             "and is faster because the scores never leave the cache. Its memory grows with the length, not with "
             "its square.",
    .why =
        "A processor multiplies many numbers in the time in which it fetches one. The textbook's way writes and reads "
        "a matrix of length by length for every step of the softmax and its derivative. In one kernel a block of "
        "rows is scored, normalised and multiplied while it is in the cache, and only the maximum and the sum of "
        "each row are kept; the way back computes the block again from them. So it buys memory traffic with "
        "arithmetic. (The textbook's bytes are counted op by op, the kernel's from its blocks, of rows that see "
        "all keys.)",
    .commands = {"gradus derive 'Q = randn(4,3); K = randn(5,3); V = randn(5,2); Z = attention(Q, K, V)' --wrt Q,K,V",
                 "gradus ops attention"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
