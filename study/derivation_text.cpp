#include "study/derivation_text.hpp"

#include <algorithm>

#include "core/op.hpp"
#include "draw/formula.hpp"
#include "draw/text.hpp"

namespace gradus::study {
namespace {

std::string shape_of(const Tensor& x) { return fmt::format("{}", x.shape()); }

std::string indented(const std::string& text, int by) {
  std::string out, space(static_cast<std::size_t>(by), ' ');
  bool fresh = true;
  for (const char c : text) {
    if (fresh) out += space;
    out += c;
    fresh = c == '\n';
  }
  return out;
}

// The numbers alone: everything in a derivation is f64.
std::string numbers(const Tensor& x) {
  std::string text = to_string(x);
  const std::string dtype = " (f64)";
  return text.ends_with(dtype) ? text.substr(0, text.size() - dtype.size()) : text;
}

// Ȳ = ... as the op's words say it, with what the op does in front.
std::string general_rule(const OpInfo& info, const std::string& rule) {
  std::string math = info.math;
  if (const auto end = math.find('\n'); end != std::string::npos) math.resize(end);
  return fmt::format("{}  ⇒  {}", draw::formula_to_unicode(math), draw::formula_to_unicode(rule));
}

class Writer {
 public:
  Writer(const Derivation& d, const TextOptions& options) : d_(d), options_(options) {
    for (const ForwardStep& s : d.forward) widest_ = std::max(widest_, draw::display_width(s.line));
    for (const BackwardStep& s : d.backward) widest_ = std::max(widest_, draw::display_width(s.line));
    widest_ = std::min(widest_, std::max(options.columns - 42, 24));
  }

  std::string all() {
    given();
    heading(Word::forward, say(Word::forward));
    for (const ForwardStep& step : d_.forward) forward(step);
    heading(Word::backward, backward_title());
    const BackwardStep* last = nullptr;
    for (const BackwardStep& step : d_.backward) {
      if (!last || last->through != step.through || last->kind == BackwardStep::Kind::total) op_line(step);
      backward(step);
      last = &step;
    }
    text_ += "\n" + verdict_of_all() + "\n";
    return std::move(text_);
  }

 private:
  std::string say(Word w) const { return word(options_.language, w); }
  void heading(Word, const std::string& title) { text_ += (text_.empty() ? "" : "\n") + title + "\n"; }

  std::string backward_title() const {
    const std::string& result = d_.quantities[static_cast<std::size_t>(d_.result)].name;
    const bool is_one = d_.backward[0].term->name.empty();
    return fmt::format("{}: d_x = ∂({}) / ∂x", say(Word::backward),
                       is_one ? result : fmt::format("Σ {} ⊙ cotangent", result));
  }

  void given() {
    heading(Word::given, say(Word::given));
    int width = 9;
    for (const Quantity& q : d_.quantities)
      if (q.made_by < 0) width = std::max(width, draw::display_width(q.name));
    const auto line = [&](const std::string& name, const Tensor& x, const std::string& role) {
      text_ += fmt::format("      {}  {:<12} {}\n", draw::padded(name, width), shape_of(x), role);
      if (options_.values) text_ += indented(numbers(x), 10) + "\n";
    };
    for (const Quantity& q : d_.quantities)
      if (q.made_by < 0) line(q.name, q.value, say(word_of(q.role)));
    if (!d_.backward.empty() && d_.backward[0].term->name == "cotangent")
      line("cotangent", d_.cotangent,
           d_.cotangent_drawn ? study::say(options_.language, Word::cotangent_drawn, result_name())
                              : say(Word::cotangent));
  }
  const std::string& result_name() const { return d_.quantities[static_cast<std::size_t>(d_.result)].name; }

  void forward(const ForwardStep& step) {
    const Quantity& q = d_.quantities[static_cast<std::size_t>(step.output)];
    text_ += fmt::format("{:>4}  {}  {:<12} {}  {}\n", step.number, draw::padded(step.line, widest_), shape_of(q.value),
                         step.op->info().name, q.role == Role::result ? "(" + say(Word::result) + ")" : "");
    while (text_[text_.size() - 2] == ' ') text_.erase(text_.size() - 2, 1);
    if (options_.values) text_ += indented(numbers(q.value), 10) + "\n";
  }

  // What the lines below it reverse.
  void op_line(const BackwardStep& step) {
    if (step.through < 0) return;
    const ForwardStep& f = d_.forward[static_cast<std::size_t>(step.through)];
    text_ += fmt::format("      {}\n", f.line);
  }

  void backward(const BackwardStep& step) {
    text_ += fmt::format("{:>4}  {}  {:<12} {}\n", step.number, draw::padded(step.line, widest_), shape_of(step.value),
                         mark(step));
    if (!step.rule.empty()) {
      const ForwardStep& f = d_.forward[static_cast<std::size_t>(step.through)];
      text_ += fmt::format("          {}: {}\n", f.op->info().name, general_rule(f.op->info(), step.rule));
    }
    if (step.kind == BackwardStep::Kind::part)
      text_ += fmt::format("          {}: {}\n", say(Word::part_step), via(step));
    if (step.kind == BackwardStep::Kind::total && !step.parts.empty()) {
      std::string paths;
      for (const int i : step.parts)
        paths += (paths.empty() ? "" : ", ") + via(d_.backward[static_cast<std::size_t>(i)]);
      text_ += fmt::format("          {}: {}\n", say(Word::sum_over_paths), paths);
    }
    if (options_.values) text_ += indented(numbers(step.value), 10) + "\n";
  }

  std::string via(const BackwardStep& part) const {
    const ForwardStep& f = d_.forward[static_cast<std::size_t>(part.through)];
    return say(Word::via) + " " + d_.quantities[static_cast<std::size_t>(f.output)].name;
  }

  std::string mark(const BackwardStep& step) const {
    if (step.verdict.how.empty()) return "";
    return fmt::format("{} {:.1e}  {}", step.verdict.ok ? "✓" : "✗", step.verdict.difference,
                       say_how(options_.language, step.verdict.how));
  }

  std::string verdict_of_all() const {
    if (d_.backward[0].verdict.how.empty()) return say(Word::none_checked);
    double worst = 0;
    for (const BackwardStep& s : d_.backward) worst = std::max(worst, s.verdict.ok ? s.verdict.difference : 0);
    const int crosses = d_.crosses();
    if (crosses == 0) return fmt::format("✓ {} ({} ≤ {:.1e})", say(Word::all_agree), say(Word::difference), worst);
    return "✗ " + (crosses == 1 ? say(Word::one_disagrees)
                                : study::say(options_.language, Word::some_disagree, fmt::format("{}", crosses)));
  }

  const Derivation& d_;
  const TextOptions& options_;
  int widest_ = 24;
  std::string text_;
};

}  // namespace

std::string to_text(const Derivation& derivation, const TextOptions& options) {
  return Writer(derivation, options).all();
}

}  // namespace gradus::study
