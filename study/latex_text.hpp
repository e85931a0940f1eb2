#pragma once
#include <string>
#include <string_view>

// Text so that LaTeX takes it.
namespace gradus::study {

/// Which engine will read it: pdflatex knows ASCII, xelatex all of Unicode.
enum class Engine : bool { pdflatex, xelatex };

/// Any text as running text: specials escaped; for pdflatex Greek letters as formulas and other characters by their
/// number, `[U+4E2D]`.
std::string latex_text(std::string_view text, Engine engine);

/// The same in typewriter type, where a line may end after a space, a bracket or a comma.
std::string latex_code(std::string_view text, Engine engine);

/// A formula that may also break after its commas and opening brackets, as long calls must.
std::string breakable(std::string_view formula);

}  // namespace gradus::study
