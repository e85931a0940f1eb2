// Derivations of every op, on its own samples.
#include <doctest/doctest.h>

#include "tests/sample_derivations.hpp"

using namespace gradus;

TEST_CASE("every step of a derivation agrees with differences, for every op and sample") {
  study::DeriveOptions options;
  options.seed = 5;
  const int derivations = test::for_each_sample_derivation(
      options, [](const OpEntry& op, int number, const Sample& sample, const study::Derivation& d) {
        INFO(op.name(), " sample ", number);
        for (const auto& step : d.backward) {
          INFO(step.line.substr(0, 300), "   difference ", step.verdict.difference, " ", step.verdict.how);
          // At a point without a derivative the convention stands, not a difference.
          CHECK((step.verdict.ok || sample.kink));
        }
      });
  CHECK(derivations > 200);
}
