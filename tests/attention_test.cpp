#include "core/arrays.hpp"
#include "core/parallel.hpp"
#include "ops/ops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include "tests/paths.hpp"

using namespace gradus;

// Values that were recomputed by hand are those of the faults that other systems had (pytorch#103963, #41508, #101967,
// #108108, ...). f64 sums of a few products differ from PyTorch's by rounding alone, hence 1e-10; single f32 ops by
// 1e-5.
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double largest_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::isnan(x[i]) || std::isnan(y[i]) ? not_a_number : std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}
/// Relative to max(1, largest magnitude), as the golden values are meant.
void check_close(const Tensor& found, const Tensor& expected, double tolerance) {
  double scale = 1;
  for (const double v : expected.to_vector<double>()) scale = std::max(scale, std::abs(v));
  CHECK(largest_difference(found, expected) <= tolerance * scale);
}
void check_values(const Tensor& found, std::initializer_list<double> expected, double tolerance = 1e-6) {
  check_close(found, tensor(expected, found.shape(), DType::f64), tolerance);
}
bool all_finite(const Tensor& x) {
  for (const double v : x.to_vector<double>())
    if (!std::isfinite(v)) return false;
  return true;
}
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
Tensor bools(std::initializer_list<double> values, const Shape& shape) { return ne(tensor(values, shape), 0.0); }
Tensor leaf(const Tensor& x) { return copy_of(x).requires_grad(true); }
Tensor normal(const Shape& shape, DType dtype = DType::f64) { return randn(shape, dtype); }
/// Weights by running attention over the identity as values.
Tensor seen_through_values(const Tensor& q, const Tensor& k, const Mask& mask) {
  return attention(q, k, eye(k.size(-2), q.dtype()), mask);
}

struct Fixture {
  Tensor q = leaf(eye(2)), k = leaf(eye(2)), v = leaf(tensor({{1, 2}, {3, 4}}));
};

/// Runs `body` on the fused kernels and on the composition that defines them.
void on_both_paths(const std::function<void()>& body) {
  SUBCASE("fused") { body(); }
  SUBCASE("reference") {
    const ReferenceMode guard;
    body();
  }
}

struct GoldenCase {
  NamedTensors arrays;
  Mask mask;
  Tensor bias;
  bool causal = false;
  std::optional<double> scale;
  explicit GoldenCase(const std::string& name)
      : arrays(load_npz(gradus_test::test_dir() + "/golden/attention_" + name + ".npz")) {
    for (const auto& [key, value] : arrays) {
      if (key == "keep") mask = keep(value);
      if (key == "bias") bias = value;
    }
    causal = name == "causal" || name == "long";
    if (name == "scale") scale = 0.3;
    if (name == "empty_row") mask = keep(bools({1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, {4, 4}));
  }
  bool has(const std::string& name) const {
    for (const auto& array : arrays)
      if (array.first == name) return true;
    return false;
  }
  Tensor get(const std::string& name, DType dtype = DType::f64) const {
    Tensor y(find(arrays, name).shape(), dtype);
    const NoGrad guard;
    assign(y, find(arrays, name));
    return y;
  }
  void check_first_order(DType dtype, double tolerance) const {
    const Tensor q = leaf(get("q", dtype)), k = leaf(get("k", dtype)), v = leaf(get("v", dtype));
    const Tensor b = bias.defined() ? get("bias", dtype) : bias;
    const Tensor y = attention(q, k, v, mask, b, causal, scale);
    check_close(y, get("out"), tolerance);
    const std::vector<Tensor> d = grad(y, {q, k, v}, get("cot", dtype));
    check_close(d[0], get("grad_q"), tolerance);
    check_close(d[1], get("grad_k"), tolerance);
    check_close(d[2], get("grad_v"), tolerance);
  }
  void check_second_order() const {
    if (!has("dir_q")) return;
    const Tensor q = leaf(get("q")), k = leaf(get("k")), v = leaf(get("v"));
    const Tensor y = attention(q, k, v, mask, bias, causal, scale);
    const std::vector<Tensor> d = grad(y, {q, k, v}, get("cot"), {.create_graph = true});
    const Tensor total = sum(d[0] * get("dir_q")) + sum(d[1] * get("dir_k")) + sum(d[2] * get("dir_v"));
    const std::vector<Tensor> h = grad(total, {q, k, v});
    check_close(h[0], get("hvp_q"), 1e-10);
    check_close(h[1], get("hvp_k"), 1e-10);
    check_close(h[2], get("hvp_v"), 1e-10);
  }
};

}  // namespace

