// gradus eval: the value of an expression, and gradients of it.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/values.hpp"
#include "core/arrays.hpp"
#include "core/grad.hpp"
#include "core/mask_shape.hpp"
#include "ops/ops.hpp"
#include "study/builders.hpp"

namespace gradus::cli {
namespace {

constexpr std::int64_t largest_grid = 10000;

struct Options {
  std::string program, out;
  Inputs inputs;
  std::vector<std::string> wanted;  // --grad
  bool json = false;
};

/// The value of a program and the tensors that gradients are asked of.
struct Evaluated {
  Value value;
  std::map<std::string, Tensor> leaves;
};

// An ambiguous name would give a gradient of something else than was meant.
void check_once(const std::string& name, const study::Scope& scope, const std::vector<std::string>& assigned) {
  const auto times = std::count(assigned.begin(), assigned.end(), name) + (scope.find(name) ? 1 : 0);
  if (times > 1)
    fail("--grad {0}: {0} gets {1} values one after the other; give each value a name of its own", name, times);
}

Evaluated run(const Options& o, study::Scope& scope) {
  Evaluated e;
  const std::string text = program_text(o.program);
  const std::vector<std::string> assigned = study::assigned_names(text);
  for (const std::string& name : o.wanted) {
    check_named("--grad", name, scope, assigned);
    check_once(name, scope, assigned);
    if (const Value* given = scope.find(name)) scope.set(name, e.leaves[name] = leaf_of(*given, name, scope.dtype));
  }
  // A value that nothing before it requires a gradient of becomes a leaf.
  scope.assigned = [&](const std::string& name, Value& value) {
    if (std::find(o.wanted.begin(), o.wanted.end(), name) == o.wanted.end()) return;
    const auto* const t = value.get_if<Tensor>();
    const Tensor x = t && t->requires_grad() ? *t : leaf_of(value, name, scope.dtype);
    e.leaves[name] = x;
    value = x;
  };
  e.value = study::evaluate(text, scope);
  scope.assigned = nullptr;
  return e;
}

/// The cotangent of the result: the variable of that name, or one for a single element.
Tensor cotangent_of(const Tensor& result, const study::Scope& scope) {
  if (const Value* given = scope.find("cotangent")) {
    const Tensor c = study::as_result(*given, "cotangent", result.dtype()).detach();
    if (c.dtype() != result.dtype())
      fail("cotangent: it is {} and the result {}; give both one dtype", c.dtype(), result.dtype());
    if (c.shape() != result.shape() && c.rank() > 0)
      fail("cotangent: shape {} for a result of shape {}; give one number for each element", c.shape(), result.shape());
    return expand(c, result.shape());
  }
  if (result.numel() != 1)
    fail("--grad: the result has shape {}; give an array named cotangent of that shape, or reduce it, as in sum(...)",
         result.shape());
  return full(result.shape(), 1, result.dtype());
}

NamedTensors gradients(const Options& o, const Evaluated& e, const Tensor& result, const study::Scope& scope) {
  NamedTensors named;
  if (o.wanted.empty()) return named;
  if (!is_floating(result.dtype()))
    fail("--grad: the result is {} and has no gradient; make it f64, as in where(result, 1, 0)", result.dtype());
  const Tensor cotangent = cotangent_of(result, scope);
  std::vector<Tensor> wrt;
  for (const std::string& name : o.wanted) wrt.push_back(e.leaves.at(name));
  std::vector<Tensor> found;
  if (result.requires_grad()) found = grad(result, wrt, cotangent);
  else
    for (const Tensor& x : wrt) found.push_back(zeros_like(x));
  for (std::size_t i = 0; i < wrt.size(); ++i) named.emplace_back(o.wanted[i], found[i].detach());
  return named;
}

// ---- output

// What it is made of, and which keys each query may attend to where its shape is known.
std::string mask_text(const Mask& mask) {
  const std::string words = to_string(mask) + "\n";
  const std::optional<Shape> shape = known_shape(mask);
  if (!shape || shape->numel() == 0 || shape->numel() > largest_grid) return words;
  try {
    return words + grid(mask, *shape);
  } catch (const Error&) { return words; }  // its parts fit each other only on larger scores
}

std::string text_of(const Value& value) {
  if (const auto* m = value.get_if<Mask>()) return mask_text(*m);
  if (const auto* t = value.get_if<Tensor>(); t && t->defined()) return numpy_text(*t) + "\n";
  if (const auto* s = value.get_if<std::string>()) return *s + "\n";
  return to_string(value) + "\n";
}

void print_as_json(const Tensor& result, const NamedTensors& grads) {
  Json all = Json::object();
  for (const auto& [name, g] : grads) all[name] = tensor_json(g);
  print_json({{"result", tensor_json(result)}, {"grads", std::move(all)}});
}

int eval(const Options& o) {
  study::Scope scope = scope_of(o.inputs);
  const Evaluated e = run(o, scope);
  NamedTensors grads;
  if (o.json || !o.out.empty() || !o.wanted.empty()) {
    const Tensor result = study::as_result(e.value, "result", scope.dtype);
    grads = gradients(o, e, result, scope);
    if (!o.out.empty()) {
      NamedTensors arrays{{"result", result.detach()}};
      for (const auto& [name, g] : grads) arrays.emplace_back("grad_" + name, g);
      save_npz(o.out, arrays);
    }
    if (o.json) {
      print_as_json(result, grads);
      return success;
    }
  }
  std::string text = text_of(e.value);
  for (const auto& [name, g] : grads) text += "\n" + titled_text("grad_" + name, g);
  print(text);
  return success;
}

// The functions that `gradus ops` does not list.
std::string builders_text() {
  std::size_t width = 0;
  for (const study::Builder& b : study::builders()) width = std::max(width, b.signature.size());
  std::string text = "Functions besides those of `gradus ops`:\n";
  for (const study::Builder& b : study::builders())
    text += fmt::format("  {:<{}}  {}\n", b.signature, width, b.description);
  return text;
}

Action add(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.footer(builders_text());
  add_program(app, o->program);
  add_inputs(app, o->inputs);
  app.add_option("--grad", o->wanted, "gradients of sum(result * cotangent) with respect to these")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--out", o->out, "writes result and grad_A for each A")->type_name("F.npz");
  app.add_flag("--json", o->json, "print {result, grads}, each {shape, dtype, values}");
  add_threads(app);
  return [o] { return eval(*o); };
}

const Registered registered({62, "eval", "the value of an expression, and its gradients", add});

}  // namespace
}  // namespace gradus::cli
