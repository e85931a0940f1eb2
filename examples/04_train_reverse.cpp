// An encoder-decoder transformer learns to write digits backwards: all of training in one page, from data to
// free-running decoding.
#include "nn/seq2seq.hpp"
#include "optim/adam.hpp"
#include "optim/clip.hpp"
#include "ops/ops.hpp"

#include <fmt/format.h>

using namespace gradus;

namespace {

constexpr std::int64_t length = 5, start_token = 10,
                       vocabulary = 11;  // digits 0 to 9 and the token that starts a target

// Sources [batch, length] of random digits and the same backwards.
struct Batch {
  Tensor source, target;
};
Batch random_batch(std::int64_t batch, Generator& generator) {
  const Tensor source = randint(0, 10, {batch, length}, generator);
  return {source, flip(source, 1)};
}

// The target shifted right: what the decoder has written before each position.
Tensor decoder_input(const Tensor& target) {
  const Tensor first = full({target.size(0), 1}, start_token, DType::i64);
  return concat({first, slice(target, 1, 0, length - 1)}, 1);
}

// One token at a time, each chosen from the model's own earlier ones.
Tensor decode(const nn::Seq2Seq& model, const Tensor& source) {
  const NoGrad guard;
  nn::Seq2SeqCache cache = model.start(model.encode(source));
  Tensor token = full({source.size(0), 1}, start_token, DType::i64);
  std::vector<Tensor> written;
  for (std::int64_t t = 0; t < length; ++t) {
    token = argmax(model.step(token, cache), -1);  // [batch, 1]
    written.push_back(token);
  }
  return concat(written, 1);
}

}  // namespace

int main() {
  seed(1);
  nn::Seq2Seq model({.source_vocabulary = vocabulary,
                     .target_vocabulary = vocabulary,
                     .layer = {.embed = 32, .heads = 4, .feedforward = 64, .dropout = 0},
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .max_length = length});
  Adam optimizer(nn::named_parameters(model), {.learning_rate = 3e-3});
  Generator data(1);

  for (int step = 1; step <= 600; ++step) {
    optimizer.set_learning_rate(3e-3 * std::min(1.0, step / 50.0));
    const auto [source, target] = random_batch(64, data);
    const Tensor logits = model(source, decoder_input(target));  // [batch, length, vocabulary]
    const Tensor loss = cross_entropy(logits, target);
    optimizer.zero_grad();
    backward(loss);
    clip_by_norm(nn::parameters(model), 1.0);
    optimizer.step();
    if (step % 100 == 0) fmt::print("step {:3}  loss {:.4f}\n", step, loss.item());
  }

  nn::eval(model);
  const auto [source, target] = random_batch(200, data);
  const Tensor written = decode(model, source);
  fmt::print("source   {}\nwritten  {}\n", source[0], written[0]);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < 200; ++i)
    right += written[i].to_vector<std::int64_t>() == target[i].to_vector<std::int64_t>();
  fmt::print("{} of 200 written backwards without a mistake\n", right);
  return right >= 190 ? 0 : 1;
}