TEST_CASE("attention has the values and derivatives of PyTorch") {
  on_both_paths([] {
    for (const char* name : {"plain", "keep", "bias", "scale", "causal", "grouped", "long", "empty_row"}) {
      CAPTURE(name);
      const GoldenCase golden(name);
      golden.check_first_order(DType::f64, 1e-10);
      golden.check_first_order(DType::f32, 1e-5);
      golden.check_second_order();
    }
  });
}

TEST_CASE("a row with nothing to attend gives 0, and gradients that ignore it stay finite") {
  on_both_paths([] {
    Fixture f;
    const Mask mask = keep(bools({1, 1, 0, 0}, {2, 2}));
    const Tensor y = attention(f.q, f.k, f.v, mask);
    check_values(y, {1.660477, 2.660477, 0, 0});
    CHECK(y.at({1, 0}) == 0);
    const Tensor w = attention_weights(f.q, f.k, mask);
    check_values(w, {0.669762, 0.330238, 0, 0});
    CHECK(w.at({1, 1}) == 0);
    const std::vector<Tensor> d = grad(y, {f.q, f.k, f.v}, tensor({{1, 1}, {not_a_number, not_a_number}}));
    for (const Tensor& g : d) CHECK(all_finite(g));
    CHECK(d[0].at({1, 0}) == 0);
    CHECK(d[0].at({1, 1}) == 0);
    check_values(d[2], {0.669762, 0.669762, 0.330238, 0.330238});
  });
}

TEST_CASE("a row whose scores are all -inf by a bias has nothing to attend") {
  on_both_paths([] {
    Fixture f;
    const Tensor bias = leaf(tensor({{0, -infinity}, {-infinity, -infinity}}));
    const Tensor y = attention(f.q, f.k, f.v, {}, bias);
    check_values(y, {1, 2, 0, 0}, 0);
    for (const Tensor& g : grad(sum(y), {f.q, f.k, f.v, bias})) CHECK(all_finite(g));
  });
}

TEST_CASE("garbage in a hidden key or value leaks neither forward nor backward") {
  on_both_paths([] {
    for (const double garbage : {not_a_number, infinity, -infinity}) {
      for (const int where_to : {0, 1, 2}) {  // nowhere, key, key and value
        Tensor x = reshape(arange(0, 8, 1, DType::f64), {1, 2, 4});
        Tensor q = leaf(x), k = copy_of(x), v = copy_of(x);
        if (where_to > 0) k.fresh_data<double>()[4] = garbage;
        if (where_to > 1) std::fill_n(v.fresh_data<double>() + 4, 4, garbage);
        k.requires_grad(true), v.requires_grad(true);
        const Tensor y = attention(q, k, v, keep(bools({1, 0, 1, 0}, {2, 2})));
        check_values(y, {0, 1, 2, 3, 0, 1, 2, 3}, 0);
        const std::vector<Tensor> d = grad(sum(y * y), {q, k, v});
        for (const Tensor& g : d) CHECK(all_finite(g));
        for (const int part : {1, 2})
          for (const int i : {0, 1, 2, 3}) CHECK(d[static_cast<std::size_t>(part)].at({0, 1, i}) == 0);
        const Tensor w = attention_weights(q, k, keep(bools({1, 0, 1, 0}, {2, 2})));
        check_values(w, {1, 0, 1, 0}, 0);
        CHECK(all_finite(grad(sum(w * w), q)));
      }
    }
  });
}

