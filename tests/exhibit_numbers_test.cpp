// The numbers of the exhibits against those that were measured when the articles were read.
#include "study/exhibit.hpp"

#include "core/mode.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace gradus;
using namespace gradus::study;
using doctest::Approx;

namespace {

/// The findings of an exhibit by name.
class Numbers {
 public:
  explicit Numbers(const char* id) : all_(findings(exhibit(id))) {}
  const Finding& operator[](std::string_view name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Finding& f) { return f.name == name; });
    REQUIRE_MESSAGE(found != all_.end(), "there is no finding ", name);
    return *found;
  }

 private:
  std::vector<Finding> all_;
};

/// Of the same sign, and neither larger nor smaller than 1.5 times: for what is computed from random data.
bool close(double computed, double measured) { return computed / measured <= 1.5 && computed / measured >= 1 / 1.5; }
#define CHECK_CLOSE(computed, measured) \
  CHECK_MESSAGE(close(computed, measured), (computed), " is not within a factor of 1.5 of ", (measured))

/// The digits of `text`, rounded: 0.178 for .17778.
double rounded(double x, int digits) { return std::round(x * std::pow(10, digits)) / std::pow(10, digits); }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("E1: the elementwise formula finds a gradient (.178, .234, .121) where there is none") {
  const Numbers n("E1");
  const double theirs[] = {0.1778, 0.2335, 0.1206};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rounded(n["theirs"].values[i], 4) == theirs[i]);
    CHECK(std::abs(n["truth"].values[i]) < 1e-15);
    CHECK(std::abs(n["row_sums"].values[i]) < 1e-15);
    CHECK(n["jacobian"].at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)) ==
          Approx(n["elementwise"].values[i]).epsilon(1e-14));
  }
  CHECK(rounded(n["jacobian"].at(0, 1), 4) == -0.1453);
  CHECK(rounded(n["jacobian"].at(1, 2), 4) == -0.0881);
  CHECK(n["difference"].value() < 1e-9);
}

TEST_CASE("E1b: the elementwise gradient points nearly the right way, and training still descends") {
  const Numbers n("E1b");
  CHECK_CLOSE(n["error"].value(), 0.2548);
  CHECK(n["cosine"].value() == Approx(0.9704).epsilon(0.01));
  CHECK(n["error_truth"].value() < 1e-8);
  CHECK(n["error_engine"].value() < 1e-8);
  for (std::int64_t rule = 0; rule < 2; ++rule)
    for (std::int64_t i = 1; i < 4; ++i) CHECK(n["descent"].at(rule, i) < n["descent"].at(rule, i - 1));
  CHECK(n["descent"].at(0, 3) < n["descent"].at(1, 3));
}

TEST_CASE("E2: the printed formula multiplies 4x5 by 5x5; the corrected gradients agree with differences") {
  const Numbers n("E2");
  CHECK(n["shape_values"].values == std::vector<double>{4, 5});
  CHECK(n["shape_derivative"].values == std::vector<double>{5, 5});
  CHECK(contains(n["error"].text, "[4, 5] and [5, 5]"));
  for (const char* name : {"error_wq", "error_wk", "error_wv"}) CHECK(n[name].value() < 1e-8);
}

TEST_CASE("E3: without the factor the gradient is exactly sqrt(d) times too long, in exactly the right direction") {
  const Numbers n("E3");
  CHECK(n["ratio"].value() == 2);
  CHECK(n["cosine"].value() == 1);
  CHECK(n["error"].value() == Approx(1).epsilon(1e-12));
  CHECK(n["shape"].values == std::vector<double>{5, 5, 5, 5});
  CHECK(n["block_difference"].value() < 1e-15);
  CHECK(n["across_rows"].value() == 0);
}

TEST_CASE("E4: unscaled the softmax Jacobian shrinks from .34 to .065 as d_k grows to 1024; scaled it stays at .30") {
  const Numbers n("E4");
  const Finding& f = n["saturation"];
  CHECK_CLOSE(f.at(0, 1), 0.3391);
  CHECK_CLOSE(f.at(4, 1), 0.0653);
  const double widths[] = {4, 16, 64, 256, 1024};
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(f.at(i, 0) == Approx(widths[i]).epsilon(0.1));
    CHECK(f.at(i, 3) == Approx(0.30).epsilon(0.05));
    if (i > 0) CHECK(f.at(i, 1) < f.at(i - 1, 1));
  }
}

