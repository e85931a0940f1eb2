// The exhibits: their numbers against those that were measured when the articles were read, and their words.
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
#include <set>

#include <sys/wait.h>

using namespace gradus;
using namespace gradus::study;
using doctest::Approx;
using nlohmann::json;

namespace {

/// The findings of an exhibit by name.
class Numbers {
 public:
  explicit Numbers(const char* id) : all_(findings(exhibit(id))) {}
  const Finding& operator[](std::string_view name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Finding& f) { return f.name == name; });
    REQUIRE_MESSAGE(found != all_.end(), "there is no finding ", name);
    return *found;
  }

 private:
  std::vector<Finding> all_;
};

/// Of the same sign, and neither larger nor smaller than 1.5 times: for what is computed from random data.
bool close(double computed, double measured) { return computed / measured <= 1.5 && computed / measured >= 1 / 1.5; }
#define CHECK_CLOSE(computed, measured) \
  CHECK_MESSAGE(close(computed, measured), (computed), " is not within a factor of 1.5 of ", (measured))

/// The digits of `text`, rounded: 0.178 for .17778.
double rounded(double x, int digits) { return std::round(x * std::pow(10, digits)) / std::pow(10, digits); }

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

TEST_CASE("E1: the elementwise formula finds a gradient (.178, .234, .121) where there is none") {
  const Numbers n("E1");
  const double theirs[] = {0.1778, 0.2335, 0.1206};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rounded(n["theirs"].values[i], 4) == theirs[i]);
    CHECK(std::abs(n["truth"].values[i]) < 1e-15);
    CHECK(std::abs(n["row_sums"].values[i]) < 1e-15);
    CHECK(n["jacobian"].at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)) ==
          Approx(n["elementwise"].values[i]).epsilon(1e-14));
  }
  CHECK(rounded(n["jacobian"].at(0, 1), 4) == -0.1453);
  CHECK(rounded(n["jacobian"].at(1, 2), 4) == -0.0881);
  CHECK(n["difference"].value() < 1e-9);
}

TEST_CASE("E1b: the elementwise gradient points nearly the right way, and training still descends") {
  const Numbers n("E1b");
  CHECK_CLOSE(n["error"].value(), 0.2548);
  CHECK(n["cosine"].value() == Approx(0.9704).epsilon(0.01));
  CHECK(n["error_truth"].value() < 1e-8);
  CHECK(n["error_engine"].value() < 1e-8);
  for (std::int64_t rule = 0; rule < 2; ++rule)
    for (std::int64_t i = 1; i < 4; ++i) CHECK(n["descent"].at(rule, i) < n["descent"].at(rule, i - 1));
  CHECK(n["descent"].at(0, 3) < n["descent"].at(1, 3));
}

TEST_CASE("E2: the printed formula multiplies 4x5 by 5x5; the corrected gradients agree with differences") {
  const Numbers n("E2");
  CHECK(n["shape_values"].values == std::vector<double>{4, 5});
  CHECK(n["shape_derivative"].values == std::vector<double>{5, 5});
  CHECK(contains(n["error"].text, "[4, 5] and [5, 5]"));
  for (const char* name : {"error_wq", "error_wk", "error_wv"}) CHECK(n[name].value() < 1e-8);
}

TEST_CASE("E3: without the factor the gradient is exactly sqrt(d) times too long, in exactly the right direction") {
  const Numbers n("E3");
  CHECK(n["ratio"].value() == 2);
  CHECK(n["cosine"].value() == 1);
  CHECK(n["error"].value() == Approx(1).epsilon(1e-12));
  CHECK(n["shape"].values == std::vector<double>{5, 5, 5, 5});
  CHECK(n["block_difference"].value() < 1e-15);
  CHECK(n["across_rows"].value() == 0);
}

TEST_CASE("E4: unscaled the softmax Jacobian shrinks from .34 to .065 as d_k grows to 1024; scaled it stays at .30") {
  const Numbers n("E4");
  const Finding& f = n["saturation"];
  CHECK_CLOSE(f.at(0, 1), 0.3391);
  CHECK_CLOSE(f.at(4, 1), 0.0653);
  const double widths[] = {4, 16, 64, 256, 1024};
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(f.at(i, 0) == Approx(widths[i]).epsilon(0.1));
    CHECK(f.at(i, 3) == Approx(0.30).epsilon(0.05));
    if (i > 0) CHECK(f.at(i, 1) < f.at(i - 1, 1));
  }
}

TEST_CASE("E6: 2,103,552 parameters for full-width heads, 263,168 for split ones, 68,864 for the second article's") {
  const Numbers n("E6");
  const Finding& f = n["modules"];
  CHECK(f.at(0, 0) == 2103552);
  CHECK(f.at(1, 0) == 263168);
  CHECK(f.at(2, 0) == 68864);
  CHECK(f.at(0, 1) == 8 * f.at(1, 1));  // the work, too
  for (std::int64_t i = 0; i < 3; ++i) CHECK(f.at(i, 2) == 256);
  CHECK(n["side_by_side"].value() == 8 * 256);
}

