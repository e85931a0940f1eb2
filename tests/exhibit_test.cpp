// The exhibits: which there are, their words, how they are printed, and their command.
#include "study/exhibit.hpp"

#include "core/mode.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "draw/text.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <sys/wait.h>

using namespace gradus;
using namespace gradus::study;
using nlohmann::json;

namespace {

struct Outcome {
  int status;
  std::string out;
};

/// Runs a shell command in which `gradus` is ours; errors are part of what it prints.
Outcome shell(const std::string& command) {
  const std::string line = "export PATH='" + gradus_test::bin_dir() + "':\"$PATH\"; { " + command + "\n} 2>&1";
  FILE* const pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome o{0, ""};
  char part[4096];
  for (std::size_t n = 0; (n = fread(part, 1, sizeof part, pipe)) > 0;) o.out.append(part, n);
  const int status = pclose(pipe);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return o;
}

/// The findings, computed once, on two threads.
const std::vector<Finding>& with_two_threads(const Exhibit& e) {
  static std::map<std::string, std::vector<Finding>> all;
  if (!all.contains(e.id)) {
    const int before = threads();
    set_threads(2);
    all[e.id] = findings(e);
    set_threads(before);
  }
  return all[e.id];
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool same_bits(const std::vector<Finding>& a, const std::vector<Finding>& b) {
  const auto same = [](const Finding& x, const Finding& y) {
    return x.name == y.name && x.text == y.text && x.values.size() == y.values.size() &&
           std::equal(x.values.begin(), x.values.end(), y.values.begin(),
                      [](double u, double v) { return u == v || (std::isnan(u) && std::isnan(v)); });
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

}  // namespace

TEST_CASE("the exhibits are those of the table, in the order of their ids") {
  std::vector<std::string> ids;
  for (const Exhibit* e : exhibits()) ids.push_back(e->id);
  CHECK(ids == std::vector<std::string>{"E1", "E1b", "E2", "E3", "E4", "E6", "E7", "E8", "E10", "E12", "E13", "E14",
                                        "E18", "E19", "E20", "F1", "F3", "F6", "F10"});
}

TEST_CASE("every study/exhibit_ID.cpp is one exhibit, and every exhibit is such a file") {
  std::set<std::string> files, ids;
  for (const auto& entry : std::filesystem::directory_iterator(gradus_test::source_dir() + "/study"))
    if (const std::string name = entry.path().stem().string();
        name.starts_with("exhibit_") && entry.path().extension() == ".cpp")
      files.insert(name.substr(8));
  for (const Exhibit* e : exhibits()) {
    std::string id = e->id;
    for (char& c : id) c = static_cast<char>(std::tolower(c));
    ids.insert(id);
  }
  CHECK(files == ids);
  CHECK(ids.size() == exhibits().size());
}

TEST_CASE("an exhibit is found by its id and aliases, in capitals or not; another id is an error that lists all") {
  CHECK(exhibit("e1").id == "E1");
  CHECK(exhibit("E1B").id == "E1b");
  CHECK(exhibit("e1b").id == "E1b");
  for (const char* alias : {"f3", "F4", "f5", "F3-F5"}) CHECK(exhibit(alias).id == "F3");
  CHECK_THROWS_WITH_AS(exhibit("E99"),
                       "there is no exhibit \"E99\"; there are E1, E1b, E2, E3, E4, E6, E7, E8, E10, E12, E13, E14, "
                       "E18, E19, E20, F1, F3, F6, F10",
                       Error);
  CHECK_THROWS_AS(exhibit(""), Error);
}

TEST_CASE("every exhibit has all its words, in lines of at most 100 columns, without a tab or an empty end of line") {
  for (const Exhibit* e : exhibits()) {
    CAPTURE(e->id);
    const std::vector<Finding>& numbers = with_two_threads(*e);
    REQUIRE_FALSE(numbers.empty());
    std::set<std::string> names;
    for (const Finding& f : numbers) {
      CAPTURE(f.name);
      CHECK_FALSE(f.what.empty());
      CHECK(f.values.empty() != f.text.empty());
      CHECK(std::ssize(f.values) == (f.text.empty() ? f.shape.numel() : 0));
      names.insert(f.name);
    }
    CHECK(names.size() == numbers.size());
    for (const std::string* words : {&e->title, &e->claim, &e->right, &e->why}) CHECK(words->size() > 30);
    CHECK(e->title.size() <= 74);  // a line of the list in a terminal of 80 columns
    const auto sentences = std::count(e->why.begin(), e->why.end(), '.');
    CHECK(sentences >= 2);
    REQUIRE_FALSE(e->commands.empty());
    for (const std::string& command : e->commands) CHECK(command.starts_with("gradus "));
    const std::string page = to_text(*e, numbers);
    for (std::size_t at = 0; at < page.size();) {
      const std::size_t end = page.find('\n', at);
      const std::string line = page.substr(at, end - at);
      CHECK_MESSAGE(draw::display_width(line) <= 100, line);
      CHECK_MESSAGE(!line.ends_with(' '), line);
      CHECK(line.find('\t') == std::string::npos);
      at = end + 1;
    }
  }
}

TEST_CASE("numbers are the same bits on one thread and two, whatever was drawn before, and draw nothing themselves") {
  const int before = threads();
  for (const Exhibit* e : exhibits()) {
    CAPTURE(e->id);
    const std::vector<Finding>& two = with_two_threads(*e);
    set_threads(1);
    gradus::seed(5);
    const std::vector<Finding> one = [&] {
      const NoGrad guard;
      return findings(*e);
    }();
    CHECK(default_generator().seed() == 5);
    CHECK(default_generator().drawn() == 0);
    CHECK(same_bits(one, two));
  }
  set_threads(before);
}

TEST_CASE("numbers are written with a 0 only where they are exactly 0, and without a minus where they round to 0") {
  using enum Finding::Style;
  CHECK(to_string(0, decimal, 3) == "0");
  CHECK(to_string(1e-9, decimal, 3) == "0.000");
  CHECK(to_string(-1e-9, decimal, 3) == "0.000");
  CHECK(to_string(-0.0014, decimal, 3) == "-0.001");
  CHECK(to_string(2103552, whole, 0) == "2,103,552");
  CHECK(to_string(-512, whole, 0) == "-512");
  CHECK(to_string(-1512, whole, 0) == "-1,512");
  CHECK(to_string(2, exact, 0) == "2");
  CHECK(to_string(std::nextafter(2, 3), exact, 0) == "2.0000000000000004");
  CHECK(to_string(7.1e-11, scientific, 2) == "7.1e-11");
  CHECK(to_string(NAN, decimal, 3) == "nan");
  CHECK(to_string(-INFINITY, whole, 3) == "-inf");
}

TEST_CASE("findings stand in columns: names left, numbers right, headings on their numbers") {
  const std::vector<Finding> all = {
      number("a", "one", 1), numbers("b", "two numbers", {-1, 22.5}),
      table("c", "a table", {{1, 2}, {3, 4}}).headed({"first", "the second one"}, {"x", "long"}).whole(),
      said("d", "it said", "no")};
  CHECK(to_text(all, 40) ==
        "one           1.000\n"
        "two numbers  -1.000  22.500\n"
        "a table\n"
        "                   first  the second one\n"
        "    x                  1               2\n"
        "    long               3               4\n"
        "it said\n"
        "    no\n");
}

TEST_CASE("a long command is broken where a shell allows it") {
  CHECK(folded_command("gradus eval 'x'", 40) == "gradus eval 'x'\n");
  CHECK(folded_command("gradus eval 'a = 1; b = 2' --set 'c=[1]' --seed 3", 30) ==
        "gradus eval 'a = 1; b = 2' \\\n"
        "    --set 'c=[1]' --seed 3\n");
  CHECK(folded_command("gradus eval 'a = 1; b = 2; c --d' --seed 3", 24) ==
        "gradus eval 'a = 1;\n"
        "      b = 2; c --d' \\\n"
        "    --seed 3\n");
}

TEST_CASE("the command lines of all exhibits run, and folded they are the same to a shell") {
  for (const Exhibit* e : exhibits())
    for (const std::string& command : e->commands) {
      CAPTURE(command);
      std::string unfolded = folded_command(command, 98);
      for (const char* fold : {" \\\n    ", "\n      "})
        for (std::size_t at = 0; (at = unfolded.find(fold)) != std::string::npos;)
          unfolded.replace(at, std::string_view(fold).size(), " ");
      CHECK(unfolded == command + "\n");
      const std::string name = command.substr(7, command.find(' ', 7) - 7);
      if (name == "train") continue;  // seconds, and it leaves a run
      const Outcome o = shell(command);
      const bool meant_to_fail = contains(command, "arange(101)");
      CHECK_MESSAGE(o.status == (meant_to_fail ? 1 : 0), o.out);
      CHECK_FALSE(o.out.empty());
    }
}

TEST_CASE("gradus check names the slip in every claim that the exhibits hand to it") {
  struct Named {
    const char *id, *verdict, *step, *slip;
    double ratio;
  };
  const std::vector<Named> expected = {{"E1", "wrong", "d_S", "row_sum", 0}, {"E1b", "wrong", "d_S", "row_sum", 0},
                                       {"E2", "wrong", "d_W_Q", "shape", 0}, {"E2", "right", "", "", 0},
                                       {"E3", "wrong", "d_P", "scale", 2},   {"E4", "wrong", "d_Q", "scale", 0.5},
                                       {"F1", "wrong", "d_Q", "scale", 0.5}};
  auto next = expected.begin();
  for (const Exhibit* e : exhibits())
    for (const std::string& command : e->commands) {
      if (!command.starts_with("gradus check ")) continue;
      CAPTURE(command);
      REQUIRE(next != expected.end());
      const json said = json::parse(shell(command + " --json 2>/dev/null").out);
      CHECK(e->id == next->id);
      CHECK(said["verdict"] == next->verdict);
      CHECK(said["step"] == (*next->step ? json(next->step) : json()));
      CHECK(said["slip"] == (*next->slip ? json(next->slip) : json()));
      if (next->ratio != 0) CHECK(said["ratio"].get<double>() == doctest::Approx(next->ratio).epsilon(1e-9));
      ++next;
    }
  CHECK(next == expected.end());
}

TEST_CASE("gradus exhibit lists all, shows one, and says which there are when there is none of that name") {
  const Outcome list = shell("gradus exhibit");
  CHECK(list.status == 0);
  for (const Exhibit* e : exhibits()) CHECK(contains(list.out, e->title));
  const Outcome one = shell("gradus exhibit e1");
  CHECK(one.status == 0);
  CHECK(one.out == to_text(exhibit("E1"), findings(exhibit("E1"))));
  for (const char* part : {"0.178    0.233    0.121", "The article says", "Right", "Why", "See for yourself"})
    CHECK_MESSAGE(contains(one.out, part), part);
  const Outcome none = shell("gradus exhibit E99");
  CHECK(none.status == 1);
  CHECK(contains(none.out, "gradus: there is no exhibit \"E99\"; there are E1, E1b,"));
  CHECK(std::count(none.out.begin(), none.out.end(), '\n') == 1);
  CHECK(shell("gradus exhibit E1 --all").status == 2);
  CHECK(shell("gradus exhibit E1 E2").status == 2);
}

TEST_CASE("gradus exhibit --json is one value with every field, and a closed pipe is no error") {
  const json one = json::parse(shell("gradus exhibit E6 --json").out);
  std::set<std::string> keys;
  for (const auto& [key, value] : one.items()) keys.insert(key);
  CHECK(keys == std::set<std::string>{"id", "title", "claim", "right", "why", "numbers", "commands"});
  CHECK(one["id"] == "E6");
  CHECK(one["numbers"][0]["name"] == "modules");
  CHECK(one["numbers"][0]["values"][0][0] == 2103552);
  CHECK(one["numbers"][0]["rows"].size() == 3);
  CHECK(one["numbers"][1]["values"] == 2048);
  const json list = json::parse(shell("gradus exhibit --json").out);
  CHECK(list.size() == exhibits().size());
  CHECK(list[0] == json{{"id", "E1"}, {"title", exhibit("E1").title}});
  const Outcome nan = shell("gradus exhibit E13 --json");
  CHECK(contains(nan.out, R"("values":["nan","nan","nan","nan"])"));
  CHECK(contains(shell("{ gradus exhibit E14; echo status $? >&2; } | head -1").out, "status 0\n"));
}

TEST_CASE("gradus exhibit --all prints the same on one thread and two") {
  const Outcome text = shell("gradus exhibit --all --threads 1"), values = shell("gradus exhibit --all --json");
  CHECK(text.status == 0);
  const json all = json::parse(values.out);
  REQUIRE(all.size() == exhibits().size());
  std::string pages;
  for (const Exhibit* e : exhibits()) pages += (pages.empty() ? "" : "\n\n") + to_text(*e, with_two_threads(*e));
  CHECK((text.out == pages));
}
