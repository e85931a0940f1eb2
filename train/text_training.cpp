#include "train/text_training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "core/error.hpp"
#include "core/mode.hpp"
#include "core/random.hpp"
#include "nn/gpt.hpp"
#include "ops/ops.hpp"
#include "train/batch.hpp"
#include "train/hash.hpp"
#include "train/interrupt.hpp"
#include "train/text.hpp"
#include "train/text_file.hpp"
#include "train/utf8.hpp"
#include "train/windows.hpp"

namespace gradus::train {
namespace {

constexpr std::int64_t ignored = -100;           // what stands beyond the end of a row's targets
constexpr std::int64_t quick_tokens = 20'000;    // predicted tokens of a quick look
constexpr std::int64_t tokens_at_once = 16'384;  // of a validation batch

HeldOut held_out_of(const std::string& name) {
  if (name == "lines") return HeldOut::lines;
  return name == "blocks" ? HeldOut::blocks : HeldOut::automatic;
}

/// What is made of a text, and the windows over it.
struct TextData {
  Text text;
  Windows windows;
  std::vector<TextExample> validation;

  TextData(Text t, std::int64_t context)
      : text(std::move(t)), windows(text.training, context), validation(cover(text.validation, context)) {
    std::stable_sort(validation.begin(), validation.end(),
                     [](const auto& a, const auto& b) { return a.inputs.size() < b.inputs.size(); });
  }
  TextData(const TextData&) = delete;  // the windows point at the text
  TextData& operator=(const TextData&) = delete;
};

std::unique_ptr<TextData> load(Config& config) {
  const std::u32string text = read_text(config.file);
  const std::string found = fmt::format("{:016x}", hash(0, encode_utf8(text)));
  if (config.text_hash.empty()) config.text_hash = found;
  if (found != config.text_hash) fail("{} has changed since the run began; put the old text back", config.file);
  auto data = std::make_unique<TextData>(split_text(text, config.seed, held_out_of(config.held_out), config.file),
                                         config.context);
  if (config.target_vocabulary.empty()) config.target_vocabulary = data->text.tokenizer.vocabulary();
  config.held_out = data->text.held_out == HeldOut::lines ? "lines" : "blocks";  // "automatic" is settled
  return data;
}

nn::GPTOptions options_of(const Config& c, std::int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .context = c.context,
          .layers = c.layers,
          .heads = c.heads,
          .width = c.width,
          .feedforward = c.feed_forward,
          .dropout = c.dropout};
}

/// GPT-2's deviation of 0.02 suits widths near a thousand; narrow models learn faster from N(0, 1 / width), and tables
/// of N(0, 4 / width). On names, 1,000 steps at width 96: 2.05 nats per character instead of 2.10.
void draw_for_width(nn::GPT& model, std::int64_t width) {
  const NoGrad guard;
  const double scale = 1 / (0.02 * std::sqrt(static_cast<double>(width)));
  for (Tensor* table : {&model.wte.weight, &model.wpe.weight}) *table *= 2 * scale;
  for (nn::GPTBlock& block : model.h)
    for (nn::Linear* layer : {&block.attn.c_attn, &block.attn.c_proj, &block.mlp.c_fc, &block.mlp.c_proj})
      layer->weight *= scale;
}

/// Some rows as the model takes them.
struct TextBatch {
  Tensor inputs, targets;
  std::int64_t tokens = 0;
};

TextBatch make_batch(std::span<const TextExample> examples) {
  std::vector<std::vector<Token>> inputs, targets;
  TextBatch batch;
  for (const TextExample& example : examples) {
    inputs.push_back(example.inputs);
    targets.push_back(example.targets);
    batch.tokens += std::ssize(example.inputs);
  }
  batch.inputs = padded(inputs, 0);  // what stands there is hidden from the rest by causality
  batch.targets = padded(targets, ignored);
  return batch;
}

/// Draws from softmax(logits / temperature); temperature 0 takes the likeliest.
Token draw_token(std::span<const double> logits, double temperature, Generator& generator) {
  const auto best = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) return best - logits.begin();
  std::vector<double> sums;
  double sum = 0;
  for (const double logit : logits) sums.push_back(sum += std::exp((logit - *best) / temperature));
  const double u = generator.uniform() * sum;
  const auto found = std::upper_bound(sums.begin(), sums.end(), u);
  return std::min(found - sums.begin(), std::ssize(sums) - 1);
}

