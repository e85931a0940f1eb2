// Results do not depend on the number of threads: what the sweep cannot see, since it runs on one thread of one
// process.
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace gradus;

namespace {

// The same product on one thread and on four: 4 pieces of 7 MFLOP, each large enough for BLAS to split it again if it
// may.
bool same_bits_on_any_number_of_threads() {
  Generator generator(1);
  const Tensor a = randn({46, 69, 92}, DType::f64, generator), b = randn({92, 46}, DType::f64, generator);
  const int before = threads();
  set_threads(4);
  const std::vector<double> four = matmul(a, b).to_vector<double>();
  set_threads(1);
  const std::vector<double> one = matmul(a, b).to_vector<double>();
  set_threads(before);
  return one == four;
}

}  // namespace

TEST_CASE("products have the same bits on a thread of the user's own") {
  bool same = false;
  std::thread([&] { same = same_bits_on_any_number_of_threads(); }).join();
  CHECK(same);
}

TEST_CASE("products have the same bits on a thread whose first product ran inside a parallel loop") {
  bool same = false;
  std::thread([&] {
    Generator generator(1);
    const Tensor a = randn({40, 60, 60}, DType::f64, generator);
    matmul(a, a);
    same = same_bits_on_any_number_of_threads();
  }).join();
  CHECK(same);
}