TEST_CASE("garbage that one query sees stays with that query") {
  on_both_paths([] {
    Tensor q = normal({3, 4}), k = normal({3, 4}), v = normal({3, 2});
    k.fresh_data<double>()[2 * 4] = not_a_number,
                               v.fresh_data<double>()[2 * 2] = infinity;  // key 2: seen by query 2 alone
    q.requires_grad(true), k.requires_grad(true), v.requires_grad(true);
    const Tensor y = attention(q, k, v, {}, {}, true);
    CHECK(all_finite(slice(y, 0, 0, 2)));
    CHECK(std::isnan(y.at({2, 0})));
    CHECK(all_finite(slice(grad(sum(slice(y, 0, 0, 2)), q), 0, 0, 2)));
    // A query full of NaN poisons the keys that it sees, not those that it does not.
    Tensor bad = normal({3, 4});
    std::fill_n(bad.fresh_data<double>(), 4, not_a_number);
    bad.requires_grad(true);
    const Tensor keys = leaf(normal({3, 4})), values = leaf(normal({3, 2}));
    const std::vector<Tensor> g = grad(sum(attention(bad, keys, values, {}, {}, true)), {keys, values});
    CHECK(std::isnan(g[0].at({0, 0})));
    CHECK(all_finite(slice(g[0], 0, 1)));
    CHECK(all_finite(slice(g[1], 0, 1)));
  });
}

TEST_CASE("a hidden key gives the bits that leaving it out gives") {
  on_both_paths([] {
    const Tensor x = normal({5, 50, 10}), shorter = slice(x, 1, 0, 49);
    const Tensor n = indices({49, 49, 49, 49, 49});
    const Tensor padded = slice(attention(x, x, x, lengths(n)), 1, 0, 49);
    check_close(padded, attention(shorter, shorter, shorter), 1e-12);
    const Tensor narrow = cast(x, DType::f32), narrow_shorter = cast(shorter, DType::f32);
    check_close(slice(attention(narrow, narrow, narrow, lengths(n)), 1, 0, 49),
                attention(narrow_shorter, narrow_shorter, narrow_shorter), 1e-6);
  });
}

TEST_CASE("true means may attend, and selection comes before the softmax") {
  on_both_paths([] {
    Fixture f;
    const Tensor y = attention(f.q, f.k, f.v, keep(bools({1, 0, 1, 1}, {2, 2})));
    check_values(select(y, 0, 0), {1, 2}, 0);
    check_values(attention_weights(zeros({1, 2}), zeros({2, 2}), keep(bools({1, 0}, {1, 2}))), {1, 0}, 0);
    check_values(y, {1, 2, 2.339523, 3.339523});
  });
}

TEST_CASE("a float that holds only 0 and 1 is refused as a mask") {
  CHECK(contains(error_of([] { keep(tril(ones({8, 8}))); }), "bias"));
}

TEST_CASE("causal with other numbers of keys than queries needs an alignment") {
  on_both_paths([] {
    const auto weights = [](std::int64_t queries, std::int64_t keys, const Mask& mask) {
      return gt(seen_through_values(zeros({queries, 2}), zeros({keys, 2}), mask), 0.0);
    };
    check_values(weights(2, 5, causal(Align::end)), {1, 1, 1, 1, 0, 1, 1, 1, 1, 1}, 0);
    check_values(weights(1, 8, causal(Align::end)), {1, 1, 1, 1, 1, 1, 1, 1}, 0);
    check_values(weights(5, 2, causal(Align::end)), {0, 0, 0, 0, 0, 0, 1, 0, 1, 1}, 0);
    check_values(weights(2, 5, causal(Align::start)), {1, 0, 0, 0, 0, 1, 1, 0, 0, 0}, 0);
    CHECK(contains(error_of([&] { weights(2, 5, causal()); }), "Align::end"));
    const Tensor x = zeros({2, 4}), k = zeros({5, 4});
    CHECK(contains(error_of([&] { attention(x, k, k, {}, {}, true); }), "causal(Align::end)"));
    CHECK(contains(error_of([&] { attention_weights(x, k, {}, {}, true); }), "causal(Align::end)"));
  });
}

TEST_CASE("the causal flag and a mask are joined by and") {
  on_both_paths([] {
    const Mask padding = keys(bools({1, 1, 0}, {1, 3}));
    const Tensor w = attention_weights(zeros({1, 3, 2}), zeros({1, 3, 2}), padding, {}, true);
    check_values(gt(w, 0.0), {1, 0, 0, 1, 1, 0, 1, 1, 0}, 0);
    const Tensor banded = attention_weights(zeros({4, 2}), zeros({4, 2}), window(1, 1), {}, true);
    check_values(gt(banded, 0.0), {1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1}, 0);
  });
}