TEST_CASE("E6: 2,103,552 parameters for full-width heads, 263,168 for split ones, 68,864 for the second article's") {
  const Numbers n("E6");
  const Finding& f = n["modules"];
  CHECK(f.at(0, 0) == 2103552);
  CHECK(f.at(1, 0) == 263168);
  CHECK(f.at(2, 0) == 68864);
  CHECK(f.at(0, 1) == 8 * f.at(1, 1));  // the work, too
  for (std::int64_t i = 0; i < 3; ++i) CHECK(f.at(i, 2) == 256);
  CHECK(n["side_by_side"].value() == 8 * 256);
}

TEST_CASE("E7: a changed column of head 0 moves head 1 by exactly 0") {
  const Numbers n("E7");
  CHECK(n["head_1"].value() == 0);
  CHECK_CLOSE(n["head_0"].value(), 0.1362);
  CHECK(n["largest_h0"].value() == 0);
  CHECK(n["largest_h1"].value() > 0.1);
}

TEST_CASE("E8: feature 6 moves head 0 of standard attention, and moves it by exactly 0 where the embedding is cut") {
  const Numbers n("E8");
  CHECK(n["standard"].value() > 0.1);
  CHECK(n["sliced"].value() == 0);
  for (std::int64_t head = 0; head < 2; ++head)
    for (std::int64_t feature = 0; feature < 8; ++feature) {
      CHECK(n["reads_standard"].at(head, feature) > 0.01);
      CHECK((n["reads_sliced"].at(head, feature) > 0) == (feature / 4 == head));
    }
}

TEST_CASE("E10: Q^T K is [batch, d, d], not symmetric, not centred, and not defined for other lengths") {
  const Numbers n("E10");
  CHECK(n["shape"].values == std::vector<double>{2, 3, 3});
  CHECK_CLOSE(n["asymmetry"].value(), 4.254);
  CHECK(n["uncentred"].value() > 0.5);
  CHECK(contains(n["error"].text, "matmul"));
  CHECK(n["cross_covariance"].values == std::vector<double>{2, 5, 3});
  CHECK(n["associativity"].value() < 1e-13);
}

TEST_CASE("E12: weights zeroed after the softmax sum to .04 to .38, and a mask saves no multiplication") {
  const Numbers n("E12");
  CHECK_CLOSE(n["sums_zeroed"].values[0], 0.038);
  CHECK_CLOSE(n["sums_zeroed"].values[1], 0.379);
  for (const double sum : n["sums_masked"].values) CHECK(sum == Approx(1).epsilon(1e-14));
  CHECK(n["kernel"].value() < 1e-14);
  const Finding& work = n["work"];
  CHECK(work.at(0, 0) == 2 * 24 * 24 * 8);
  CHECK(work.at(1, 0) == work.at(0, 0));
  CHECK(work.at(2, 0) == work.at(0, 0));
  CHECK(work.at(1, 1) > work.at(0, 1));
  CHECK(n["needed"].value() == 2 * 8 * (24 * 5 - 2 * (2 + 1)));  // five keys a row, fewer at both ends
}

TEST_CASE("E13: 30 tanh layers: 10^-9.5 plain, 10^-.2 with LayerNorm, 10^.7 with residual paths; 0/0 without eps") {
  const Numbers n("E13");
  const double measured[] = {-9.5, -0.2, 0.7};
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK_CLOSE(n["layers"].at(0, i), measured[i]);
    CHECK_CLOSE(std::pow(10, n["layers"].at(0, i)), std::pow(10, measured[i]));
  }
  for (const double x : n["without_eps"].values) CHECK(std::isnan(x));
  for (const double x : n["with_eps"].values) CHECK(x == 0);
  CHECK(n["steep_without"].value() > 1000 * n["steep_with"].value());
}

TEST_CASE("E14: the kernel's gradients are the textbook's; it multiplies more, moves less and grows with the length") {
  const Numbers n("E14");
  CHECK(n["difference"].value() < 1e-13);
  CHECK(n["work"].at(0, 0) == 6.0 * 512 * 512 * 32);
  CHECK(n["work"].at(1, 0) == 7.0 * 512 * 512 * 32);
  CHECK(n["work"].at(0, 1) > 5 * n["work"].at(1, 1));
  if (reference_mode()) return;  // then the kernel is the composition
  const Finding& memory = n["memory"];
  for (std::int64_t i = 1; i < 3; ++i) {
    CHECK(memory.at(i, 0) / memory.at(i - 1, 0) == Approx(4).epsilon(0.05));
    CHECK(memory.at(i, 1) / memory.at(i - 1, 1) == Approx(2).epsilon(0.01));
    CHECK(memory.at(i, 1) + memory.at(i, 2) < memory.at(i, 0));
  }
}