class TextLearner final : public Learner {
 public:
  explicit TextLearner(Config& config)
      : data_(config.target_vocabulary.empty() ? load(config) : nullptr),
        config_(config),
        tokenizer_(Tokenizer::from_vocabulary(config.target_vocabulary)),
        model_(options_of(config, tokenizer_.size())) {
    draw_for_width(model_, config.width);
  }

  nn::AnyModule model() const override { return model_; }
  void set_training(bool on) override { nn::train(model_, on); }

  BatchLoss loss(std::int64_t step) override {
    const TextBatch batch = make_batch(examples_of_step(step));
    return {loss_of(batch, Reduction::mean), batch.tokens};
  }

  Validation validate(Extent extent) override {
    const NoGrad guard;
    const std::vector<TextExample>& rows = data().validation;
    double loss = 0;
    std::int64_t predicted = 0;
    // A quick look takes rows spread evenly over the lengths.
    const std::int64_t all = data().text.validation.predicted();
    const std::size_t stride =
        extent == Extent::all ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(1, all / quick_tokens));
    std::vector<TextExample> some;
    std::int64_t waiting = 0;
    const auto flush = [&] {
      if (some.empty()) return;
      stop_if_interrupted();
      const TextBatch batch = make_batch(some);
      loss += loss_of(batch, Reduction::sum).item();
      predicted += batch.tokens;
      some.clear();
      waiting = 0;
    };
    for (std::size_t i = 0; i < rows.size(); i += stride) {
      some.push_back(rows[i]);
      if ((waiting += std::ssize(rows[i].inputs)) >= tokens_at_once) flush();
    }
    flush();
    const double nats = loss / static_cast<double>(predicted);
    return {nats, nats};
  }

  /// Nats per character of the best answer that does not look at the text: how often each character occurs in training.
  double baseline() override {
    std::vector<double> counts(static_cast<std::size_t>(tokenizer_.size()), 1);  // Laplace: nothing is impossible
    double total = static_cast<double>(counts.size());
    for (const auto& example : targets_of(data().text.training))
      counts[static_cast<std::size_t>(example)] += 1, total += 1;
    double nats = 0;
    std::int64_t n = 0;
    for (const Token token : targets_of(data().text.validation))
      nats -= std::log(counts[static_cast<std::size_t>(token)] / total), ++n;
    return nats / static_cast<double>(n);
  }

  std::vector<Sample> sample(const SampleOptions& options) override {
    const NoGrad guard;
    std::vector<Sample> samples;
    Generator generator(hash(options.seed, "samples"));
    const std::string beginning = options.inputs.empty() ? "" : options.inputs.front();
    for (std::int64_t i = 0; i < options.count; ++i) {
      stop_if_interrupted();
      Sample s{beginning, write(beginning, options, generator), {}, ""};
      if (is_list()) s.remark = remark_on(s.output);
      samples.push_back(std::move(s));
    }
    return samples;
  }

  draw::HeatMap attention(const std::string& input) override {
    const NoGrad guard;
    SampleOptions options;
    options.longest = std::min<std::int64_t>(config_.context, 24);
    Generator generator(hash(config_.seed, "attention"));
    const std::string text = "\n" + (input.empty() ? write("", options, generator) : input);
    std::vector<Token> tokens = tokenizer_.encode(text);
    if (std::ssize(tokens) > config_.context) tokens.resize(static_cast<std::size_t>(config_.context));
    const Tensor weights = mean(last_weights(padded({{tokens}}, 0)), 1)[0];  // [B, H, T, T] -> [T, T]
    std::vector<std::string> labels;
    for (const Token token : tokens) labels.push_back(tokenizer_.vocabulary()[static_cast<std::size_t>(token)]);
    return {.rows = static_cast<int>(tokens.size()),
            .columns = static_cast<int>(tokens.size()),
            .values = weights.to_vector<double>(),
            .row_labels = labels,
            .column_labels = labels,
            .title = "where each character looks (last layer, mean of its heads)",
            .row_title = "at",
            .column_title = "looks at",
            .low = 0,
            .high = {}};
  }

 private:
  TextData& data() {
    if (!data_) data_ = load(config_);
    return *data_;
  }

  bool is_list() const { return config_.held_out == "lines"; }

  /// Whether a line is none of the list's; nothing when the file is gone, which sampling does not need.
  std::string remark_on(const std::string& line) {
    try {
      return known_lines().contains(line) ? "in the list" : "new";
    } catch (const Error&) { return ""; }
  }

  /// All lines of a list, of both sides.
  const std::unordered_set<std::string>& known_lines() {
    if (known_.empty())
      for (const Pieces* pieces : {&data().text.training, &data().text.validation})
        for (std::int64_t i = 0; i < pieces->count(); ++i) {
          std::string line = tokenizer_.decode(pieces->piece(i).subspan(1));  // without the newline that is read
          if (line.ends_with('\n')) line.pop_back();
          known_.insert(std::move(line));
        }
    return known_;
  }

  static std::vector<Token> targets_of(const Pieces& pieces) {
    std::vector<Token> targets;
    for (std::int64_t i = 0; i < pieces.count(); ++i) {
      const auto piece = pieces.piece(i).subspan(1);
      targets.insert(targets.end(), piece.begin(), piece.end());
    }
    return targets;
  }

  /// The examples of one step; see place_of_step.
  std::span<const TextExample> examples_of_step(std::int64_t step) {
    const Place place = place_of_step(config_.seed, step);
    if (place.group != group_) {
      const std::int64_t count = group_batches * config_.batch;
      group_examples_ = data().windows.training(config_.seed, place.group * count, count);
      std::stable_sort(group_examples_.begin(), group_examples_.end(),
                       [](const auto& a, const auto& b) { return a.inputs.size() < b.inputs.size(); });
      group_ = place.group;
    }
    const auto size = static_cast<std::size_t>(config_.batch);
    return std::span(group_examples_).subspan(static_cast<std::size_t>(place.batch) * size, size);
  }

  Tensor loss_of(const TextBatch& batch, Reduction reduction) const {
    const Tensor logits = model_(batch.inputs);  // [B, T, vocabulary]
    return cross_entropy(logits.reshape({-1, tokenizer_.size()}), batch.targets.reshape({-1}), {}, 0, ignored,
                         reduction);
  }

  /// Continues a beginning: of a list to the end of the line, of a running text for options.longest characters.
  std::string write(const std::string& beginning, const SampleOptions& options, Generator& generator) {
    const Token newline = tokenizer_.encode("\n").front();
    std::vector<Token> tokens = tokenizer_.encode("\n" + beginning);
    nn::GPTCache cache = model_.start();
    std::int64_t read = 0;  // of the tokens, how many the cache holds
    while (std::ssize(tokens) <= options.longest) {
      if (std::ssize(tokens) > config_.context && cache.length() == config_.context) {
        cache = model_.start();  // the window is full: go on with its second half
        read = std::ssize(tokens) - (config_.context + 1) / 2;
      }
      read = std::max(read, std::ssize(tokens) - config_.context);
      const std::span<const Token> fresh = std::span(tokens).subspan(static_cast<std::size_t>(read));
      const Tensor logits = model_.step(indices(fresh, {1, std::ssize(fresh)}), cache);
      read = std::ssize(tokens);
      const std::vector<double> last = logits[0][std::ssize(fresh) - 1].to_vector<double>();
      tokens.push_back(draw_token(last, options.temperature, generator));
      if (tokens.back() == newline && is_list()) break;
    }
    std::string text = tokenizer_.decode(std::span(tokens).subspan(1));
    if (text.ends_with('\n') && is_list()) text.pop_back();
    return text;
  }

  /// The attention weights [B, H, T, T] of the last layer.
  Tensor last_weights(const Tensor& tokens) const {
    Tensor x = model_.wpe(model_.wte(tokens));
    for (std::size_t i = 0; i + 1 < model_.h.size(); ++i) x = model_.h[i](x);
    const nn::GPTBlock& block = model_.h.back();
    const nn::Projected p =
        nn::project_packed(block.ln_1(x), block.attn.c_attn.weight, block.attn.c_attn.bias, block.attn.heads);
    return attention_weights(p.q, p.k, {}, {}, true);
  }

  std::unique_ptr<TextData> data_;
  Config config_;
  Tokenizer tokenizer_;
  nn::GPT model_;
  std::vector<TextExample> group_examples_;
  std::int64_t group_ = -1;
  std::unordered_set<std::string> known_;
};

}  // namespace

std::unique_ptr<Learner> make_text_learner(Config& config) { return std::make_unique<TextLearner>(config); }

}  // namespace gradus::train
