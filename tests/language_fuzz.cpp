// Looks for a text that crashes, hangs or escapes the expression language: programs drawn from the grammar, and their
// mutations byte by byte. `gradus-language-fuzz SECONDS [SEED]`; every text is the same for the same seed.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "core/grad.hpp"
#include "core/registry.hpp"
#include "ops/ops.hpp"
#include "study/builders.hpp"
#include "study/jacobian.hpp"
#include "study/language.hpp"

namespace {

using namespace gradus;
using Clock = std::chrono::steady_clock;

/// Calls of every op on its own samples: their tensors are variables t0, t1, ... of the scope.
struct SampleCalls {
  std::vector<std::string> calls;
  std::vector<Tensor> tensors;

  SampleCalls() {
    for (const OpEntry* op : all_ops()) {
      Samples samples;
      op->samples(samples);
      for (const Sample& sample : samples.good()) {
        std::string call;
        for (const Value& v : sample.arguments) call += (call.empty() ? "" : ", ") + written(v);
        calls.push_back(op->name() + "(" + call + ")");
      }
    }
  }

 private:
  std::string written(const Value& v) {
    if (const auto* list = v.get_if<Value::List>()) {
      std::string items;
      for (const Value& item : *list) items += written(item) + ", ";
      return "[" + items + "]";
    }
    const auto* const t = v.get_if<Tensor>();
    if (!t || !t->defined()) return to_string(v);
    tensors.push_back(is_floating(t->dtype()) ? t->detach().requires_grad(true) : *t);
    return fmt::format("t{}", tensors.size() - 1);
  }
};

const SampleCalls& sample_calls() {
  static const SampleCalls made;
  return made;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Draws programs.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    std::string text;
    for (int statements = below(4) + 1; statements > 0; --statements) {
      if (below(3)) text += pick(names) + std::string(" = ");
      text += expression(below(5));
      text += below(4) ? "; " : "\n";
    }
    return text;
  }

  /// A few bytes or words of the text deleted, doubled, replaced or exchanged.
  std::string mutated(std::string text) {
    for (int times = below(4) + 1; times > 0 && !text.empty(); --times) {
      const std::size_t at = position(text.size()), size = std::min(position(8) + 1, text.size() - at);
      switch (below(6)) {
        case 0: text.erase(at, size); break;
        case 1: text.insert(at, text.substr(position(text.size()), size)); break;
        case 2: text[at] = static_cast<char>(below(256)); break;
        case 3: text.insert(at, pick(words)); break;
        case 4: text.replace(at, size, pick(words)); break;
        case 5: text.insert(at, std::string(position(40), "([-{~\"x "[below(8)])); break;
      }
    }
    return text;
  }

  int below(int n) { return static_cast<int>(random_.integer(0, n)); }

 private:
  std::size_t position(std::size_t n) { return static_cast<std::size_t>(below(static_cast<int>(n))); }

  template <std::size_t n>
  const char* pick(const char* const (&list)[n]) {
    return list[position(n)];
  }

  std::string expression(int depth) {
    if (depth == 0) return below(2) ? pick(names) : pick(literals);
    switch (below(12)) {
      case 9:
      case 10:
      case 11: return sample_calls().calls[position(sample_calls().calls.size())];
      case 0: return pick(signs) + expression(depth - 1);
      case 1: return "(" + expression(depth - 1) + ")";
      case 2: return "[" + expression(depth - 1) + ", " + expression(depth - 1) + "]";
      case 3: return expression(depth - 1) + ".T";
      case 4: return expression(depth - 1) + "[" + index() + "]";
      case 5:
      case 6: return call(depth - 1);
      default: return expression(depth - 1) + " " + pick(operators) + " " + expression(depth - 1);
    }
  }

  std::string index() {
    std::string text;
    for (int items = below(3) + 1; items > 0; --items) text += pick(indices) + std::string(items > 1 ? ", " : "");
    return text;
  }

  std::string call(int depth) {
    const auto& makers = study::builders();
    if (below(5) == 0)
      return std::string(makers[position(makers.size())].name) + "(" + expression(0) + ", " + expression(0) + ")";
    static const std::vector<const OpEntry*> ops = all_ops();
    const OpEntry& op = *ops[position(ops.size())];
    std::string text = op.name() + "(";
    for (std::size_t i = 0; i < op.params.size(); ++i) {
      const Param& p = op.params[i];
      if (!p.required && below(2)) break;
      if (i) text += ", ";
      if (below(5) == 0) text += std::string(p.name) + "=";
      text += p.tensor || p.number ? expression(depth) : below(3) ? pick(literals) : expression(0);
    }
    return text + ")";
  }

