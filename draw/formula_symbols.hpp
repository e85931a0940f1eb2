// The commands that a formula may use, each with what it shows.
#pragma once
#include "draw/formula.hpp"

#include <algorithm>
#include <iterator>

namespace gradus::draw {

/// A command without arguments.
struct FormulaSymbol {
  std::string_view name;
  std::string_view text;
  Formula::Kind kind;
};

inline constexpr auto sign_kind = Formula::Kind::identifier;
inline constexpr auto operator_kind = Formula::Kind::op;
inline constexpr auto space_kind = Formula::Kind::space;
inline constexpr auto function_kind = Formula::Kind::function;
inline constexpr auto limits_kind = Formula::Kind::limits;

inline constexpr FormulaSymbol formula_symbols[] = {
    {"alpha", "α", sign_kind},
    {"beta", "β", sign_kind},
    {"gamma", "γ", sign_kind},
    {"delta", "δ", sign_kind},
    {"epsilon", "ε", sign_kind},
    {"varepsilon", "ε", sign_kind},
    {"zeta", "ζ", sign_kind},
    {"eta", "η", sign_kind},
    {"theta", "θ", sign_kind},
    {"iota", "ι", sign_kind},
    {"kappa", "κ", sign_kind},
    {"lambda", "λ", sign_kind},
    {"mu", "μ", sign_kind},
    {"nu", "ν", sign_kind},
    {"xi", "ξ", sign_kind},
    {"pi", "π", sign_kind},
    {"rho", "ρ", sign_kind},
    {"sigma", "σ", sign_kind},
    {"tau", "τ", sign_kind},
    {"phi", "φ", sign_kind},
    {"varphi", "φ", sign_kind},
    {"chi", "χ", sign_kind},
    {"psi", "ψ", sign_kind},
    {"omega", "ω", sign_kind},
    {"Gamma", "Γ", sign_kind},
    {"Delta", "Δ", sign_kind},
    {"Theta", "Θ", sign_kind},
    {"Lambda", "Λ", sign_kind},
    {"Xi", "Ξ", sign_kind},
    {"Pi", "Π", sign_kind},
    {"Sigma", "Σ", sign_kind},
    {"Phi", "Φ", sign_kind},
    {"Psi", "Ψ", sign_kind},
    {"Omega", "Ω", sign_kind},
    {"partial", "∂", sign_kind},
    {"nabla", "∇", sign_kind},
    {"infty", "∞", sign_kind},
    {"ell", "ℓ", sign_kind},
    {"top", "T", sign_kind},
    {"dots", "…", sign_kind},
    {"ldots", "…", sign_kind},
    {"cdots", "⋯", sign_kind},
    {"vdots", "⋮", sign_kind},
    {"ddots", "⋱", sign_kind},
    {"emptyset", "∅", sign_kind},
    {"forall", "∀", sign_kind},
    {"exists", "∃", sign_kind},
    {"prime", "′", sign_kind},
    {"odot", "⊙", operator_kind},
    {"otimes", "⊗", operator_kind},
    {"oplus", "⊕", operator_kind},
    {"cdot", "·", operator_kind},
    {"times", "×", operator_kind},
    {"circ", "∘", operator_kind},
    {"pm", "±", operator_kind},
    {"mp", "∓", operator_kind},
    {"le", "≤", operator_kind},
    {"leq", "≤", operator_kind},
    {"ge", "≥", operator_kind},
    {"geq", "≥", operator_kind},
    {"ne", "≠", operator_kind},
    {"neq", "≠", operator_kind},
    {"ll", "≪", operator_kind},
    {"gg", "≫", operator_kind},
    {"approx", "≈", operator_kind},
    {"equiv", "≡", operator_kind},
    {"sim", "∼", operator_kind},
    {"propto", "∝", operator_kind},
    {"in", "∈", operator_kind},
    {"notin", "∉", operator_kind},
    {"cup", "∪", operator_kind},
    {"cap", "∩", operator_kind},
    {"to", "→", operator_kind},
    {"rightarrow", "→", operator_kind},
    {"leftarrow", "←", operator_kind},
    {"gets", "←", operator_kind},
    {"mapsto", "↦", operator_kind},
    {"Rightarrow", "⇒", operator_kind},
    {"Leftarrow", "⇐", operator_kind},
    {"Leftrightarrow", "⇔", operator_kind},
    {"iff", "⇔", operator_kind},
    {"implies", "⇒", operator_kind},
    {"land", "∧", operator_kind},
    {"lor", "∨", operator_kind},
    {"neg", "¬", operator_kind},
    {"mid", "|", operator_kind},
    {"colon", ":", operator_kind},
    {"quad", "1em", space_kind},
    {"qquad", "2em", space_kind},
    {",", "0.17em", space_kind},
    {":", "0.22em", space_kind},
    {";", "0.28em", space_kind},
    {" ", "0.25em", space_kind},
    {"log", "log", function_kind},
    {"ln", "ln", function_kind},
    {"exp", "exp", function_kind},
    {"sin", "sin", function_kind},
    {"cos", "cos", function_kind},
    {"tan", "tan", function_kind},
    {"arcsin", "arcsin", function_kind},
    {"arccos", "arccos", function_kind},
    {"arctan", "arctan", function_kind},
    {"sinh", "sinh", function_kind},
    {"cosh", "cosh", function_kind},
    {"tanh", "tanh", function_kind},
    {"arg", "arg", function_kind},
    {"dim", "dim", function_kind},
    {"max", "max", limits_kind},
    {"min", "min", limits_kind},
    {"sup", "sup", limits_kind},
    {"inf", "inf", limits_kind},
    {"lim", "lim", limits_kind},
    {"det", "det", limits_kind},
    {"sum", "Σ", limits_kind},
    {"prod", "Π", limits_kind},
    {"int", "∫", limits_kind},
};

/// The symbol of that name, or null.
inline const FormulaSymbol* find_formula_symbol(std::string_view name) {
  const auto* const found = std::find_if(std::begin(formula_symbols), std::end(formula_symbols),
                                         [&](const FormulaSymbol& symbol) { return symbol.name == name; });
  return found == std::end(formula_symbols) ? nullptr : found;
}

/// A bracket that a formula may use: the command or character, what it shows, whether it may open and close.
struct FormulaBracket {
  std::string_view name, text;
  bool opens, closes;
};

inline constexpr FormulaBracket formula_brackets[] = {
    {"(", "(", true, false},        {")", ")", false, true},        {"[", "[", true, false},
    {"]", "]", false, true},        {"|", "|", true, true},         {"\\{", "{", true, false},
    {"\\}", "}", false, true},      {"\\|", "‖", true, true},       {"\\lfloor", "⌊", true, false},
    {"\\rfloor", "⌋", false, true}, {"\\lceil", "⌈", true, false},  {"\\rceil", "⌉", false, true},
    {"\\langle", "⟨", true, false}, {"\\rangle", "⟩", false, true}, {"\\lvert", "|", true, false},
    {"\\rvert", "|", false, true},  {"\\lVert", "‖", true, false},  {"\\rVert", "‖", false, true},
};

/// The bracket of that name (`(` or `\lfloor`), or null.
inline const FormulaBracket* find_formula_bracket(std::string_view name) {
  const auto* const found = std::find_if(std::begin(formula_brackets), std::end(formula_brackets),
                                         [&](const FormulaBracket& bracket) { return bracket.name == name; });
  return found == std::end(formula_brackets) ? nullptr : found;
}

}  // namespace gradus::draw
