// Every op against PyTorch 2.13.0 (tests/golden/*.npz): results, gradients, second order. An op that is not registered
// fails its case.
#include "core/arrays.hpp"
#include "core/grad.hpp"
#include "core/registry.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include "tests/paths.hpp"

using namespace gradus;

namespace {

using Arrays = std::map<std::string, Tensor>;
using Results = std::vector<Tensor>;

struct Case {
  std::string file;
  std::function<Results(const Arrays&)> f;
  // Relative to max(1, largest magnitude). f64: both sides round in another order. f32: not compared where 0.
  double f64_tolerance = 1e-10, f32_tolerance = 1e-5;
};

Tensor call(std::string_view name, std::vector<Value> arguments) {
  const OpEntry* const op = find_op(name);
  if (!op) fail("no op is named {}", name);
  return op->call(std::move(arguments));
}

// A string that begins with $ names an array of the file.
std::vector<Value> filled_in(const std::vector<Value>& arguments, const Arrays& arrays) {
  std::vector<Value> values = arguments;
  for (Value& v : values)
    if (const auto* s = v.get_if<std::string>(); s && s->starts_with("$")) v = Value(arrays.at(s->substr(1)));
  return values;
}

// One op, and for the ops that PyTorch computes in pairs (values and indices) a second one.
Case op(std::string file, std::string name, std::vector<Value> arguments, std::string second = "") {
  return {std::move(file), [=](const Arrays& arrays) {
            Results results{call(name, filled_in(arguments, arrays))};
            if (!second.empty()) results.push_back(call(second, filled_in(arguments, arrays)));
            return results;
          }};
}

// ---- the comparison

void check_close(const std::string& what, const Tensor& found, const Tensor& expected, double tolerance) {
  INFO(what);
  REQUIRE(found.defined());
  REQUIRE(to_string(found.shape()) == to_string(expected.shape()));
  const std::vector<double> u = found.to_vector<double>(), v = expected.to_vector<double>();
  double scale = 1, largest = 0;
  for (const double x : v) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double error = std::abs(u[i] - v[i]);
    largest = std::isnan(error) ? error : std::max(largest, error);
  }
  CHECK_MESSAGE(largest <= tolerance * scale, what << " is off by " << largest << ", scale " << scale);
}

bool has(const Arrays& arrays, const std::string& name) { return arrays.find(name) != arrays.end(); }

// Inputs as leaves of `dtype`; everything else as it is.
Arrays prepared(const Arrays& file, DType dtype) {
  Arrays arrays;
  for (const auto& [name, t] : file) {
    Tensor x = t;
    if (is_floating(t.dtype()) && dtype != t.dtype()) x = tensor(t.to_vector<double>(), t.shape(), dtype);
    if (has(file, "grad_" + name)) x.requires_grad(true);
    arrays[name] = x;
  }
  return arrays;
}

struct Inputs {
  std::vector<std::string> names;
  Results leaves;
};
Inputs inputs_of(const Arrays& arrays) {
  Inputs inputs;
  for (const auto& [name, t] : arrays)
    if (has(arrays, "grad_" + name)) inputs.names.push_back(name), inputs.leaves.push_back(t);
  return inputs;
}

// The gradient of sum(g_i * dir_i), which is a sum of one pass for each i.
void check_second_order(const Arrays& arrays, const Inputs& inputs, const Results& gradients, double tolerance) {
  for (std::size_t j = 0; j < inputs.names.size(); ++j) {
    std::vector<double> total(static_cast<std::size_t>(inputs.leaves[j].numel()));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!has(arrays, "dir_" + inputs.names[i]) || !gradients[i].requires_grad()) continue;
      const std::vector<double> part =
          grad(gradients[i], inputs.leaves[j], arrays.at("dir_" + inputs.names[i])).to_vector<double>();
      for (std::size_t k = 0; k < part.size(); ++k) total[k] += part[k];
    }
    const std::string name = "hvp_" + inputs.names[j];
    check_close(name, tensor(total, inputs.leaves[j].shape(), DType::f64), arrays.at(name), tolerance);
  }
}

void check(const Case& c, const Arrays& file, DType dtype, double tolerance) {
  const Arrays arrays = prepared(file, dtype);
  const Inputs inputs = inputs_of(arrays);
  const Results out = c.f(arrays);
  check_close("out", out[0], arrays.at("out"), tolerance);
  if (has(arrays, "out2")) check_close("out2", out.at(1), arrays.at("out2"), 0);
  const bool second = dtype == DType::f64 && has(arrays, "hvp_" + inputs.names[0]);
  for (const bool graph : {false, true}) {
    const Results gradients = grad(out[0], inputs.leaves, arrays.at("cot"), {.create_graph = graph});
    for (std::size_t i = 0; i < gradients.size(); ++i)
      check_close("grad_" + inputs.names[i], gradients[i], arrays.at("grad_" + inputs.names[i]), tolerance);
    if (graph && second) check_second_order(arrays, inputs, gradients, tolerance);
  }
}