  static constexpr const char* names[] = {"A", "B", "v", "s", "i", "b", "m", "t", "pi", "n", "Q"};
  static constexpr const char* literals[] = {"0",           "1",
                                             "2",           "-1",
                                             "3",           "0.5",
                                             "1e-3",        "1e300",
                                             "2 ** 62",     "10 ** 9",
                                             "inf",         "nan",
                                             "-2",          "True",
                                             "False",       "None",
                                             "'mean'",      "\"f64\"",
                                             "[0, 1]",      "[1, 2]",
                                             "[]",          "[[1, 2], [3]]",
                                             "[[0.5, -2]]", "'ij,jk->ik'",
                                             "[2, -1]",     "()",
                                             "[1, 0, 2]",   "causal()",
                                             "'halves'",    "-9223372036854775807"};
  static constexpr const char* signs[] = {"-", "+", "~"};
  static constexpr const char* operators[] = {"+", "-", "*", "/", "@", "**", "==", "<", ">=", "!=", "&", "|", "<", "*"};
  static constexpr const char* indices[] = {":",    "0",   "-1",      "1:",      "::2",     ":-1", "...",
                                            "None", "0:2", "2 ** 62", "::-1",    "i",       "v",   "1.5",
                                            "5",    "n:",  "-9:9",    ":10**18", "::2**62", "[0]"};
  static constexpr const char* words[] = {
      "**",  "T",  ".T",   "[:, None]", "(",     ")",    "]",    "[",  ";",       "\n",   "#", "'",     "\"",
      "...", "==", "=",    ",",         "&",     "|",    "~",    "@",  "1e999",   "True", "9", "\0",    "\xff",
      "é",   "×",  "\r\n", "\t",        "axis=", "sum(", "None", "- ", "2 ** 63", "nan",  "A", "randn("};

  Generator random_;
};

study::Scope scope() {
  study::Scope s;
  const auto leaf = [](const Shape& shape) { return randn(shape, DType::f64).requires_grad(true); };
  s.set("A", leaf({2, 3}));
  s.set("B", leaf({3, 2}));
  s.set("v", leaf({3}));
  s.set("s", leaf({}));
  s.set("i", indices({1, 0, 2}));
  s.set("b", ones({2, 3}, DType::b8));
  s.set("m", causal());
  s.set("t", leaf({2, 2, 3, 3}));
  int number = 0;
  for (const Tensor& sample : sample_calls().tensors) s.set(fmt::format("t{}", number++), sample);
  s.set("n", 3);
  return s;
}

long programs = 0;  // texts that have a value

/// What is wrong with how the language treats the text; empty when nothing is.
std::string fault_of(const std::string& text) {
  static const study::Scope before = scope();
  study::Scope variables = before;
  try {
    const Value value = study::evaluate(text, variables);
    study::assigned_names(text);
    to_string(value);
    ++programs;
    const auto* const y = value.get_if<Tensor>();
    if (y && y->defined() && y->numel() < 10000) to_string(*y);
    if (y && y->defined() && y->requires_grad() && y->numel() < 10000) {
      try {
        backward(*y, {.retain = false, .seed = ones_like(*y)});
        if (text.size() % 8 == 0 && y->numel() < 100) study::jacobian(text, before, "A");
      } catch (const Error&) {}  // no rule, no path: the gradient's own business
    }
  } catch (const study::LanguageError& error) {
    const std::string what = error.what();
    if (what.find('\n') != std::string::npos) return "the message has several lines";
    if (what.rfind("column ", 0) != 0 && what.rfind("line ", 0) != 0) return "the message has no place: " + what;
    const std::size_t end = error.excerpt().find('\n');
    if (end == std::string::npos || error.excerpt().back() != '\n' ||
        error.excerpt().find('^', end) + 2 != error.excerpt().size())
      return "the excerpt has no caret";
  } catch (const std::exception& error) { return fmt::format("another exception: {}", error.what()); }
  return "";
}

/// The pieces that remain when no byte range can be dropped without losing the fault.
std::string shrunk(std::string text) {
  for (std::size_t size = text.size() / 2; size > 0; size /= 2)
    for (std::size_t at = 0; at + size <= text.size();) {
      std::string shorter = text;
      shorter.erase(at, size);
      if (!fault_of(shorter).empty()) text = shorter;
      else at += size;
    }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 5;
  const std::uint64_t start_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
#ifndef __SANITIZE_ADDRESS__
  const rlimit two_gigabytes{std::uint64_t{2} << 30, std::uint64_t{2} << 30};  // larger tensors are a clean error
  setrlimit(RLIMIT_AS, &two_gigabytes);
#endif
  const bool verbose = std::getenv("FUZZ_VERBOSE") != nullptr;
  const Clock::time_point start = Clock::now();
  Writer writer(start_seed);
  long count = 0;
  double slowest = 0;
  std::string text, slowest_text;
  for (; seconds_since(start) < budget; ++count) {
    text = writer.program();
    if (writer.below(2)) text = writer.mutated(text);
    if (verbose) std::fprintf(stderr, "%s\n----\n", text.c_str());
    seed(0);
    const Clock::time_point before = Clock::now();
    const std::string fault = fault_of(text);
    if (!fault.empty()) {
      std::printf("%s, in the text:\n%s\nshrunk:\n%s\n", fault.c_str(), text.c_str(), shrunk(text).c_str());
      return 1;
    }
    if (const double took = seconds_since(before); took > slowest) slowest = took, slowest_text = text;
  }
  std::printf("%ld texts, %ld with a value; the slowest took %.2f s: %s\n", count, programs, slowest,
              slowest_text.c_str());
  return slowest < 30 ? 0 : 1;
}
