// Modules: what the parts line gives, files, initialisation, the small modules.
#include "nn/embedding.hpp"
#include "nn/mlp.hpp"
#include "nn/rms_norm.hpp"
#include "nn/sequential.hpp"
#include "tests/file_helpers.hpp"
#include "tests/nn_helpers.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus;
using namespace gradus::nn;
using namespace gradus::test;

namespace {

/// A module as a user writes it: a list, an optional part, a part used twice, a buffer.
struct Tied {
  Linear first{2, 3};
  std::vector<Linear> layers{Linear(3, 3), Linear(3, 3, false)};
  std::optional<LayerNorm> norm;
  Tensor shared;
  Tensor buffer = ones({2});
  bool training = true;
  Tied() { shared = first.weight; }
  void parts(auto&& f) {
    f("first", first);
    f("layers", layers);
    f("norm", norm);
    f("shared", shared);
    f("buffer", buffer);
  }
};

}  // namespace

// ---- the parts line

TEST_CASE("Parts are listed in order, a shared tensor once under its first name") {
  const Tied m;
  CHECK(names_of(named_parameters(m)) ==
        std::vector<std::string>{"first.weight", "first.bias", "layers.0.weight", "layers.0.bias", "layers.1.weight"});
  CHECK(names_of(named_tensors(m)).back() == "buffer");
  CHECK(parameters(m).size() == 5);
  CHECK(count(m) == 6 + 3 + 9 + 3 + 9);
}

TEST_CASE("A summary shows names, types, shapes and counts, and what is tied") {
  CHECK(summary(Tied()) ==
        "Tied                          32\n"
        "  first     Linear             9\n"
        "    weight  [3, 2]             6\n"
        "    bias    [3]                3\n"
        "  layers.0  Linear            12\n"
        "    weight  [3, 3]             9\n"
        "    bias    [3]                3\n"
        "  layers.1  Linear             9\n"
        "    weight  [3, 3]             9\n"
        "  shared    [3, 2]                is first.weight\n"
        "  buffer    [2]                2  buffer\n"
        "30 parameters and 2 elements of buffers in 6 tensors, 128 bytes\n");
  CHECK(contains(summary(Sequential(Linear(1000, 2000), relu)), "2,002,000"));
  CHECK(summary(Sequential(Linear(1, 1))).starts_with("Sequential "));
}

TEST_CASE("Train and eval reach every flag, and eval turns dropout off") {
  GPT m = tiny_gpt(0.5);
  const Tensor tokens = indices({1, 2, 3});
  CHECK(gap(m(tokens), m(tokens)) > 0);
  eval(m);
  CHECK(gap(m(tokens), m(tokens)) == 0);
  CHECK_FALSE(m.h[1].attn.dropout.training);
  train(m);
  CHECK(m.h[1].attn.dropout.training);
  Tied own;
  eval(own);
  CHECK_FALSE(own.training);
}

TEST_CASE("Dropout outside of training returns the same storage, and a wrong probability is an error") {
  Dropout drop(0.3);
  eval(drop);
  const Tensor x = randn({4});
  CHECK(drop(x).storage() == x.storage());
  CHECK(Dropout(0)(x).storage() == x.storage());
  CHECK(largest_of(Dropout(1)(x)) == 0);
  CHECK(contains(error_of([] { Dropout(-0.1); }), "probability -0.1 is not within [0, 1]"));
}

TEST_CASE("A copy shares parameters, a clone does not, and what was tied stays tied") {
  const Tied original;
  const Tied copy = original;
  Tied cloned = clone(original);
  CHECK(same_tensor(copy.first.weight, original.first.weight));
  CHECK_FALSE(same_tensor(cloned.first.weight, original.first.weight));
  CHECK(same_tensor(cloned.first.weight, cloned.shared));
  CHECK(cloned.first.weight.requires_grad());
  CHECK_FALSE(cloned.buffer.requires_grad());
  CHECK(gap(cloned.first.weight, original.first.weight) == 0);
  {
    const NoGrad guard;
    fill(cloned.first.weight, 7);
    fill(cloned.buffer, 7);
  }
  CHECK(largest_of(original.first.weight) < 1);
  CHECK(largest_of(original.buffer) == 1);
  backward(sum(cloned.first(ones({1, 2}))));
  CHECK_FALSE(original.first.weight.grad().defined());
}

