// Modules against PyTorch 2.13.0 (tests/golden/*.npz): outputs, gradients of inputs and parameters, ten training steps.
// Its masks are true = may not attend; they are turned round here.
#include "nn/gpt.hpp"
#include "nn/positions.hpp"
#include "nn/seq2seq.hpp"
#include "optim/adam.hpp"
#include "optim/adamw.hpp"
#include "optim/clip.hpp"
#include "tests/file_helpers.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;
using namespace gradus::nn;

namespace {

// f64: both sides round in another order. Relative to max(1, largest magnitude).
constexpr double tight = 1e-10;
constexpr double after_ten_steps = 1e-8;
constexpr double f32_stack = 1e-4;

NamedTensors golden_arrays(const std::string& name) { return load_npz(test::golden((name + ".npz").c_str())); }

NamedTensors below(const NamedTensors& all, const std::string& prefix) {
  NamedTensors list;
  for (const auto& [name, t] : all)
    if (name.starts_with(prefix)) list.emplace_back(name.substr(prefix.size()), t);
  return list;
}

void check_close(const std::string& what, const Tensor& found, const Tensor& expected, double tolerance) {
  REQUIRE_MESSAGE(found.shape() == expected.shape(), what << " has shape " << to_string(found.shape()));
  const std::vector<double> u = found.to_vector<double>(), v = expected.to_vector<double>();
  double scale = 1, largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    scale = std::max(scale, std::abs(v[i]));
    largest = std::isnan(u[i]) ? u[i] : std::max(largest, std::abs(u[i] - v[i]));
  }
  CHECK_MESSAGE(largest <= tolerance * scale, what << " is off by " << largest << ", scale " << scale);
}

/// A module in f64 with the values of the file.
template <class M>
M with_values(M m, const NamedTensors& arrays) {
  to(m, DType::f64);
  load(m, below(arrays, "param."));
  return m;
}

/// Checks results, and the gradients of sum_k sum(result_k * cotangent_k) for inputs and parameters.
void check_gradients(const std::string& file, const NamedTensors& arrays, AnyModule m, const NamedTensors& inputs,
                     const std::vector<Tensor>& results) {
  Tensor total = scalar(0, DType::f64);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string suffix = k ? std::to_string(k + 1) : "";
    check_close(file + " out" + suffix, results[k], find(arrays, "out" + suffix), tight);
    total = total + sum(results[k] * find(arrays, "cot" + suffix));
  }
  NamedTensors wrt = inputs;
  std::vector<Tensor> leaves;
  for (const auto& [name, t] : named_parameters(m)) wrt.emplace_back("param." + name, t);
  for (const auto& [name, t] : wrt) leaves.push_back(t);
  const std::vector<Tensor> gradients = grad(total, leaves);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const std::string name = (wrt[i].first.starts_with("param.") ? "grad." : "grad_") + wrt[i].first;
    check_close(file + " " + name, gradients[i], find(arrays, name), tight);
  }
}

/// The arrays of those names as leaves.
NamedTensors leaves(const NamedTensors& arrays, std::initializer_list<const char*> names) {
  NamedTensors list;
  for (const char* name : names) list.emplace_back(name, copy_of(find(arrays, name)).requires_grad(true));
  return list;
}

Mask padded_5() { return keys(tensor({1, 1, 1, 0, 0, 1, 1, 1, 1, 1}, {2, 5}, DType::b8)); }
Mask padded_7() { return keys(tensor({1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1}, {2, 7}, DType::b8)); }

struct Variant {
  std::string name;
  Nonlinearity activation;
  bool norm_first;
  LayerOptions options() const {
    return {
        .embed = 8, .heads = 2, .feedforward = 16, .dropout = 0, .activation = activation, .norm_first = norm_first};
  }
};
const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{{"relu_postnorm", Nonlinearity::relu, false},
                                        {"relu_prenorm", Nonlinearity::relu, true},
                                        {"gelu_postnorm", Nonlinearity::gelu, false},
                                        {"gelu_prenorm", Nonlinearity::gelu, true}};
  return all;
}

}  // namespace

TEST_CASE("Multi-head attention agrees with PyTorch, plain, padded, causal and with weights per head") {
  for (const std::string tag : {"plain", "padding", "causal", "heads"}) {
    const NamedTensors arrays = golden_arrays("mha_self_" + tag);
    const auto mha = with_values(MultiHeadAttention(8, 2), arrays);
    const NamedTensors in = leaves(arrays, {"x"});
    const Tensor& x = in[0].second;
    const Mask mask = tag == "padding" ? padded_5() : Mask{};
    const Attended y = mha.with_weights(x, x, x, mask, tag == "causal", tag != "heads");
    check_gradients("mha_self_" + tag, arrays, mha, in, {y.output, y.weights});
    check_close("without weights, " + tag, mha(x, mask, tag == "causal"), y.output, tight);
  }
}

TEST_CASE("Cross-attention with key and value widths of its own agrees with PyTorch") {
  const NamedTensors arrays = golden_arrays("mha_cross_kdim");
  const auto mha = with_values(MultiHeadAttention(8, 4, {.kdim = 6, .vdim = 5}), arrays);
  const NamedTensors in = leaves(arrays, {"q", "k", "v"});
  const Attended y = mha.with_weights(in[0].second, in[1].second, in[2].second, padded_7(), false, true);
  check_gradients("mha_cross_kdim", arrays, mha, in, {y.output, y.weights});
  const Tensor plain = mha(in[0].second, in[1].second, in[2].second, padded_7());
  check_close("without weights", plain, y.output, tight);
}

