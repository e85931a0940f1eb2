#include "nn/embedding.hpp"
#include "nn/positions.hpp"
#include "ops/ops.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

namespace gradus::study {
namespace {

constexpr std::int64_t longest = 100, embed = 256;

std::vector<Finding> run() {
  const NoGrad guard;
  const nn::Embedding table(longest, embed);
  const nn::LearnedPositions positions(longest, embed);
  const auto as_written = [&](std::int64_t length) {
    const Tensor x = zeros({1, length, embed});
    return x + table(arange(0, static_cast<double>(length)));
  };
  const auto right = [&](std::int64_t length) { return positions(zeros({1, length, embed})); };
  const auto length_out = [](const Tensor& y) { return static_cast<double>(y.size(1)); };
  return {number("as_written_100", "a sequence of 100 tokens, as written: length of the output",
                 length_out(as_written(longest)))
              .whole(),
          number("right_100", "through LearnedPositions", length_out(right(longest))).whole(),
          said("as_written_101", "a sequence of 101 tokens, as written: an index out of a table",
               toy::error_of([&] { as_written(longest + 1); })),
          said("right_101", "through LearnedPositions: what is wrong and what to do",
               toy::error_of([&] { right(longest + 1); }))};
}

const RegisteredExhibit registered({
    .id = "F10",
    .title = "Past its maximum length a model must say so",
    .claim = "positions = torch.arange(0, seq_length) into nn.Embedding(max_length, embed_size), max_length=100, with "
             "no check.\n"
             "(Second article, classes Encoder and Decoder.)",
    .right = "Where positions are learned, check the length and name both numbers; or use positions that have no "
             "maximum (sinusoidal, rotary).",
    .why = "A learned table has one row for each position and nothing for the 101st. As written, the first long "
           "sentence ends in an index error deep inside an embedding that never heard of sentences, and on a GPU in "
           "an assertion that names neither line nor length. Such an input comes late, in validation or in use, so "
           "the message is all that its finder has.",
    .commands = {"gradus eval 'embedding(randn(100,4), cast(arange(100), \"i64\"))'",
                 "gradus eval 'embedding(randn(100,4), cast(arange(101), \"i64\"))'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