TEST_CASE("Conversion to another dtype makes fresh leaves and keeps what is tied; the same dtype changes nothing") {
  Tied m;
  const Tied before = m;
  to(m, DType::f32);
  CHECK(same_tensor(m.first.weight, before.first.weight));
  to(m, DType::f64);
  CHECK(m.first.weight.dtype() == DType::f64);
  CHECK(m.buffer.dtype() == DType::f64);
  CHECK(same_tensor(m.first.weight, m.shared));
  CHECK(before.first.weight.dtype() == DType::f32);
  CHECK(parameters(m).size() == 5);
  CHECK(contains(error_of([&] { to(m, DType::i64); }), "to: dtype i64 is not floating"));
}

TEST_CASE("A frozen module has no parameters, and stays tied") {
  Tied m;
  freeze(m);
  CHECK(parameters(m).empty());
  CHECK(named_tensors(m).size() == 6);
  CHECK(same_tensor(m.first.weight, m.shared));
}

TEST_CASE("zero_grad leaves no gradient behind, not a zero one") {
  const Linear m(2, 3);
  backward(sum(m(ones({1, 2}))));
  CHECK(m.weight.grad().defined());
  zero_grad(m);
  CHECK_FALSE(m.weight.grad().defined());
}

// ---- files

TEST_CASE("Saving and loading brings the values back into the same leaves") {
  const Folder folder;
  Tied from, into;
  backward(sum(into.first(ones({1, 2}))));
  const Tensor leaf = into.first.weight;
  save(from, folder / "m.safetensors", {{"made by", "a test"}});
  load(into, folder / "m.safetensors");
  CHECK(same_tensor(leaf, into.first.weight));
  CHECK(leaf.grad().defined());
  for (const auto& [name, t] : named_tensors(from)) CHECK(gap(t, find(named_tensors(into), name)) == 0);
  CHECK(load_safetensors(folder / "m.safetensors").metadata.at("made by") == "a test");
}

TEST_CASE("A file of the other float type is converted") {
  Tied single, wide;
  to(wide, DType::f64);
  load(wide, named_tensors(single));
  CHECK(wide.first.weight.dtype() == DType::f64);
  CHECK(gap(wide.first.weight, single.first.weight) == 0);
}

TEST_CASE("What does not fit is one error with all three lists, and nothing is changed") {
  Tied m;
  const std::vector<double> before = m.first.weight.to_vector<double>();
  NamedTensors wrong{{"first.weight", zeros({3, 2})},    {"first.bias", zeros({4})},
                     {"layers.0.weight", zeros({3, 3})}, {"layers.1.weight", zeros({3, 3})},
                     {"surplus.weight", zeros({1})},     {"buffer", indices({1, 2})}};
  CHECK(error_of([&] { load(m, wrong); }) ==
        "load: the list of tensors does not fit the module; missing: layers.0.bias; extra: surplus.weight; wrong: "
        "first.bias is f32 [4] where the module has f32 [3], buffer is i64 [2] where the module has f32 [2]; build the "
        "module with the options it was saved with");
  CHECK(m.first.weight.to_vector<double>() == before);
}

TEST_CASE("A tied tensor loads under its first name, its second, or both, if they agree") {
  Tied m;
  NamedTensors file = named_tensors(m);
  const Tensor values = ones({3, 2});
  file.emplace_back("shared", values);
  CHECK(contains(error_of([&] { load(m, file); }), "tied, but with different values: shared and first.weight"));
  file.front().second = values;
  load(m, file);
  CHECK(gap(m.shared, values) == 0);
  file.erase(file.begin());
  file.back().second = values * 2;
  load(m, file);
  CHECK(gap(m.first.weight, values * 2) == 0);
}