void run(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.file);
    try {
      Arrays file;
      const auto path = std::filesystem::path(gradus_test::test_dir()) / "golden" / (c.file + ".npz");
      for (const auto& [name, t] : load_npz(path)) file[name] = t;
      check(c, file, DType::f64, c.f64_tolerance);
      if (c.f32_tolerance > 0) check(c, file, DType::f32, c.f32_tolerance);
    } catch (const Error& e) { FAIL_CHECK(e.what()); }
  }
}

}  // namespace

TEST_CASE("elementwise ops have PyTorch's values, gradients and second derivatives") {
  std::vector<Case> cases;
  for (const char* name : {"exp", "tanh", "sigmoid", "relu", "leaky_relu", "elu", "gelu", "gelu_tanh", "silu",
                           "softplus", "sin", "cos", "abs", "log", "sqrt", "rsqrt"})
    cases.push_back(op(fmt::format("op_{}", name), name, {"$x"}));
  cases.push_back(op("op_clamp", "clamp", {"$x", -0.5, 0.7}));
  cases.push_back(op("op_pow_2_5", "pow", {"$x", 2.5}));
  cases.push_back(op("op_pow_tensor", "pow", {"$x", "$y"}));
  cases.push_back(
      {"op_broadcast", [](const Arrays& t) {
         return Results{call("add", {call("mul", {t.at("a"), t.at("b")}), call("div", {t.at("c"), t.at("d")})})};
       }});
  run(cases);
}

TEST_CASE("reductions and scans have PyTorch's values, gradients and second derivatives") {
  std::vector<Case> cases{op("op_logsumexp", "logsumexp", {"$x", 1}),
                          op("op_cumsum", "cumsum", {"$x", 1}),
                          op("op_prod_zeros", "prod", {"$x", 1}),
                          op("op_norm_1.0", "norm", {"$x", 1.0, -1}),
                          op("op_norm_2.0", "norm", {"$x", 2.0, -1}),
                          op("op_norm_3.0", "norm", {"$x", 3.0, -1}),
                          op("op_norm_inf", "norm", {"$x", INFINITY, -1}),
                          op("op_var_correction0", "var", {"$x", Axes{0, 2}, 0}),
                          op("op_var_correction1", "var", {"$x", Axes{0, 2}, 1}),
                          op("op_std", "std", {"$x", -1}),
                          op("op_max_axis", "max", {"$x", 1}, "argmax"),
                          op("op_topk", "topk", {"$x", 3}, "argtopk"),
                          op("op_sort", "sort", {"$x", -1, true}, "argsort")};
  for (const int axis : {0, 1, 2})
    for (const char* name : {"softmax", "log_softmax"})
      cases.push_back(op(fmt::format("op_{}_axis{}", name, axis), name, {"$x", axis}));
  run(cases);
}

TEST_CASE("indexing ops have PyTorch's values and gradients") {
  run({op("op_gather", "gather", {"$x", "$index", 1}), op("op_scatter_add", "scatter_add", {"$x", "$index", "$src", 1}),
       op("op_index_select", "index_select", {"$x", "$index", 1}),
       op("op_embedding_padding", "embedding", {"$weight", "$index", 2})});
}

TEST_CASE("products have PyTorch's values, gradients and second derivatives") {
  std::vector<Case> cases{op("op_matmul_batched", "matmul", {"$a", "$b"}), op("op_matmul_vec", "matmul", {"$a", "$b"}),
                          op("op_linear", "linear", {"$input", "$weight", "$bias"})};
  const std::pair<const char*, const char*> equations[] = {{"nqhd_nkhd_to_nhqk", "nqhd,nkhd->nhqk"},
                                                           {"nhqk_nkhd_to_nqhd", "nhqk,nkhd->nqhd"},
                                                           {"ii_to_i", "ii->i"},
                                                           {"bij_bjk_to_ik", "bij,bjk->ik"},
                                                           {"i_j_to_ij", "i,j->ij"},
                                                           {"dots_ij_dots_jk_to_dots_ik", "...ij,...jk->...ik"},
                                                           {"abc_to_", "abc->"},
                                                           {"ab_ab_b_to_a", "ab,ab,b->a"}};
  for (const auto& [file, equation] : equations) {
    std::vector<Value> arguments{equation};
    const std::string_view text = equation;
    for (std::ptrdiff_t i = 0; i <= std::count(text.begin(), text.end(), ','); ++i)
      arguments.emplace_back(fmt::format("$x{}", i));
    cases.push_back(op(fmt::format("op_einsum_{}", file), "einsum", arguments));
  }
  run(cases);
}

