#include "core/node.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace gradus;

namespace {

void check_words(const Philox::Words& words, std::initializer_list<std::uint32_t> expected) {
  CHECK(std::equal(expected.begin(), expected.end(), words.w));
}

/// The same draw with 1 and with 4 threads.
template <class Draw>
void check_threads(const Draw& draw) {
  const int before = threads();
  std::vector<double> results[2];
  for (int run = 0; run < 2; ++run) {
    set_threads(run == 0 ? 1 : 4);
    Generator generator(7);
    results[run] = draw(generator).template to_vector<double>();
  }
  set_threads(before);
  CHECK(results[0] == results[1]);
}

struct Moments {
  double mean = 0, variance = 0, fourth = 0;
  explicit Moments(const std::vector<double>& x) {
    const double n = static_cast<double>(x.size());
    for (const double value : x) mean += value / n;
    for (const double value : x) variance += std::pow(value - mean, 2) / n, fourth += std::pow(value - mean, 4) / n;
  }
};

}  // namespace

TEST_CASE("Philox gives the published known answers of Random123") {
  check_words(Philox{0}(0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_words(Philox{~0ull}(~0ull, ~0ull), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_words(Philox{0x299f31d0a4093822}(0x85a308d3243f6a88, 0x0370734413198a2e),
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random tensors have the same bits on one thread and on four") {
  check_threads([](Generator& g) { return randn({333, 1001}, DType::f32, g); });
  check_threads([](Generator& g) { return randn({100003}, DType::f64, g); });
  check_threads([](Generator& g) { return uniform({500009}, -1, 3, DType::f32, g); });
  check_threads([](Generator& g) { return uniform({100003}, -1, 3, DType::f64, g); });
  check_threads([](Generator& g) { return randint(-5, 1000, {200003}, g); });
}

TEST_CASE("element i of a random tensor is a function of key and i alone") {
  Generator generator(3);
  const Philox philox{Generator(3).key()};
  const Tensor normal = randn({7, 11}, DType::f64, generator);
  generator = Generator(3);
  const Tensor single = uniform({77}, 0, 1, DType::f32, generator);
  generator = Generator(3);
  const Tensor wide = uniform({5}, 0, 1, DType::f64, generator);
  const auto x = normal.to_vector<double>(), u = single.to_vector<double>(), v = wide.to_vector<double>();
  for (std::size_t i = 0; i < 77; ++i) {
    CHECK(x[i] == philox.normal(i));
    CHECK(u[i] == static_cast<double>(philox.uniform(i)));
    if (i < 5) CHECK(v[i] == philox.uniform53(i));
  }
}

TEST_CASE("one seed gives nearly the same numbers in f32 and f64") {
  Generator a(5), b(5);
  const auto narrow = uniform({1000}, 0, 1, DType::f32, a).to_vector<double>(),
             wide = uniform({1000}, 0, 1, DType::f64, b).to_vector<double>();
  for (std::size_t i = 0; i < narrow.size(); ++i) CHECK(std::abs(narrow[i] - wide[i]) < 0x1p-23);
  const auto x = randn({1000}, DType::f32, a).to_vector<float>();
  const auto y = randn({1000}, DType::f64, b).to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == static_cast<float>(y[i]));
}

TEST_CASE("uniform numbers lie in the open interval and have its moments") {
  seed(1);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto x = rand({1000000}, dtype).to_vector<double>();
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    CHECK(*low > 0);
    CHECK(*high < 1);
    const Moments m(x);  // tolerances: about five standard errors at 1e6 numbers
    CHECK(m.mean == doctest::Approx(0.5).epsilon(0.003));
    CHECK(m.variance == doctest::Approx(1 / 12.0).epsilon(0.005));
  }
  CHECK(Philox{0}.uniform(0) == static_cast<float>((2.0 * (0x6627e8d5 >> 9) + 1) * 0x1p-24));
}

TEST_CASE("normal numbers have the moments and the tails of the normal distribution") {
  seed(2);
  const auto x = randn({1000000}).to_vector<double>();
  const Moments m(x);  // tolerances: five standard errors (1e-3, 1.4e-3, 1e-2)
  CHECK(std::abs(m.mean) < 0.005);
  CHECK(std::abs(m.variance - 1) < 0.007);
  CHECK(std::abs(m.fourth - 3) < 0.05);
  const auto beyond = [&](double limit) {
    return static_cast<double>(std::count_if(x.begin(), x.end(), [&](double v) { return v > limit; })) / 1e6;
  };
  CHECK(std::abs(beyond(1) - 0.158655) < 0.002);
  CHECK(std::abs(beyond(3) - 0.00135) < 0.0002);
  double products = 0;  // neighbours share radius or angle: still uncorrelated
  for (std::size_t i = 0; i + 1 < x.size(); ++i) products += x[i] * x[i + 1];
  CHECK(std::abs(products / 1e6) < 0.005);
}

TEST_CASE("integers are even over their range, up to the whole of i64") {
  seed(3);
  std::vector<int> counts(6);
  for (const std::int64_t n : randint(-3, 3, {600000}).to_vector<std::int64_t>())
    ++counts.at(static_cast<std::size_t>(n + 3));
  for (const int count : counts) CHECK(std::abs(count - 100000) < 1500);  // five standard errors
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                         highest = std::numeric_limits<std::int64_t>::max();
  const auto wide = randint(lowest, highest, {1000}).to_vector<std::int64_t>();
  CHECK(std::count_if(wide.begin(), wide.end(), [](std::int64_t n) { return n < 0; }) > 400);
  const auto rejecting =
      randint(lowest, lowest / 2 + 3 * (highest / 4), {1000}).to_vector<std::int64_t>();  // a third is drawn again
  CHECK(*std::max_element(rejecting.begin(), rejecting.end()) < lowest / 2 + 3 * (highest / 4));
  CHECK(randint(5, 6, {3}).to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 5, 5});
  Generator generator(4);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(generator.integer(10, 14));
  CHECK(seen == std::set<std::int64_t>{10, 11, 12, 13});
}

TEST_CASE("a generator is its seed and how much was drawn") {
  Generator generator(42);
  for (int i = 0; i < 10; ++i) generator.normal(), generator.uniform(), generator.integer(0, 7);
  Generator copy(0);
  copy.restore(generator.seed(), generator.drawn());
  CHECK(copy.bits() == generator.bits());
  CHECK(copy.normal() == generator.normal());
  CHECK(copy.uniform() == generator.uniform());
  CHECK(Generator(1).bits() != Generator(2).bits());

  std::vector<double> x(200000), u(200000);
  for (double& value : x) value = generator.normal();
  for (double& value : u) value = generator.uniform();
  CHECK(std::abs(Moments(x).variance - 1) < 0.016);  // five standard errors
  CHECK(std::abs(Moments(u).mean - 0.5) < 0.0033);
}

TEST_CASE("the seed restarts the numbers, and tensors of one seed differ") {
  seed(9);
  const auto first = randn({4}).to_vector<float>(), second = randn({4}).to_vector<float>();
  CHECK(first != second);
  seed(9);
  CHECK(randn({4}).to_vector<float>() == first);
  CHECK(default_generator().seed() == 9);
  CHECK(default_generator().drawn() == 1);
  CHECK(randn({0, 3}).numel() == 0);
  CHECK(rand({}).rank() == 0);
}

TEST_CASE("what cannot be drawn is refused") {
  CHECK_THROWS_WITH_AS(randint(3, 3, {2}), "randint: no integer n with 3 <= n < 3; raise the upper bound", Error);
  CHECK_THROWS_AS(Generator(0).integer(1, 0), Error);
  CHECK_THROWS_WITH_AS(uniform({2}, 1, 0), "uniform: the range 1 to 0 is not one; give low <= high, finite", Error);
  CHECK_THROWS_AS(uniform({2}, 0, INFINITY), Error);
  CHECK_THROWS_AS(randn({2}, DType::i64), Error);
  CHECK_THROWS_AS(randn({-1}), Error);
}

TEST_CASE("a batch of Philox blocks holds the words of the single blocks, also where the counter's low half wraps") {
  const Philox random{0x123456789abcdef};
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{48}, (std::uint64_t{1} << 32) - 8}) {
    std::uint32_t words[4 * Philox::batch];
    random.words(first, words);
    for (std::uint64_t i = 0; i < Philox::batch; ++i)
      for (std::uint64_t j = 0; j < 4; ++j) CHECK(words[4 * i + j] == random(first + i).w[j]);
  }
}