TEST_CASE("E7: a changed column of head 0 moves head 1 by exactly 0") {
  const Numbers n("E7");
  CHECK(n["head_1"].value() == 0);
  CHECK_CLOSE(n["head_0"].value(), 0.1362);
  CHECK(n["largest_h0"].value() == 0);
  CHECK(n["largest_h1"].value() > 0.1);
}

TEST_CASE("E8: feature 6 moves head 0 of standard attention, and moves it by exactly 0 where the embedding is cut") {
  const Numbers n("E8");
  CHECK(n["standard"].value() > 0.1);
  CHECK(n["sliced"].value() == 0);
  for (std::int64_t head = 0; head < 2; ++head)
    for (std::int64_t feature = 0; feature < 8; ++feature) {
      CHECK(n["reads_standard"].at(head, feature) > 0.01);
      CHECK((n["reads_sliced"].at(head, feature) > 0) == (feature / 4 == head));
    }
}

TEST_CASE("E10: Q^T K is [batch, d, d], not symmetric, not centred, and not defined for other lengths") {
  const Numbers n("E10");
  CHECK(n["shape"].values == std::vector<double>{2, 3, 3});
  CHECK_CLOSE(n["asymmetry"].value(), 4.254);
  CHECK(n["uncentred"].value() > 0.5);
  CHECK(contains(n["error"].text, "matmul"));
  CHECK(n["cross_covariance"].values == std::vector<double>{2, 5, 3});
  CHECK(n["associativity"].value() < 1e-13);
}

TEST_CASE("E12: weights zeroed after the softmax sum to .04 to .38, and a mask saves no multiplication") {
  const Numbers n("E12");
  CHECK_CLOSE(n["sums_zeroed"].values[0], 0.038);
  CHECK_CLOSE(n["sums_zeroed"].values[1], 0.379);
  for (const double sum : n["sums_masked"].values) CHECK(sum == Approx(1).epsilon(1e-14));
  CHECK(n["kernel"].value() < 1e-14);
  const Finding& work = n["work"];
  CHECK(work.at(0, 0) == 2 * 24 * 24 * 8);
  CHECK(work.at(1, 0) == work.at(0, 0));
  CHECK(work.at(2, 0) == work.at(0, 0));
  CHECK(work.at(1, 1) > work.at(0, 1));
  CHECK(n["needed"].value() == 2 * 8 * (24 * 5 - 2 * (2 + 1)));  // five keys a row, fewer at both ends
}

TEST_CASE("E13: 30 tanh layers: 10^-9.5 plain, 10^-.2 with LayerNorm, 10^.7 with residual paths; 0/0 without eps") {
  const Numbers n("E13");
  const double measured[] = {-9.5, -0.2, 0.7};
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK_CLOSE(n["layers"].at(0, i), measured[i]);
    CHECK_CLOSE(std::pow(10, n["layers"].at(0, i)), std::pow(10, measured[i]));
  }
  for (const double x : n["without_eps"].values) CHECK(std::isnan(x));
  for (const double x : n["with_eps"].values) CHECK(x == 0);
  CHECK(n["steep_without"].value() > 1000 * n["steep_with"].value());
}

TEST_CASE("E14: the kernel's gradients are the textbook's; it multiplies more, moves less and grows with the length") {
  const Numbers n("E14");
  CHECK(n["difference"].value() < 1e-13);
  CHECK(n["work"].at(0, 0) == 6.0 * 512 * 512 * 32);
  CHECK(n["work"].at(1, 0) == 7.0 * 512 * 512 * 32);
  CHECK(n["work"].at(0, 1) > 5 * n["work"].at(1, 1));
  if (reference_mode()) return;  // then the kernel is the composition
  const Finding& memory = n["memory"];
  for (std::int64_t i = 1; i < 3; ++i) {
    CHECK(memory.at(i, 0) / memory.at(i - 1, 0) == Approx(4).epsilon(0.05));
    CHECK(memory.at(i, 1) / memory.at(i - 1, 1) == Approx(2).epsilon(0.01));
    CHECK(memory.at(i, 1) + memory.at(i, 2) < memory.at(i, 0));
  }
}

TEST_CASE("E18: attention alone stays in the hull of the values, with the residual it leaves; even weights forget") {
  const Numbers n("E18");
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(n["places"].at(i, 6) < 1e-15);
    CHECK(n["places"].at(i, 7) > 0.1);
    CHECK(n["places"].at(i, 0) + n["places"].at(i, 2) == Approx(n["places"].at(i, 4)).epsilon(1e-14));
  }
  CHECK(n["spread_alone"].value() < 1e-15);
  CHECK(n["spread_residual"].value() > 1);
}

