#include "train/pair_training.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/mode.hpp"
#include "nn/init.hpp"
#include "nn/seq2seq.hpp"
#include "ops/ops.hpp"
#include "train/batch.hpp"
#include "train/interrupt.hpp"
#include "train/tokenizer.hpp"
#include "train/utf8.hpp"

namespace gradus::train {
namespace {

constexpr std::int64_t unseen = 1000;  // validation pairs
constexpr std::int64_t quick = 200;    // of them in a quick look
constexpr std::int64_t decoded_at_once = 250;

/// A batch of pairs as the model takes it: the decoder reads <start> and the target, and predicts the target and <end>.
struct PairBatch {
  Tensor source, target_in, target_out;
  std::int64_t predicted = 0;  // tokens of target_out
  std::int64_t tokens = 0;     // of source and target_in
};

Tokenizer tokenizer_of(std::string_view alphabet, std::vector<std::string>& vocabulary) {
  if (vocabulary.empty()) vocabulary = Tokenizer(alphabet, Specials::yes).vocabulary();
  return Tokenizer::from_vocabulary(vocabulary);
}

nn::Seq2SeqOptions options_of(const PairTask& task, const Config& c, const Tokenizer& source, const Tokenizer& target) {
  nn::Seq2SeqOptions o;
  o.source_vocabulary = source.size();
  o.target_vocabulary = target.size();
  o.layer = {.embed = c.width, .heads = c.heads, .feedforward = c.feed_forward, .dropout = c.dropout};
  o.layer.norm_first = true;
  o.encoder_layers = o.decoder_layers = c.layers;
  o.positions = nn::Positions::learned;
  o.max_length = std::max(task.longest_source, task.longest_target + 1);
  o.padding = Tokenizer::padding;
  return o;
}

class PairLearner final : public Learner {
 public:
  PairLearner(const PairTask& task, Config& config)
      : task_(task),
        source_tokens_(tokenizer_of(task.source_alphabet, config.source_vocabulary)),
        target_tokens_(tokenizer_of(task.target_alphabet, config.target_vocabulary)),
        seed_(config.seed),
        batch_(config.batch),
        model_(options_of(task, config, source_tokens_, target_tokens_)) {
    // As large as the scaled embeddings: N(0, 1). With the N(0, 1/width) of the module dates need three times the
    // steps.
    for (auto* positions : {&model_.source_positions, &model_.target_positions})
      (*positions)->weight = nn::normal_parameter((*positions)->weight.shape(), 1);
  }

  nn::AnyModule model() const override { return model_; }
  void set_training(bool on) override { nn::train(model_, on); }

  BatchLoss loss(std::int64_t step) override {
    const PairBatch batch = make_batch(pairs_of_step(step));
    return {loss_of(batch, Reduction::mean), batch.tokens};
  }

  Validation validate(Extent extent) override {
    const NoGrad guard;
    const std::span<const Pair> pairs = validation(extent == Extent::all ? unseen : quick);
    double loss = 0;
    std::int64_t predicted = 0, right = 0;
    for (std::size_t i = 0; i < pairs.size(); i += decoded_at_once) {
      stop_if_interrupted();
      const auto some = pairs.subspan(i, std::min<std::size_t>(decoded_at_once, pairs.size() - i));
      const PairBatch batch = make_batch(some);
      loss += loss_of(batch, Reduction::sum).item();
      predicted += batch.predicted;
      const std::vector<std::string> written = translate(batch.source);
      for (std::size_t k = 0; k < some.size(); ++k) right += written[k] == some[k].target;
    }
    return {loss / static_cast<double>(predicted), static_cast<double>(right) / static_cast<double>(pairs.size())};
  }

  double baseline() override { return constant_baseline(validation(unseen)); }

  std::vector<Sample> sample(const SampleOptions& options) override {
    const NoGrad guard;
    std::vector<Sample> samples;
    if (options.inputs.empty())
      for (const Pair& pair : validation(std::clamp<std::int64_t>(options.count, 0, unseen)))
        samples.push_back({pair.source, "", pair.target, ""});
    for (const std::string& input : options.inputs) samples.push_back({input, "", {}, ""});
    for (Sample& s : samples) s.output = translate(padded({{read(s.input)}}, Tokenizer::padding)).front();
    return samples;
  }

  draw::HeatMap attention(const std::string& input) override {
    const NoGrad guard;
    const std::string source_text = input.empty() ? validation(1).front().source : input;
    const Tensor source = padded({{read(source_text)}}, Tokenizer::padding);
    std::vector<Token> written = target_tokens_.encode(translate(source).front());
    if (std::ssize(written) > task_.longest_target) written.resize(static_cast<std::size_t>(task_.longest_target));
    std::vector<Token> target_in = written;
    target_in.insert(target_in.begin(), Tokenizer::start);
    const Tensor weights = model_.with_weights(source, padded({{target_in}}, Tokenizer::padding)).weights;
    const Tensor mean_weights = mean(weights, 1)[0];  // [B, H, T, S] -> [T, S]
    written.push_back(Tokenizer::end);
    return {.rows = static_cast<int>(mean_weights.size(0)),
            .columns = static_cast<int>(mean_weights.size(1)),
            .values = mean_weights.to_vector<double>(),
            .row_labels = labels(written, target_tokens_),
            .column_labels = labels(read(source_text), source_tokens_),
            .title = "where the decoder looks (last layer, mean of its heads)",
            .row_title = "written",
            .column_title = "read",
            .low = 0,
            .high = {}};
  }