TEST_CASE("lengths that are no multiples of a block equal dense masked attention") {
  const struct {
    std::int64_t queries, keys, left;
  } cases[] = {{2, 2, 7}, {65, 65, 63}, {100, 77, 30}, {300, 300, 8}, {130, 700, 64}};
  for (const auto& c : cases) {
    CAPTURE(c.queries);
    const Tensor q = leaf(normal({c.queries, 8})), k = leaf(normal({c.keys, 8})), v = leaf(normal({c.keys, 5}));
    const Mask mask = window(c.left, 3, Align::end);
    const auto run = [&] {
      const Tensor y = attention(q, k, v, mask);
      std::vector<Tensor> all = grad(y, {q, k, v}, cos(y.detach()));
      all.push_back(y);
      return all;
    };
    const std::vector<Tensor> fused = run();
    const ReferenceMode guard;
    const std::vector<Tensor> composed = run();
    for (std::size_t i = 0; i < fused.size(); ++i) check_close(fused[i], composed[i], 1e-12);
  }
}

TEST_CASE("every row that sees something sums to 1") {
  const Tensor w =
      attention_weights(normal({3, 40, 8}), normal({3, 40, 8}), window(2, 0) & lengths(indices({40, 20, 1})));
  const Tensor totals = sum(w, -1);
  for (int item = 0; item < 3; ++item)
    for (int i = 0; i < 40; ++i) {
      const bool sees = i - 2 < (item == 0 ? 40 : item == 1 ? 20 : 1);
      CHECK(totals.at({item, i}) == doctest::Approx(sees ? 1 : 0).epsilon(1e-12));
    }
}

TEST_CASE("a mask for each item broadcasts over heads and an ambiguous one is refused") {
  on_both_paths([] {
    const Tensor q = zeros({2, 2, 1, 4}), k = zeros({2, 2, 2, 4});
    const Tensor per_item = bools({1, 0, 0, 1}, {2, 1, 1, 2});
    check_values(attention_weights(q, k, keep(per_item)), {1, 0, 1, 0, 0, 1, 0, 1}, 0);
    CHECK(contains(error_of([&] {
                     attention_weights(q, k, keep(bools({1, 0, 0, 1, 1, 0, 0, 1}, {4, 1, 2})));
                   }),
                   "does not broadcast"));
  });
}

TEST_CASE("query head h uses key/value head h / group and gradients are summed over the group") {
  on_both_paths([] {
    const Tensor q = normal({1, 4, 2, 3}), k = normal({1, 2, 2, 3});
    const Tensor v = leaf(concat({ones({1, 1, 2, 1}, DType::f64), full({1, 1, 2, 1}, 2, DType::f64)}, 1));
    const Tensor y = attention(q, k, v);
    check_values(y, {1, 1, 1, 1, 2, 2, 2, 2}, 1e-12);
    const Tensor d = grad(sum(y), v);
    CHECK(sum(select(d, 1, 0)).item() == doctest::Approx(4));  // two queries of each of two heads
    CHECK(sum(select(d, 1, 1)).item() == doctest::Approx(4));
    const std::string text = error_of([] { attention(zeros({3, 1, 4}), zeros({2, 1, 4}), zeros({2, 1, 4})); });
    CHECK(contains(text, "3 query heads"));
    CHECK(contains(text, "2 key/value heads"));
  });
}

TEST_CASE("decoding with a cache equals one full causal pass") {
  on_both_paths([] {
    const Tensor q = normal({2, 10, 4}), k = normal({2, 10, 4}), v = normal({2, 10, 3});
    const Tensor full = attention(q, k, v, {}, {}, true);
    for (std::int64_t at = 6; at < 10; ++at) {
      const Tensor step =
          attention(slice(q, 1, at, at + 1), slice(k, 1, 0, at + 1), slice(v, 1, 0, at + 1), causal(Align::end));
      check_close(step, slice(full, 1, at, at + 1), 1e-12);
    }
    const Tensor prompt = attention(slice(q, 1, 2, 8), slice(k, 1, 0, 8), slice(v, 1, 0, 8), causal(Align::end));
    check_close(prompt, slice(full, 1, 2, 8), 1e-12);
  });
}

