#include "study/document.hpp"

#include "study/latex_text.hpp"
#include "study/shown_part.hpp"
#include "study/step_view.hpp"

#include <cmath>

namespace gradus::study {

namespace {

constexpr std::int64_t most_rows = 8;  // of a matrix, so that its columns fit between the margins

// A formula is set as a paragraph, so that a long one breaks at its operators; its number stands at the right margin, on
// a line of its own where there is no room.
constexpr const char* macros = R"(\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\setlength{\emergencystretch}{3em}
\allowdisplaybreaks
\newcommand{\numbered}[2]{\par{\hangindent=2em\hangafter=1\raggedright$\displaystyle #2$%
  \unskip\nobreak\hfil\penalty50\hskip2em\hbox{}\nobreak\hfill(#1)\parfillskip=0pt\finalhyphendemerits=0\par}}
\newcommand{\plain}[1]{\par{\hangindent=2em\hangafter=1\raggedright$\displaystyle #1$\par}}
\newcommand{\lineofcode}[1]{\par{\hangindent=2em\hangafter=1\raggedright #1\par}}
\newcommand{\stepheading}[2]{\par\medskip\pagebreak[1]{\bfseries #1}\enspace #2\par\nopagebreak}
)";

class Document {
 public:
  Document(const Derivation& d, const PageOptions& options)
      : d_(d),
        places_(places_of(d)),
        options_(options),
        language_(options.language),
        engine_(options.language == Language::zh ? Engine::xelatex : Engine::pdflatex) {}

  std::string text() {
    preamble();
    given();
    const std::vector<StepView> steps = steps_of(d_, language_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i == 0 || steps[i].forward != steps[i - 1].forward)
        heading(steps[i].forward ? Word::forward : Word::backward);
      step(steps[i]);
    }
    return text_ + "\n\\end{document}\n";
  }

 private:
  template <class... A>
  void add(fmt::format_string<A...> format, A&&... arguments) {
    text_ += fmt::format(format, std::forward<A>(arguments)...);
  }
  void heading(Word what) { add("\n\\section*{{{}}}\n", word(language_, what)); }

  void preamble() {
    const bool chinese = language_ == Language::zh;
    const std::string title = options_.title.empty() ? title_of(d_, language_) : options_.title;
    add("% {}\n\\documentclass[11pt,a4paper]{{article}}\n",
        chinese ? "Compile with xelatex; needs the package ctex." : "Compile with pdflatex.");
    if (chinese) add("\\usepackage[UTF8]{{ctex}}\n");
    add("\\usepackage{{amsmath,amssymb}}\n\\usepackage[margin=25mm]{{geometry}}\n{}", macros);
    add("\n\\begin{{document}}\n{{\\LARGE\\raggedright {}\\par}}\n\\medskip\n", latex_text(title, engine_));
    const char* const mark = d_.crosses() > 0 ? "$\\times$ " : compared(d_) ? "$\\checkmark$ " : "";
    add("{}{}; {}.\n", mark, latex_text(verdict_sentence(d_, language_), engine_),
        latex_text(cotangent_sentence(d_, language_), engine_));
  }

  void given() {
    heading(Word::given);
    std::string_view rest = options_.program;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) add("\\lineofcode{{{}}}\n", latex_code(rest.substr(0, end), engine_));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const Quantity& q : d_.quantities) {
      if (q.made_by >= 0) continue;
      add("\\medskip\n\\lineofcode{{{}: ${}$, {} {}}}\n", word(language_, word_of(q.role)), latex_name(q.name),
          word(language_, Word::shape), to_string(q.value.shape()));
      matrices(q.name, q.value);
    }
  }

  void step(const StepView& step) {
    add("\n\\stepheading{{{}. ${}$}}{{{}}}\n", step.number, latex_name(step.name), latex_text(step.kind, engine_));
    if (!step.general.empty())
      add("\\plain{{\\text{{{}: }}{}}}\n", word(language_, Word::general_rule),
          lines(step.premise.empty() ? step.general : step.premise + " \\;\\Rightarrow\\; " + step.general));
    add("\\numbered{{{}}}{{{}}}\n", step.number, breakable(step.latex()));
    if (!step.line.empty()) add("\\lineofcode{{{}}}\n", latex_code(step.line, engine_));
    add("\\lineofcode{{{}}}\n", shapes(step));
    matrices(step.name, step.value);
    if (step.verdict)
      add("\\lineofcode{{{} {}: {}}}\n", step.verdict->ok ? "$\\checkmark$" : "$\\times$",
          word(language_, step.verdict->ok ? Word::agrees : Word::disagrees),
          latex_text(verdict_text(*step.verdict, language_), engine_));
  }

  // Line breaks of a formula with several lines.
  static std::string lines(const std::string& latex) {
    std::string text;
    for (const char c : latex) text += c == '\n' ? std::string("$\\par\\hskip2em$\\displaystyle ") : std::string(1, c);
    return text;
  }

  std::string shapes(const StepView& step) const {
    std::string text =
        fmt::format("{}: ${}$ {}", word(language_, Word::shapes), latex_name(step.name), to_string(step.value.shape()));
    const char* between = " $\\leftarrow$ ";
    for (const std::string& operand : step.operands) {
      text += fmt::format("{}${}$ {}", between, latex_name(operand), to_string(places_.at(operand).value.shape()));
      between = ", ";
    }
    return text;
  }

  void matrices(const std::string& of, const Tensor& x) {
    const ShownPart part = shown_part(x.shape(), most_rows);
    if (part.empty()) return add("\\lineofcode{{{}}}\n", word(language_, Word::empty_tensor));
    const Numbers numbers(x);
    for (std::size_t m = 0; m < part.matrices.size(); ++m) {
      const std::string at = part.matrices[m].rank() == 0 ? "" : index_text(part.matrices[m]);
      add("{{\\small\\[{}{} = {}\\]}}\n", latex_name(of), at, matrix(part, numbers, m));
    }
    if (part.some_matrices())
      add("\\lineofcode{{{}}}\n",
          say(language_, Word::showing_block, std::to_string(part.matrices.size()), std::to_string(part.all_matrices),
              fmt::format("[{}, {}]", part.all_rows, part.all_columns)));
  }

  static std::string matrix(const ShownPart& part, const Numbers& numbers, std::size_t m) {
    if (part.rank == 0) return number(numbers.text({}));
    const std::size_t columns = static_cast<std::size_t>(part.columns) + (part.columns < part.all_columns ? 1 : 0);
    std::string text = fmt::format("\\left(\\begin{{array}}{{{}}}", std::string(columns, 'r'));
    for (std::int64_t row = 0; row < part.rows; ++row) {
      if (row > 0) text += "\\\\";
      for (std::int64_t column = 0; column < part.columns; ++column)
        text += (column > 0 ? "&" : "") + number(numbers.text(part.index(m, row, column)));
      if (part.columns < part.all_columns) text += "&\\cdots";
    }
    if (part.rows < part.all_rows) text += "\\\\\\vdots";
    return text + "\\end{array}\\right)";
  }

  // `-3e-07` with a minus, and with an upright e.
  static std::string number(const std::string& text) {
    if (text.ends_with("inf")) return text[0] == '-' ? "-\\infty" : "\\infty";
    if (text == "nan" || text == "True" || text == "False") return fmt::format("\\text{{{}}}", text);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return text;
    return fmt::format("{}\\mathrm{{e}}{{{}}}", text.substr(0, e), std::stoi(text.substr(e + 1)));
  }

  const Derivation& d_;
  const Places places_;
  const PageOptions& options_;
  Language language_;
  Engine engine_;
  std::string text_;
};

}  // namespace

std::string to_latex_document(const Derivation& derivation, const PageOptions& options) {
  return Document(derivation, options).text();
}

}  // namespace gradus::study
