#include "study/exhibit.hpp"

#include "core/error.hpp"
#include "core/mode.hpp"
#include "core/random.hpp"
#include "draw/text.hpp"

#include <algorithm>
#include <tuple>

namespace gradus::study {
namespace {

std::vector<Exhibit>& registry() {
  static std::vector<Exhibit> all;
  return all;
}

std::string capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

/// E1 before E1b before E2 before E10 before F1: the letter, the number, the rest.
std::tuple<char, int, std::string> place(const Exhibit& e) {
  std::size_t at = 1;
  int n = 0;
  for (; at < e.id.size() && e.id[at] >= '0' && e.id[at] <= '9'; ++at) n = 10 * n + (e.id[at] - '0');
  return {e.id[0], n, e.id.substr(at)};
}

bool is_called(const Exhibit& e, const std::string& id) {
  const auto same = [&](const std::string& name) { return capitals(name) == id; };
  return same(e.id) || std::any_of(e.aliases.begin(), e.aliases.end(), same);
}

/// A generator and a mode of its own for a scope: nothing recorded before matters, and nothing is left behind.
class CleanState {
 public:
  CleanState()
      : mode_({.grad = true, .reference = mode().reference}),
        seed_(default_generator().seed()),
        drawn_(default_generator().drawn()) {
    gradus::seed(0);
  }
  ~CleanState() { default_generator().restore(seed_, drawn_); }
  CleanState(const CleanState&) = delete;
  CleanState& operator=(const CleanState&) = delete;

 private:
  ModeGuard mode_;
  std::uint64_t seed_, drawn_;
};

/// Paragraphs of a text, each wrapped, two columns in.
std::string section(std::string_view title, std::string_view body, int columns) {
  std::string text = "\n" + std::string(title) + "\n";
  for (std::size_t at = 0; at <= body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string_view line = body.substr(at, end - at);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::vector<std::string> parts =
        indent > 0 && draw::display_width(line) <= columns - 2  // a formula keeps its spaces
            ? std::vector{std::string(line.substr(indent))}
            : draw::wrapped(line.substr(indent), columns - 2 - static_cast<int>(indent));
    for (const std::string& part : parts) text += "  " + std::string(indent, ' ') + part + "\n";
    at = end + 1;
  }
  return text;
}

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += "  " + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

/// A piece of a command line between two places where it may be broken.
struct Piece {
  std::string text;
  bool quoted;  ///< the break before it is inside quotes
};

std::vector<Piece> pieces_of(std::string_view command) {
  std::vector<Piece> pieces{{"", false}};
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    else if (c == quote) quote = 0;
    const bool option = quote == 0 && command.substr(i).starts_with(" --");
    const bool statement = quote != 0 && command.substr(i).starts_with("; ");
    if (statement) pieces.back().text += ';';
    if (option || statement) pieces.push_back({"", statement});
    else pieces.back().text += c;
    if (statement) ++i;
  }
  // ` --option` lost its space above, as a statement lost the one after its semicolon
  return pieces;
}

}  // namespace

RegisteredExhibit::RegisteredExhibit(Exhibit exhibit) { registry().push_back(std::move(exhibit)); }

std::vector<const Exhibit*> exhibits() {
  std::vector<const Exhibit*> all;
  for (const Exhibit& e : registry()) all.push_back(&e);
  std::sort(all.begin(), all.end(), [](const Exhibit* a, const Exhibit* b) { return place(*a) < place(*b); });
  return all;
}

const Exhibit& exhibit(std::string_view id) {
  const std::string wanted = capitals(id);
  std::string ids;
  for (const Exhibit* e : exhibits()) {
    if (is_called(*e, wanted)) return *e;
    ids += (ids.empty() ? "" : ", ") + e->id;
  }
  fail("there is no exhibit \"{}\"; there are {}", draw::printable(id), ids);
}

std::vector<Finding> findings(const Exhibit& exhibit) {
  const CleanState clean;
  return exhibit.run();
}

std::string folded_command(std::string_view command, int columns) {
  std::string text, line;
  for (const Piece& piece : pieces_of(command)) {
    const std::string start = text.empty() && line.empty() ? "" : " ";
    const int width = draw::display_width(line) + draw::display_width(piece.text) + 3;
    if (line.empty() || width <= columns) {
      line += (line.empty() ? "" : start) + piece.text;
      continue;
    }
    text += line + (piece.quoted ? "\n" : " \\\n");
    line = (piece.quoted ? "      " : "    ") + piece.text;
  }
  return text + line + "\n";
}

std::string to_text(const Exhibit& e, const std::vector<Finding>& found, int columns) {
  std::string text = e.id + "  " + e.title + "\n";
  text += section("The article says", e.claim, columns);
  text += "\nThe numbers\n" + indented(to_text(found, columns - 2));
  text += section("Right", e.right, columns);
  text += section("Why", e.why, columns);
  text += "\nSee for yourself\n";
  for (const std::string& command : e.commands) text += indented(folded_command(command, columns - 2));
  return text;
}

}  // namespace gradus::study
