#include "nn/embedding.hpp"
#include "nn/positions.hpp"
#include "nn/transformer.hpp"
#include "ops/ops.hpp"
#include "optim/adam.hpp"
#include "study/exhibit.hpp"
#include "study/toy.hpp"

namespace gradus::study {
namespace {

constexpr std::int64_t padding = 0, start = 1, end = 2, first_letter = 3, letters = 8;
constexpr std::int64_t vocabulary = first_letter + letters, length = 10, embed = 32;
constexpr std::int64_t batch = 32, steps = 150, unseen = 200;

enum class Masks { dropped, applied };

/// Words to be written backwards: the decoder reads <start> and the target, and predicts the target and <end>.
struct Words {
  Tensor source;      ///< [n, length]
  Tensor target_in;   ///< [n, length + 1]
  Tensor target_out;  ///< [n, length + 1]
  Words(std::int64_t n, Generator& generator)
      : source(randint(first_letter, vocabulary, {n, length}, generator)),
        target_in(concat(
            {indices(std::vector<std::int64_t>(static_cast<std::size_t>(n), start), {n, 1}), flip(source, 1)}, 1)),
        target_out(concat(
            {flip(source, 1), indices(std::vector<std::int64_t>(static_cast<std::size_t>(n), end), {n, 1})}, 1)) {}
};

/// The second article's encoder and decoder, small. Everything is right but the masks, which are built and, as there,
/// not passed on; or applied.
struct Translator {
  nn::Embedding source_words{vocabulary, embed}, target_words{vocabulary, embed};
  nn::LearnedPositions source_places{2 * length, embed, 1}, target_places{2 * length, embed, 1};
  nn::Transformer transformer{{.embed = embed, .heads = 2, .feedforward = 2 * embed, .dropout = 0}, 1, 1};
  nn::Linear output{embed, vocabulary};
  Masks masks;

  explicit Translator(Masks m) : masks(m) {}
  Tensor operator()(const Tensor& source, const Tensor& target) const {
    nn::TransformerMasks used;
    if (masks == Masks::applied) {
      const Mask not_padding = keys(source != padding);
      used = {.source = not_padding, .target = causal(), .memory = not_padding};
    }
    return output(transformer(source_places(source_words(source)), target_places(target_words(target)), used));
  }
  void parts(auto&& f) {
    f("source_words", source_words);
    f("target_words", target_words);
    f("source_places", source_places);
    f("target_places", target_places);
    f("transformer", transformer);
    f("output", output);
  }
};

Translator trained(Masks masks) {
  gradus::seed(3);
  Translator model(masks);
  Adam adam(nn::parameters(model), {.learning_rate = 3e-3});
  Generator generator(33);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Words words(batch, generator);
    const Tensor logits = model(words.source, words.target_in);
    adam.zero_grad();
    backward(cross_entropy(logits, words.target_out));
    adam.step();
  }
  return model;
}

double part_equal(const Tensor& a, const Tensor& b) { return mean(cast(a == b, DType::f64)).item(); }

/// What the model writes when it reads its own words: [n, length + 1].
Tensor free_running(const Translator& model, const Tensor& source) {
  const std::int64_t n = source.size(0);
  Tensor written = indices(std::vector<std::int64_t>(static_cast<std::size_t>(n), start), {n, 1});
  for (std::int64_t t = 0; t <= length; ++t) {
    const Tensor next = argmax(slice(model(source, written), 1, t, t + 1), -1);
    written = concat({written, next}, 1);
  }
  return slice(written, 1, 1);
}

/// Accuracy by letter with the right past given, free-running by letter, and whole words free-running.
std::vector<double> accuracies(const Translator& model, const Words& words) {
  const Tensor written = free_running(model, words.source);
  const Tensor whole = min(cast(written == words.target_out, DType::f64), -1);
  return {part_equal(argmax(model(words.source, words.target_in), -1), words.target_out),
          part_equal(written, words.target_out), mean(whole).item()};
}

/// How far the logits move when three paddings are put behind the source, and behind the target.
std::vector<double> moved_by_padding(const Translator& model, const Words& words) {
  const Tensor plain = model(words.source, words.target_in);
  const Tensor source = pad(words.source, {0, 0, 0, 3}), target = pad(words.target_in, {0, 0, 0, 3});
  const Tensor behind_target = slice(model(words.source, target), 1, 0, length + 1);
  return {toy::largest_change(model(source, words.target_in), plain), toy::largest_change(behind_target, plain)};
}

/// How far the logits of the first letter move when that letter, which the decoder reads next, is another.
double moved_by_future(const Translator& model, const Words& words) {
  const Tensor in = words.target_in;  // <start>, first letter, ...
  const Tensor letter = slice(in, 1, 1, 2);
  const Tensor last = letter == vocabulary - 1;
  const Tensor changed = concat({slice(in, 1, 0, 1), where(last, letter - 1, letter + 1), slice(in, 1, 2)}, 1);
  return toy::largest_change(slice(model(words.source, changed), 1, 0, 1), slice(model(words.source, in), 1, 0, 1));
}

std::vector<Finding> run() {
  const Translator theirs = trained(Masks::dropped), right = trained(Masks::applied);
  const NoGrad guard;
  Generator generator(34);
  const Words words(unseen, generator);
  const std::vector<std::string> models = {"masks dropped, as written", "masks applied"};
  const auto paddings = [&](const Translator& m) {
    std::vector<double> moves = moved_by_padding(m, words);
    moves.insert(moves.begin(), moved_by_future(m, words));
    return moves;
  };
  return {table("accuracy", "write ten letters backwards: two models after 150 steps, on 200 unseen words",
                {accuracies(theirs, words), accuracies(right, words)})
              .headed({"letters, past given", "letters, free-running", "words, free-running"}, models),
          table("moves", "the largest change of a logit", {paddings(theirs), paddings(right)})
              .headed({"by the answer itself", "by padding the source", "by padding the target"}, models)
              .scientific()};
}

const RegisteredExhibit registered({
    .id = "F3",
    .aliases = {"F4", "F5", "F3-F5"},
    .title = "Masks built but not used: perfect on paper, helpless when it writes",
    .claim = "make_src_mask and make_trg_mask build masks; DecoderBlock.forward takes src_mask and trg_mask and calls "
             "self.attention(x, x, x) (F3); encoder(src, src_mask) hands the mask to an argument seg_ids that nobody "
             "reads (F4); trg_pad_idx is stored and never read (F5).\n"
             "(Second article, classes Encoder, DecoderBlock, Transformer.)",
    .right = "The decoder's self-attention gets the causal mask, the encoder and the attention over its output get the "
             "padding mask of the source, and padding in the target counts neither as key nor in the loss.",
    .why =
        "In training the decoder reads the right answer, shifted by one. Without the causal mask position t sees the "
        "letter that it has to predict, one place to the right, and learns to copy it: the loss falls to nothing "
        "and the accuracy with the past given is near 100 %. When the model writes by itself there is nothing to "
        "the right, and it fails. Only a free-running measure shows it. Without the padding masks, what is put "
        "behind a sentence changes its translation, so the result depends on which sentences share a batch.",
    .commands = {"gradus train reverse --steps 150", "gradus eval 'x = randn(5,4); attention_weights(x, x)'",
                 "gradus eval 'x = randn(5,4); attention_weights(x, x, mask=causal())'"},
    .run = run,
});

}  // namespace
}  // namespace gradus::study
