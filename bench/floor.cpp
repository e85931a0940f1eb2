// The BLAS floor of a workload: the matrix products of its step, forward and backward, as plain calls of OpenBLAS, on
// one thread and shared out by itself over all: where products are small one thread is faster, and the faster counts. The shapes come from watching one step; a causal product counts the part
// that the mask leaves, in blocks of query rows.
#include "bench/workloads.hpp"
#include "core/mask.hpp"
#include "core/observer.hpp"
#include "core/op.hpp"
#include "core/parallel.hpp"

#include <cblas.h>

#include <algorithm>
#include <chrono>

namespace gradus::bench {
namespace {

// c [m, n] <- a b, each of a [m, k] and b [k, n] stored so or transposed.
struct Product {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
};

bool wanted(const Tensor& t) { return t.defined() && t.requires_grad(); }

// The products that the step's ops stand for: Y = A B forward, dA = dY B^T and dB = A^T dY backward.
class Products : public Observer {
 public:
  std::vector<Product> list;

  void on_op(const OpEvent& event) override {
    if (backward_) return;
    const auto& in = event.inputs;
    const std::string_view name = event.info().name;
    if (name == "linear") {
      const std::int64_t n = in[1].size(0), k = in[1].size(1);
      if (k > 0) add({in[0].numel() / k, n, k, false, true}, wanted(in[0]), wanted(in[1]));
    } else if (name == "matmul" && in[0].rank() >= 2 && in[1].rank() >= 2) {
      const std::int64_t m = in[0].size(-2), k = in[0].size(-1), n = in[1].size(-1);
      const std::int64_t count = event.output.numel() / std::max<std::int64_t>(1, m * n);
      for (std::int64_t i = 0; i < count; ++i) add({m, n, k}, wanted(in[0]), wanted(in[1]));
    } else if (name == "attention") {
      attention(event);
    }
  }
  void on_rule(const Node&, const Tensor&) override { backward_ = true; }

 private:
  void add(const Product& p, bool left, bool right) {
    list.push_back(p);
    if (left) list.push_back({p.m, p.k, p.n, false, !p.b_transposed});
    if (right && p.b_transposed) list.push_back({p.n, p.k, p.m, true, false});
    if (right && !p.b_transposed) list.push_back({p.k, p.n, p.m, true, false});
  }
  // S = Q K^T and Y = A V for each head, in blocks of 256 query rows that leave out keys which none of them sees.
  void attention(const OpEvent& event) {
    const Tensor &q = event.inputs[0], &k = event.inputs[1], &v = event.inputs[2];
    const std::int64_t queries = q.size(-2), keys = k.size(-2);
    if (queries == 0 || keys == 0) return;
    const std::vector<Value> attributes = event.attributes();
    auto band = attributes[0].get_if<Mask>()->band(queries, keys);
    if (*attributes[1].get_if<bool>() && queries == keys) band = causal().band(queries, keys);
    const std::int64_t count = q.numel() / (queries * q.size(-1));
    for (std::int64_t first = 0; first < queries; first += 256) {
      const std::int64_t rows = std::min<std::int64_t>(256, queries - first);
      std::int64_t seen = keys;
      if (band)
        seen = std::clamp<std::int64_t>(first + rows + band->high, 0, keys) -
               std::clamp<std::int64_t>(first + band->low, 0, keys);
      for (std::int64_t i = 0; i < count && seen > 0; ++i) {
        add({rows, seen, q.size(-1), false, true}, wanted(q), wanted(k));
        add({rows, v.size(-1), seen, false, false}, wanted(q), wanted(v));
      }
    }
  }
  bool backward_ = false;
};

// Operands one after another through a ring as large as the model, so that its weights are as cold as in the step.
class Operands {
 public:
  explicit Operands(std::int64_t size) : memory_(static_cast<std::size_t>(size), 0.5F) {}
  float* next(std::int64_t size) {
    if (at_ + size > static_cast<std::int64_t>(memory_.size())) at_ = 0;
    return memory_.data() + std::exchange(at_, at_ + size);
  }

 private:
  std::vector<float> memory_;
  std::int64_t at_ = 0;
};

void run(const Product& p, Operands& operands) {
  const float* const a = operands.next(p.m * p.k);
  const float* const b = operands.next(p.k * p.n);
  cblas_sgemm(CblasRowMajor, p.a_transposed ? CblasTrans : CblasNoTrans, p.b_transposed ? CblasTrans : CblasNoTrans,
              static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), 1, a,
              static_cast<int>(p.a_transposed ? p.m : p.k), b, static_cast<int>(p.b_transposed ? p.k : p.n), 0,
              operands.next(p.m * p.n), static_cast<int>(p.n));
}

// Sorted milliseconds of all products, one after another, on that many threads.
std::vector<double> repeat(const std::vector<Product>& list, Operands& operands, int thread_count, double seconds,
                           bool once) {
  using Clock = std::chrono::steady_clock;
  openblas_set_num_threads(thread_count);
  if (!once)
    for (const Product& p : list) run(p, operands);
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.empty() || (!once && (Clock::now() < end || times.size() < 3))) {
    const auto begin = Clock::now();
    for (const Product& p : list) run(p, operands);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

Floor blas_floor(const Prepared& prepared, double seconds, bool once) {
  Products products;
  {
    const Observe guard(products);
    prepared.step();
  }
  Floor floor;
  floor.products = static_cast<std::int64_t>(products.list.size());
  std::int64_t ring = prepared.parameters;
  for (const Product& p : products.list) {
    floor.gflop += 2e-9 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    ring = std::max(ring, p.m * p.k + p.k * p.n + p.m * p.n);
  }
  Operands operands(ring);
  for (const int count : {1, threads()}) {
    std::vector<double> times = repeat(products.list, operands, count, seconds / 2, once);
    const double median = prepared.scale * times[times.size() / 2];
    if (floor.repeats > 0 && median >= floor.median_ms) continue;
    floor.median_ms = median, floor.min_ms = prepared.scale * times.front();
    floor.repeats = static_cast<std::int64_t>(times.size());
    floor.blas_threads = count;
  }
  return floor;
}

}  // namespace gradus::bench
