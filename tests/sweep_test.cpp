// The generated tests: every registered op, every sample, every check of tests/sweep/checks.hpp.
// One op alone: gradus-tests -sf='*sweep*' -sc=softmax
#include "tests/sweep/checks.hpp"

#include <doctest/doctest.h>

namespace {

using namespace sweep;

using SampleCheck = std::string (*)(const Call&, const Sample&);

void for_each_sample(SampleCheck check) {
  for (const OpEntry* op : all_ops()) {
    SUBCASE(op->info->name) {
      Samples samples;
      op->samples(samples);
      for (std::size_t i = 0; i < samples.good().size(); ++i) {
        const Sample& sample = samples.good()[i];
        std::string problem;
        try {
          problem = check(Call(*op, sample.arguments), sample);
        } catch (const std::exception& e) { problem = fmt::format("threw: {}", e.what()); }
        CHECK_MESSAGE(problem.empty(), fmt::format("{}, sample {}: {}", op->signature(), i, problem));
      }
    }
  }
}

}  // namespace

TEST_CASE("every op has samples, a formula and, if it can be differentiated, a rule") {
  for (const OpEntry* op : all_ops()) {
    INFO(op->name());
    Samples samples;
    op->samples(samples);
    CHECK(!samples.good().empty());
    CHECK(std::string_view(op->info->math) != "");
    // An op without a rule says "none": so a vjp under a misspelt name does not pass unseen.
    if (op->differentiable) CHECK(std::string_view(op->info->rule) != "");
    else CHECK(std::string_view(op->info->rule).find("none") != std::string_view::npos);
    if (op->differentiable && op->keeps != Keep::nothing) CHECK(std::string_view(op->info->why_kept) != "");
  }
}

TEST_CASE("each rule agrees with central differences") { for_each_sample(rule_against_differences); }

TEST_CASE("each rule's own derivative agrees with central differences") { for_each_sample(second_order); }

TEST_CASE("fused and composite rules agree") { for_each_sample(fused_against_composite); }

TEST_CASE("fused kernels agree with the compositions that define them") { for_each_sample(forward_against_reference); }

TEST_CASE("gradients do not depend on which other inputs require them") { for_each_sample(every_subset_of_inputs); }

TEST_CASE("transposed, sliced and expanded inputs give the same numbers") { for_each_sample(every_layout); }

TEST_CASE("expanded and transposed cotangents give the same gradients") { for_each_sample(strided_cotangents); }

TEST_CASE("f32 agrees with f64") { for_each_sample(f32_against_f64); }

TEST_CASE("no op changes its inputs or its cotangent") { for_each_sample(inputs_unmodified); }

TEST_CASE("one thread and four give the same bits") { for_each_sample(same_on_any_number_of_threads); }

TEST_CASE("rules and views are right at sizes that reach the blocked kernels") {
  for_each_sample(same_rule_at_larger_sizes);
}

TEST_CASE("arrays without elements give a result or an Error") { for_each_sample(zero_sizes); }

TEST_CASE("a wrong call is one Error that begins with the op's name and says what its author promised") {
  for (const OpEntry* op : all_ops()) {
    SUBCASE(op->info->name) {
      Samples samples;
      op->samples(samples);
      for (const ErrorSample& sample : samples.bad()) {
        const std::string text = error_of([&] { op->call(sample.arguments); });
        CHECK_MESSAGE(text.find(sample.message) != std::string::npos,
                      fmt::format("{}: expected an Error with \"{}\", got \"{}\"", op->name(), sample.message, text));
        CHECK_MESSAGE(text.starts_with(op->name() + ": "),
                      fmt::format("{}: the Error begins \"{}\"", op->name(), text));
      }
    }
  }
}
