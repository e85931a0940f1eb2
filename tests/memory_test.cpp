#include "core/node.hpp"
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace gradus;

namespace {

struct Counts {
  std::int64_t nodes = live_nodes();
  std::int64_t bytes = memory_use().live;
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace

TEST_CASE("a graph that is dropped without backward gives back every node and byte") {
  const Tensor x = randn({1 << 12}).requires_grad(true);
  const Counts before;
  for (int i = 0; i < 20; ++i) {
    Tensor y = x;
    for (int k = 0; k < 20; ++k) y = sigmoid(softmax(exp(y * 0.01)));
  }
  CHECK(Counts{} == before);
}

TEST_CASE("total = total + loss keeps every graph and the node count shows it; item() does not") {
  const Tensor x = randn({8}).requires_grad(true);
  const std::int64_t before = live_nodes();
  Tensor total = scalar(0);
  for (int i = 0; i < 100; ++i) total = total + sum(x * x);
  CHECK(live_nodes() - before >= 300);
  total = {};
  double sum_of_items = 0;
  for (int i = 0; i < 100; ++i) sum_of_items += sum(x * x).item();
  CHECK(live_nodes() == before);
  CHECK(sum_of_items > 0);
}

TEST_CASE("after the first training step nodes, bytes and calls of the system allocator stand still") {
  seed(3);
  Tensor w = randn({32, 32}).requires_grad(true), v = randn({32, 1}).requires_grad(true);
  const Tensor x = randn({16, 32});
  const auto step = [&] {
    const Tensor loss = mean(pow(matmul(tanh(matmul(x, w)), v), 2.0));
    w.zero_grad();
    v.zero_grad();
    backward(loss);
    const NoGrad guard;
    w -= w.grad() * 0.01;
    v -= v.grad() * 0.01;
  };
  step();
  step();
  const Counts before;
  [[maybe_unused]] const std::int64_t calls = pool::system_calls();
  for (int i = 0; i < 1000; ++i) step();
  CHECK(Counts{} == before);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(pool::system_calls() == calls);
#endif
}

TEST_CASE("backward computes no gradient for what does not require it, and frees as it goes") {
  const Tensor x = randn({256, 256});
  Tensor w = randn({256, 256}).requires_grad(true);
  Tensor y = matmul(x, w);
  for (int i = 0; i < 10; ++i) y = y * 1.0;
  const Tensor loss = sum(y);
  reset_peak_memory();
  const std::int64_t start = memory_use().live;
  y = {};
  backward(loss);
  CHECK(memory_use().peak - start <= 4 * 256 * 256 * 4);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a view outlives the tensor it was taken from") {
  const auto view = [] {
    Tensor local = tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64).requires_grad(true);
    return slice(slice(local, 0, 1, 2), 1, 1, 3);
  }();
  CHECK(view.to_vector<double>() == std::vector<double>{5, 6});
  CHECK(memory_use().live >= 48);
}

TEST_CASE("a tensor made in one thread may die in another") {
  const std::int64_t before = memory_use().live;
  for (int i = 0; i < 4; ++i) {
    Tensor x;
    std::thread([&] { x = randn({1000}); }).join();
    std::thread([moved = std::move(x)]() mutable { moved = {}; }).join();
  }
  CHECK(memory_use().live == before);
}

TEST_CASE("size classes waste at most an eighth and blocks are 64-byte aligned") {
  for (const std::int64_t bytes : {0, 1, 63, 64, 65, 511, 513, 1000, 1025, 4097, 100000}) {
    const Storage storage(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(storage.data()) % 64 == 0);
  }
}

TEST_CASE("extents multiply in 64 bits and refuse to wrap") {
  CHECK(Shape({65536, 65536}).numel() == 4294967296);
  CHECK_THROWS_WITH_AS(Shape({std::int64_t{1} << 32, std::int64_t{1} << 32}).numel(), doctest::Contains("2^63"), Error);
  CHECK_THROWS_WITH_AS(zeros({2, -1}), doctest::Contains("negative"), Error);
  const Tensor wide = expand(ones({1}, DType::f64), {(std::int64_t{1} << 31) + 10});
  CHECK(wide.numel() == 2147483658);
}

TEST_CASE("a tensor larger than the machine's memory is refused before the system would end the program") {
  const std::int64_t before = memory_use().live;
  CHECK_THROWS_WITH_AS(empty({std::int64_t{1} << 45}), doctest::Contains("use smaller tensors"), Error);
  CHECK(memory_use().live == before);
}