TEST_CASE("Multi-head attention without biases agrees with PyTorch") {
  const NamedTensors arrays = golden_arrays("mha_nobias");
  const auto mha = with_values(MultiHeadAttention(8, 2, {.bias = false}), arrays);
  const NamedTensors in = leaves(arrays, {"x"});
  const Attended y = mha.with_weights(in[0].second, in[0].second, in[0].second, {}, false, true);
  check_gradients("mha_nobias", arrays, mha, in, {y.output, y.weights});
}

TEST_CASE("Encoder layers agree with PyTorch in both norm orders") {
  for (const Variant& v : variants()) {
    const NamedTensors arrays = golden_arrays("encoder_layer_" + v.name);
    const auto layer = with_values(EncoderLayer(v.options()), arrays);
    const NamedTensors in = leaves(arrays, {"x"});
    check_gradients("encoder_layer_" + v.name, arrays, layer, in, {layer(in[0].second, padded_5())});
  }
}

TEST_CASE("Decoder layers agree with PyTorch in both norm orders") {
  for (const Variant& v : variants()) {
    const NamedTensors arrays = golden_arrays("decoder_layer_" + v.name);
    const auto layer = with_values(DecoderLayer(v.options()), arrays);
    const NamedTensors in = leaves(arrays, {"x", "memory"});
    const Tensor y = layer(in[0].second, in[1].second, causal(), padded_7());
    check_gradients("decoder_layer_" + v.name, arrays, layer, in, {y});
  }
}

TEST_CASE("Transformers agree with PyTorch in both norm orders, with causal targets and padded sources") {
  for (const Variant& v : variants()) {
    const NamedTensors arrays = golden_arrays("transformer_" + v.name);
    const auto model = with_values(Transformer(v.options(), 2, 2), arrays);
    const NamedTensors in = leaves(arrays, {"source", "target"});
    const Tensor y =
        model(in[0].second, in[1].second, {.source = padded_7(), .target = causal(), .memory = padded_7()});
    check_gradients("transformer_" + v.name, arrays, model, in, {y});
  }
}

TEST_CASE("A file that PyTorch wrote loads into an encoder and gives PyTorch's outputs") {
  Encoder encoder({.embed = 8, .heads = 2, .feedforward = 16}, 2);
  load(encoder, test::golden("encoder_f32.safetensors"));
  eval(encoder);
  const NamedTensors arrays = golden_arrays("encoder_f32_io");
  check_close("encoder_f32", encoder(find(arrays, "x")), find(arrays, "out"), f32_stack);
}

TEST_CASE("Sinusoidal positions are those of the paper, for even and odd widths") {
  const NamedTensors arrays = golden_arrays("mech_positions");
  for (const std::int64_t width : {8, 7})
    check_close("positions", sinusoidal_positions(6, width, DType::f64), find(arrays, "pe" + std::to_string(width)),
                tight);
}

TEST_CASE("Ten AdamW steps of a GPT agree with PyTorch") {
  const NamedTensors arrays = golden_arrays("train_gpt");
  const auto model = with_values(GPT({.vocabulary = 11, .context = 8, .layers = 2, .heads = 2, .width = 8}), arrays);
  const NamedTensors parameters = named_parameters(model);
  AdamW optimizer(parameters, {.learning_rate = 3e-3, .beta2 = 0.99, .weight_decay = 0.1});
  const Tensor losses = find(arrays, "losses");
  for (std::int64_t t = 0; t < 10; ++t) {
    const Tensor batch = select(find(arrays, "data"), 0, t);
    const Tensor logits = model(slice(batch, 1, 0, 8));
    const Tensor loss = cross_entropy(logits, slice(batch, 1, 1, 9));
    zero_grad(model);
    backward(loss);
    CHECK(clip_by_norm(parameters, 1.0).finite());
    if (t == 0) {
      check_close("logits1", logits, find(arrays, "logits1"), tight);
      for (const auto& [name, p] : parameters)
        check_close("grad1 " + name, p.grad(), find(arrays, "grad1.param." + name), tight);
    }
    CHECK(loss.item() == doctest::Approx(losses.at({t})).epsilon(after_ten_steps));
    optimizer.step();
  }
  for (const auto& [name, p] : parameters)
    check_close("after " + name, p, find(arrays, "after.param." + name), after_ten_steps);
}

TEST_CASE("Ten Adam steps of an encoder-decoder agree with PyTorch") {
  const NamedTensors arrays = golden_arrays("train_transformer");
  const auto model = with_values(Seq2Seq({.source_vocabulary = 9,
                                          .target_vocabulary = 9,
                                          .layer = {.embed = 8, .heads = 2, .feedforward = 16, .dropout = 0},
                                          .encoder_layers = 1,
                                          .decoder_layers = 1,
                                          .positions = Positions::none,
                                          .scale_embedding = false,
                                          .padding = 0}),
                                 arrays);
  const NamedTensors parameters = named_parameters(model);
  Adam optimizer(parameters, {.learning_rate = 1e-2, .beta2 = 0.98, .eps = 1e-9});
  const Tensor losses = find(arrays, "losses");
  for (std::int64_t t = 0; t < 10; ++t) {
    const auto batch = [&](const char* name) { return select(find(arrays, name), 0, t); };
    const Tensor logits = model(batch("source"), batch("target_in"));
    const Tensor loss = cross_entropy(logits, batch("target_out"), {}, 0.1, 0);
    zero_grad(model);
    backward(loss);
    CHECK(loss.item() == doctest::Approx(losses.at({t})).epsilon(after_ten_steps));
    optimizer.step();
  }
  for (const auto& [name, p] : parameters)
    check_close("after " + name, p, find(arrays, "after.param." + name), after_ten_steps);
}