 private:
  static std::vector<std::string> labels(const std::vector<Token>& tokens, const Tokenizer& tokenizer) {
    std::vector<std::string> all;
    for (const Token token : tokens)
      all.push_back(token == Tokenizer::end ? "end" : tokenizer.vocabulary()[static_cast<std::size_t>(token)]);
    return all;
  }

  /// A source as tokens. Errors: empty, too long, or a character that the model does not know.
  std::vector<Token> read(const std::string& text) const {
    std::vector<Token> tokens = source_tokens_.encode(text);
    if (tokens.empty()) fail("{}: the input is empty; give 1 to {} characters", task_.name, task_.longest_source);
    if (std::ssize(tokens) > task_.longest_source)
      fail("{}: \"{}\" has {} characters; the model reads at most {}", task_.name, text, tokens.size(),
           task_.longest_source);
    return tokens;
  }

  std::span<const Pair> validation(std::int64_t count) {
    if (std::ssize(validation_) < count) validation_ = task_.validation(seed_, count);
    return std::span(validation_).first(static_cast<std::size_t>(count));
  }

  /// The pairs of one step; see place_of_step.
  std::span<const Pair> pairs_of_step(std::int64_t step) {
    const Place place = place_of_step(seed_, step);
    if (place.group != group_) {
      const std::int64_t count = group_batches * batch_;
      group_pairs_ = task_.training(seed_, place.group * count, count);
      std::stable_sort(group_pairs_.begin(), group_pairs_.end(),
                       [](const Pair& a, const Pair& b) { return a.source.size() < b.source.size(); });
      group_ = place.group;
    }
    return std::span(group_pairs_)
        .subspan(static_cast<std::size_t>(place.batch * batch_), static_cast<std::size_t>(batch_));
  }

  PairBatch make_batch(std::span<const Pair> pairs) const {
    std::vector<std::vector<Token>> sources, inputs, outputs;
    PairBatch batch;
    for (const Pair& pair : pairs) {
      sources.push_back(source_tokens_.encode(pair.source));
      outputs.push_back(target_tokens_.encode(pair.target));
      inputs.push_back(outputs.back());
      inputs.back().insert(inputs.back().begin(), Tokenizer::start);
      outputs.back().push_back(Tokenizer::end);
      batch.predicted += std::ssize(outputs.back());
      batch.tokens += std::ssize(sources.back()) + std::ssize(inputs.back());
    }
    batch.source = padded(sources, Tokenizer::padding);
    batch.target_in = padded(inputs, Tokenizer::padding);
    batch.target_out = padded(outputs, Tokenizer::padding);
    return batch;
  }

  Tensor loss_of(const PairBatch& batch, Reduction reduction) const {
    const Tensor logits = model_(batch.source, batch.target_in);  // [B, T, vocabulary]
    return cross_entropy(logits.reshape({-1, target_tokens_.size()}), batch.target_out.reshape({-1}), {}, 0,
                         Tokenizer::padding, reduction);
  }

  /// Greedy and free-running: every step reads what the model itself wrote.
  std::vector<std::string> translate(const Tensor& source) const {
    const std::int64_t rows = source.size(0);
    nn::Seq2SeqCache cache = model_.start(model_.encode(source));
    std::vector<std::vector<Token>> written(static_cast<std::size_t>(rows));
    std::vector<Token> last(static_cast<std::size_t>(rows), Tokenizer::start);
    for (std::int64_t t = 0; t <= task_.longest_target; ++t) {
      last = argmax(model_.step(indices(last, {rows, 1}), cache), -1).to_vector<Token>();
      for (std::size_t r = 0; r < written.size(); ++r) written[r].push_back(last[r]);
      const auto ended = [](const auto& row) { return std::find(row.begin(), row.end(), Tokenizer::end) != row.end(); };
      if (std::all_of(written.begin(), written.end(), ended)) break;
    }
    std::vector<std::string> texts;
    for (const auto& row : written) texts.push_back(target_tokens_.decode(row));
    return texts;
  }

  PairTask task_;
  Tokenizer source_tokens_, target_tokens_;
  std::uint64_t seed_;
  std::int64_t batch_;
  nn::Seq2Seq model_;
  std::vector<Pair> validation_;
  std::vector<Pair> group_pairs_;
  std::int64_t group_ = -1;
};

}  // namespace

std::unique_ptr<Learner> make_pair_learner(const PairTask& task, Config& config) {
  return std::make_unique<PairLearner>(task, config);
}

}  // namespace gradus::train