// ---- small modules

TEST_CASE("A sequence takes modules and functions, and counts both in its names") {
  const Sequential m(Linear(2, 16), relu, Dropout(0), Linear(16, 1, false));
  CHECK(names_of(named_parameters(m)) == std::vector<std::string>{"0.weight", "0.bias", "3.weight"});
  const Tensor x = randn({5, 2});
  CHECK(gap(m(x), linear(relu(std::get<0>(m.layers)(x)), std::get<3>(m.layers).weight)) < 1e-6);
}

TEST_CASE("A multi-layer perceptron has an activation between its layers, none at the end") {
  const MLP m({2, 4, 3}, {.activation = Activation::silu});
  const Tensor x = randn({5, 2});
  CHECK(gap(m(x), m.layers[1](silu(m.layers[0](x)))) < 1e-6);
  CHECK(m(zeros({0, 2})).shape() == Shape{0, 3});
  CHECK(contains(error_of([] { MLP({3}); }), "MLP: 1 widths"));
}

TEST_CASE("Norms start as the identity on normalised rows") {
  const Tensor x = tensor({{0, 1, 2, 3}});
  CHECK(gap(LayerNorm(4)(x), tensor({{-1.341635, -0.447212, 0.447212, 1.341635}})) < 1e-6);
  CHECK(gap(LayerNorm(4, {.affine = false})(x), LayerNorm(4)(x)) == 0);
  CHECK(parameters(LayerNorm(4, {.bias = false})).size() == 1);
  CHECK(gap(RMSNorm(4)(x), x / std::sqrt(3.5 + 1e-5)) < 1e-6);
}

TEST_CASE("The padding row of an embedding is zero and gets no gradient") {
  const Embedding m(5, 3, -1);
  CHECK(m.padding_index == 4);
  CHECK(largest_of(m(indices({4}))) == 0);
  backward(sum(m(indices({4, 1, 1}))));
  CHECK(m.weight.grad().at({4, 0}) == 0);
  CHECK(m.weight.grad().at({1, 0}) == 2);
  CHECK(contains(error_of([] { Embedding(5, 3, 5); }), "padding index 5 is not one of 5 rows"));
}

TEST_CASE("Initial values are those that the documentation states, and the seed decides them") {
  seed(1);
  const Linear a(100, 50);
  seed(1);
  const Linear b(100, 50);
  CHECK(gap(a.weight, b.weight) == 0);
  CHECK(largest_of(a.weight) <= 0.1);
  CHECK(largest_of(a.weight) > 0.099);
  CHECK(largest_of(a.bias) <= 0.1);
  const MultiHeadAttention mha(48, 4);
  CHECK(largest_of(mha.in_proj_weight) <= std::sqrt(6.0 / (4 * 48)));
  CHECK(largest_of(mha.in_proj_weight) > 0.99 * std::sqrt(6.0 / (4 * 48)));
  CHECK(largest_of(mha.in_proj_bias) == 0);
  CHECK(largest_of(mha.out_proj.bias) == 0);
  // A standard deviation from n values is right within 3/sqrt(2n).
  const auto deviates = [](const Tensor& x, double expected) {
    return std::abs(gradus::std(x).item() / expected - 1) < 3 / std::sqrt(2.0 * static_cast<double>(x.numel()));
  };
  CHECK(deviates(Embedding(100, 50).weight, 1));
  const GPT gpt({.vocabulary = 50, .context = 40, .layers = 2, .heads = 2, .width = 32});
  CHECK(deviates(gpt.wte.weight, 0.02));
  CHECK(deviates(gpt.wpe.weight, 0.02));
  CHECK(deviates(gpt.h[0].attn.c_attn.weight, 0.02));
  CHECK(deviates(gpt.h[1].attn.c_proj.weight, 0.01));
  CHECK(deviates(gpt.h[1].mlp.c_proj.weight, 0.01));
}