TEST_CASE("E18: attention alone stays in the hull of the values, with the residual it leaves; even weights forget") {
  const Numbers n("E18");
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(n["places"].at(i, 6) < 1e-15);
    CHECK(n["places"].at(i, 7) > 0.1);
    CHECK(n["places"].at(i, 0) + n["places"].at(i, 2) == Approx(n["places"].at(i, 4)).epsilon(1e-14));
  }
  CHECK(n["spread_alone"].value() < 1e-15);
  CHECK(n["spread_residual"].value() > 1);
}

TEST_CASE("E19: a fresh model attends nearly evenly, and two of them agree on nothing") {
  const Numbers n("E19");
  CHECK(n["even"].value() == Approx(std::log(5)).epsilon(1e-15));
  CHECK(n["entropy"].value() < n["even"].value());
  CHECK(n["entropy"].value() > 0.95 * n["even"].value());
  CHECK(std::abs(n["agreement"].value()) < 0.15);
}

TEST_CASE("E20: weights .134 away give the same output to 6e-17") {
  const Numbers n("E20");
  CHECK_CLOSE(n["distance"].value(), 0.134);
  CHECK(n["difference"].value() < 6e-16);
  for (const double sum : n["sums"].values) CHECK(sum == Approx(1).epsilon(1e-14));
  for (const double weight : n["weights"].values) CHECK(weight > 0);
}

TEST_CASE("F1: divided by sqrt(E) the logits have deviation .35 instead of .99, the weights entropy 4.10 for 3.70") {
  const Numbers n("F1");
  const Finding& f = n["spread"];
  CHECK(f.at(0, 0) == Approx(0.351).epsilon(0.03));
  CHECK(f.at(0, 1) == Approx(0.993).epsilon(0.03));
  CHECK(f.at(0, 2) == Approx(4.099).epsilon(0.01));
  CHECK(f.at(0, 3) == Approx(3.704).epsilon(0.01));
  CHECK(f.at(0, 1) / f.at(0, 0) == Approx(std::sqrt(8)).epsilon(1e-12));
}

TEST_CASE("F3: without masks all letters are right while the past is given, and no word when it writes by itself") {
  const Numbers n("F3");
  const Finding &accuracy = n["accuracy"], &moves = n["moves"];
  CHECK(accuracy.at(0, 0) > 0.98);
  CHECK(accuracy.at(0, 1) < 0.6);
  CHECK(accuracy.at(0, 2) < 0.05);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(accuracy.at(1, i) > 0.98);
  CHECK(moves.at(0, 0) > 1);
  CHECK(moves.at(1, 0) == 0);
  for (std::int64_t i = 1; i < 3; ++i) {
    CHECK(moves.at(0, i) > 0.1);
    CHECK(moves.at(1, i) < 1e-4);  // f32, a different order of sums
  }
}

TEST_CASE("F6: behind the norm a tenth of the stream is 0 at every depth and noise takes it over") {
  const Numbers n("F6");
  const Finding& f = n["stream"];
  for (std::int64_t i = 0; i < 6; ++i) {
    CHECK(f.at(i, 0) == Approx(0.1).epsilon(0.1));
    CHECK(f.at(i, 1) == 0);
    CHECK(f.at(i, 2) == Approx(1 / 0.9).epsilon(0.02));  // p zeroes, the others grow by 1/(1-p)
    CHECK(f.at(i, 3) == Approx(1).epsilon(1e-3));
    if (i > 0) CHECK(f.at(i, 4) > f.at(i - 1, 4));
    CHECK(f.at(i, 4) > 10 * f.at(i, 5));
  }
  CHECK(n["survival"].value() == Approx(0.2824).epsilon(1e-3));
}

TEST_CASE("F10: 100 tokens fit, 101 are an error that names the maximum length") {
  const Numbers n("F10");
  CHECK(n["as_written_100"].value() == 100);
  CHECK(n["right_100"].value() == 100);
  CHECK(contains(n["as_written_101"].text, "index 100"));
  CHECK(contains(n["right_101"].text, "maximum length is 100"));
}