TEST_CASE("one tensor as query, key and value gets the sum of its three gradients") {
  const Tensor x = leaf(normal({5, 4})), q = leaf(x.detach()), k = leaf(x.detach()), v = leaf(x.detach());
  const std::vector<Tensor> parts = grad(sum(cos(attention(q, k, v, {}, {}, true))), {q, k, v});
  check_close(grad(sum(cos(attention(x, x, x, {}, {}, true))), x), parts[0] + parts[1] + parts[2], 1e-14);
}

TEST_CASE("views of [batch, time, heads, width] give the values of copies, and results in that order") {
  for (const std::int64_t batch : {1, 2, 3}) {
    const Tensor x = normal({batch, 7, 3, 8, 4});
    const auto part = [&](std::int64_t i) { return permute(select(x, 2, i), {0, 2, 1, 3}); };
    const Tensor q = leaf(part(0)), k = leaf(part(1)), v = leaf(part(2));
    const Tensor y = attention(part(0), part(1), part(2), {}, {}, true);
    check_close(y, attention(q, k, v, {}, {}, true), 1e-15);
    const Tensor joined = reshape(permute(y, {0, 2, 1, 3}), {batch, 7, 32});
    if (!reference_mode()) CHECK(joined.storage() == y.storage());  // of the kernel alone
    Tensor base = leaf(x);
    const auto cut = [&](std::int64_t i) { return permute(select(base, 2, i), {0, 2, 1, 3}); };
    const Tensor d = grad(sum(sin(attention(cut(0), cut(1), cut(2), {}, {}, true))), base);
    const std::vector<Tensor> parts = grad(sum(sin(attention(q, k, v, {}, {}, true))), {q, k, v});
    for (int i = 0; i < 3; ++i)
      check_close(permute(select(d, 2, i), {0, 2, 1, 3}), parts[static_cast<std::size_t>(i)], 1e-14);
  }
}

TEST_CASE("dropout of weights is drawn once, is the same backward, and keeps the mean") {
  const Tensor q = leaf(normal({2, 30, 4})), k = normal({2, 50, 4}), v = ones({2, 50, 1}, DType::f64);
  seed(5);
  const Tensor y = attention(q, k, v, {}, {}, false, {}, 0.25);
  seed(5);
  const Tensor w = attention_weights(q, k, {}, {}, false, {}, 0.25);
  check_close(matmul(w, v), y, 1e-12);
  seed(5);
  {
    const ReferenceMode guard;
    check_close(attention(q, k, v, {}, {}, false, {}, 0.25), y, 1e-12);
  }
  check_close(grad(sum(y * y), q), grad(sum(matmul(w, v) * y.detach()), q) * 2.0, 1e-10);
  CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.05));  // 3000 weights: three standard deviations are 0.05
  check_values(attention(q, k, v, {}, {}, false, {}, 1).sum(), {0}, 0);
  CHECK(contains(error_of([&] { attention(q, k, v, {}, {}, false, {}, -0.1); }), "dropout -0.1"));
}

TEST_CASE("attention has the same bits on any number of threads") {
  const int before = threads();
  const Tensor q = leaf(normal({2, 4, 150, 16}, DType::f32)), k = leaf(normal({2, 2, 150, 16}, DType::f32)),
               v = leaf(normal({2, 2, 150, 16}, DType::f32)), bias = leaf(normal({4, 150, 150}, DType::f32));
  std::vector<std::vector<double>> results[2];
  for (const int run : {0, 1}) {
    set_threads(run == 0 ? 1 : 4);
    seed(3);
    const Tensor y = attention(q, k, v, {}, bias, true, {}, 0.1);
    results[run].push_back(y.to_vector<double>());
    for (const Tensor& g : grad(sum(y * y), {q, k, v, bias})) results[run].push_back(g.to_vector<double>());
  }
  set_threads(before);
  CHECK(results[0] == results[1]);
}

TEST_CASE("memory of attention grows linearly with the length") {
  if (reference_mode()) return;  // the composition holds all scores
  const Tensor x = leaf(normal({4000, 4}, DType::f32));
  reset_peak_memory();
  const std::int64_t before = memory_use().live;
  const Tensor d = grad(sum(attention(x, x, x, {}, {}, true)), x);
  CHECK(memory_use().peak - before < 4000 * 4 * 4 * 40);  // the scores alone would be 64 MB
}