TEST_CASE("E19: a fresh model attends nearly evenly, and two of them agree on nothing") {
  const Numbers n("E19");
  CHECK(n["even"].value() == Approx(std::log(5)).epsilon(1e-15));
  CHECK(n["entropy"].value() < n["even"].value());
  CHECK(n["entropy"].value() > 0.95 * n["even"].value());
  CHECK(std::abs(n["agreement"].value()) < 0.15);
}

TEST_CASE("E20: weights .134 away give the same output to 6e-17") {
  const Numbers n("E20");
  CHECK_CLOSE(n["distance"].value(), 0.134);
  CHECK(n["difference"].value() < 6e-16);
  for (const double sum : n["sums"].values) CHECK(sum == Approx(1).epsilon(1e-14));
  for (const double weight : n["weights"].values) CHECK(weight > 0);
}

TEST_CASE("F1: divided by sqrt(E) the logits have deviation .35 instead of .99, the weights entropy 4.10 for 3.70") {
  const Numbers n("F1");
  const Finding& f = n["spread"];
  CHECK(f.at(0, 0) == Approx(0.351).epsilon(0.03));
  CHECK(f.at(0, 1) == Approx(0.993).epsilon(0.03));
  CHECK(f.at(0, 2) == Approx(4.099).epsilon(0.01));
  CHECK(f.at(0, 3) == Approx(3.704).epsilon(0.01));
  CHECK(f.at(0, 1) / f.at(0, 0) == Approx(std::sqrt(8)).epsilon(1e-12));
}

TEST_CASE("F3: without masks all letters are right while the past is given, and no word when it writes by itself") {
  const Numbers n("F3");
  const Finding &accuracy = n["accuracy"], &moves = n["moves"];
  CHECK(accuracy.at(0, 0) > 0.98);
  CHECK(accuracy.at(0, 1) < 0.6);
  CHECK(accuracy.at(0, 2) < 0.05);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(accuracy.at(1, i) > 0.98);
  CHECK(moves.at(0, 0) > 1);
  CHECK(moves.at(1, 0) == 0);
  for (std::int64_t i = 1; i < 3; ++i) {
    CHECK(moves.at(0, i) > 0.1);
    CHECK(moves.at(1, i) < 1e-4);  // f32, a different order of sums
  }
}

TEST_CASE("F6: behind the norm a tenth of the stream is 0 at every depth and noise takes it over") {
  const Numbers n("F6");
  const Finding& f = n["stream"];
  for (std::int64_t i = 0; i < 6; ++i) {
    CHECK(f.at(i, 0) == Approx(0.1).epsilon(0.1));
    CHECK(f.at(i, 1) == 0);
    CHECK(f.at(i, 2) == Approx(1 / 0.9).epsilon(0.02));  // p zeroes, the others grow by 1/(1-p)
    CHECK(f.at(i, 3) == Approx(1).epsilon(1e-3));
    if (i > 0) CHECK(f.at(i, 4) > f.at(i - 1, 4));
    CHECK(f.at(i, 4) > 10 * f.at(i, 5));
  }
  CHECK(n["survival"].value() == Approx(0.2824).epsilon(1e-3));
}

TEST_CASE("F10: 100 tokens fit, 101 are an error that names the maximum length") {
  const Numbers n("F10");
  CHECK(n["as_written_100"].value() == 100);
  CHECK(n["right_100"].value() == 100);
  CHECK(contains(n["as_written_101"].text, "index 100"));
  CHECK(contains(n["right_101"].text, "maximum length is 100"));
}

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
    const std::vector<Finding> numbers = findings(*e);
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
    set_threads(1);
    gradus::seed(5);
    const std::vector<Finding> one = findings(*e);
    CHECK(default_generator().seed() == 5);
    CHECK(default_generator().drawn() == 0);
    set_threads(2);
    randn({3});
    const std::vector<Finding> two = [&] {
      const NoGrad guard;
      return findings(*e);
    }();
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
  CHECK(contains(shell("{ gradus exhibit --all; echo status $? >&2; } | head -1").out, "status 0\n"));
}

TEST_CASE("gradus exhibit --all prints the same on one thread and two") {
  const Outcome one = shell("gradus exhibit --all --threads 1"), two = shell("gradus exhibit --all --threads 2");
  CHECK(one.status == 0);
  CHECK((one.out == two.out));
  for (const Exhibit* e : exhibits()) CHECK(contains(one.out, e->id + "  " + e->title + "\n"));
  CHECK(json::parse(shell("gradus exhibit --all --json").out).size() == exhibits().size());
}
