// Derivations of every op, on its own samples.
#include "tests/op_derivations.hpp"

#include <doctest/doctest.h>

using namespace gradus;

TEST_CASE("every step of a derivation agrees with differences, for every op and sample") {
  int derivations = 0;
  gradus_test::for_each_derivation(
      {.seed = 5}, [&](const std::string& name, const Sample& sample, const study::Derivation& d) {
        ++derivations;
        for (const auto& step : d.backward) {
          INFO(name, ": ", step.line.substr(0, 300), "   difference ", step.verdict.difference, " ", step.verdict.how);
          // At a point without a derivative the convention stands, not a difference.
          CHECK((step.verdict.ok || sample.kink));
        }
      });
  CHECK(derivations > 200);
}