TEST_CASE("normalisations have PyTorch's values, gradients and second derivatives") {
  Case offset = op("op_layer_norm_offset", "layer_norm", {"$x", "$weight", "$bias"});
  offset.f64_tolerance = 1e-8;  // PyTorch's own rounding there is 1.1e-10
  offset.f32_tolerance = 0;     // rows near 1e4 that differ by 0.01: f32 does not hold them
  run({op("op_layer_norm", "layer_norm", {"$x", "$weight", "$bias", 1e-5}), offset,
       op("op_rms_norm", "rms_norm", {"$x", "$weight", 1e-5})});
}

TEST_CASE("losses have PyTorch's values, gradients and second derivatives in every reduction") {
  std::vector<Case> cases{op("op_cross_entropy_sequence", "cross_entropy", {"$logits", "$target"})};
  const auto add = [&](const char* name, std::vector<Value> arguments, const char* reduction) {
    arguments.emplace_back(reduction);
    const std::string_view tag = name;
    cases.push_back(op(fmt::format("op_{}_{}", tag, reduction),
                       tag.starts_with("cross_entropy") ? "cross_entropy" : name, std::move(arguments)));
  };
  for (const char* reduction : {"none", "mean", "sum"}) {
    add("cross_entropy_plain", {"$logits", "$target", None, 0.0, -100}, reduction);
    add("cross_entropy_weight", {"$logits", "$target", "$class_weight", 0.0, -100}, reduction);
    add("cross_entropy_smooth", {"$logits", "$target", None, 0.1, -100}, reduction);
    add("cross_entropy_ignore", {"$logits", "$target", None, 0.0, -100}, reduction);
    add("cross_entropy_all", {"$logits", "$target", "$class_weight", 0.2, -100}, reduction);
    add("mse", {"$input", "$other"}, reduction);
    add("l1", {"$input", "$other"}, reduction);
    cases.push_back(op(fmt::format("op_huber_0_7_{}", reduction), "huber", {"$input", "$other", 0.7, reduction}));
    cases.push_back(
        {fmt::format("op_bce_with_logits_{}", reduction), [=](const Arrays& t) {
           return Results{call("bce_with_logits", {t.at("input"), call("sigmoid", {t.at("other")}), reduction})};
         }});
    cases.push_back({fmt::format("op_kl_div_{}", reduction), [=](const Arrays& t) {
                       return Results{call("kl_div", {call("log_softmax", {t.at("input")}),
                                                      call("softmax", {t.at("other")}), false, reduction})};
                     }});
  }
  run(cases);
}

TEST_CASE("nll of log_softmax is PyTorch's cross_entropy") {
  std::vector<Case> cases;
  for (const char* reduction : {"none", "mean", "sum"})
    for (const char* tag : {"plain", "weight", "ignore"}) {
      const bool weighted = std::string_view(tag) == "weight";
      cases.push_back({fmt::format("op_cross_entropy_{}_{}", tag, reduction), [=](const Arrays& t) {
                         const Value weight = weighted ? Value(t.at("class_weight")) : None;
                         return Results{call(
                             "nll", {call("log_softmax", {t.at("logits")}), t.at("target"), weight, -100, reduction})};
                       }});
    }
  run(cases);
}

TEST_CASE("attention has PyTorch's values, gradients and second derivatives") {
  Tensor lower({4, 4}, DType::b8);  // row 2 allows nothing
  for (std::int64_t i = 0; i < 16; ++i) lower.fresh_data<bool>()[i] = i % 4 <= i / 4 && i / 4 != 2;
  run({op("attention_plain", "attention", {"$q", "$k", "$v"}),
       op("attention_keep", "attention", {"$q", "$k", "$v", "$keep"}),
       op("attention_bias", "attention", {"$q", "$k", "$v", None, "$bias"}),
       op("attention_scale", "attention", {"$q", "$k", "$v", None, None, false, 0.3}),
       op("attention_causal", "attention", {"$q", "$k", "$v", None, None, true}),
       op("attention_grouped", "attention", {"$q", "$k", "$v"}),
       op("attention_long", "attention", {"$q", "$k", "$v", None, None, true}),
       op("attention_empty_row", "attention", {"$q", "$k", "$v", Value(lower)})});
}

TEST_CASE("attention weights times values are PyTorch's attention") {
  const auto weighted = [](std::vector<Value> rest) {
    return [=](const Arrays& t) {
      std::vector<Value> arguments{t.at("q"), t.at("k")};
      for (const Value& v : filled_in(rest, t)) arguments.push_back(v);
      return Results{call("matmul", {call("attention_weights", arguments), t.at("v")})};
    };
  };
  run({{"attention_plain", weighted({})},
       {"attention_keep", weighted({"$keep"})},
       {"attention_bias", weighted({None, "$bias"})},
       {"attention_scale", weighted({None, None, false, 0.3})},
       {"attention_causal", weighted({None, None, true})}});
}
