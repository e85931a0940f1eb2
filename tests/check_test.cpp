// `gradus check` and `gradus exercise` as their users meet them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "command_helpers.hpp"
#include "core/arrays.hpp"
#include "study/exercise.hpp"

using namespace gradus;
using gradus::test::contains;
using gradus::test::Folder;
using gradus::test::lines;
using gradus::test::Outcome;
using gradus::test::put;
using gradus::test::shell;
using nlohmann::json;

namespace {

const std::string attention_example =
    "'X = randn(5, 7); W_Q = randn(7, 4); W_K = randn(7, 4); W_V = randn(7, 4); Q = X @ W_Q; K = X @ W_K; V = X @ W_V; "
    "S = Q @ K.T / sqrt(4); A = softmax(S); Z = A @ V' --wrt W_Q,W_K,W_V ";

json verdict(const std::string& arguments) {
  const Folder folder;
  const Outcome o = shell(folder, "gradus check " + arguments + " --json");
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(lines(o.out) == 1);
  return json::parse(o.out.empty() ? "{}" : o.out);
}

}  // namespace

TEST_CASE("a verdict in JSON has exactly its five keys") {
  const json right = verdict(attention_example + "--claim 'd_A = d_Z @ V.T' --claim 'd_W_V = X.T @ A.T @ d_Z'");
  CHECK(right.size() == 5);
  CHECK(right["verdict"] == "right");
  CHECK(right["step"].is_null());
  CHECK(right["slip"].is_null());
  CHECK(right["ratio"].is_null());
  CHECK(right["difference"].get<double>() < 1e-12);
  const json wrong = verdict(attention_example + "--claim 'd_A = d_Z @ V.T' --claim 'd_W_Q = X.T @ d_S @ K'");
  CHECK(wrong.size() == 5);
  CHECK(wrong["verdict"] == "wrong");
  CHECK(wrong["step"] == "d_W_Q");
  CHECK(wrong["slip"] == "scale");
  CHECK(wrong["ratio"].get<double>() == doctest::Approx(2).epsilon(1e-12));
  CHECK(wrong["difference"].get<double>() > 1e-3);
}

TEST_CASE("the articles' claims E1, E1b, E2 and E3 are named") {
  CHECK(verdict(
            "'a = softmax(s)' --wrt s --set 's=[1,2,.5]' --set 'cotangent=[1,1,1]' --claim 'd_s = a*(1-a)'")["slip"] ==
        "row_sum");
  CHECK(verdict("'a = softmax(s)' --wrt s --set 's=[1,2,.5]' --claim 'd_s = a*(1-a)'")["slip"] == "row_sum");
  CHECK(verdict(attention_example + "--claim 'd_W_Q = X.T @ (d_A * A * (1 - A) @ K) / sqrt(4)'")["slip"] == "row_sum");
  const json e2 = verdict(attention_example + "--claim 'd_W_Q = X.T @ (d_Z @ (V.T * (A * (1 - A))))'");
  CHECK(e2["slip"] == "shape");
  CHECK(e2["step"] == "d_W_Q");
  CHECK(e2["difference"].is_null());
  CHECK(verdict(attention_example + "--claim 'd_W_Q = X.T @ d_S @ K'")["slip"] == "scale");
}

TEST_CASE("the text says the slip, both values, the right rule and how to see it; a drawn cotangent is said") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus check " + attention_example + "--claim 'd_A = d_Z @ V.T' --claim 'd_S = A * d_A'");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(contains(o.out, "no cotangent was given, so this one was drawn from seed 0"));
  CHECK(contains(o.out, "✓ d_A"));
  CHECK(contains(o.out, "✗ d_S"));
  CHECK(contains(o.out, "row_sum: "));
  CHECK(contains(o.out, "claimed"));
  CHECK(contains(o.out, "d_S = A * (d_A - sum(d_A * A, axis=-1, keepdim=True))"));
  CHECK(contains(o.out, "gradus derive 'X = randn(5, 7)"));
  const Outcome given = shell(folder, "gradus check 'y = sum(x * x)' --wrt x --set 'x=[1,2]' --claim 'd_x = 2 * x'");
  CHECK_FALSE(contains(given.out, "drawn"));
  CHECK(contains(given.out, "right"));
  const Outcome piped = shell(folder, "echo \"y = x * x\" | gradus check - --wrt x --set 'x=[1,2]' --claim 'd_x = x'");
  CHECK_MESSAGE(contains(piped.out, "gradus derive 'y = x * x"), piped.out);
  const Outcome quiet = shell(folder, "gradus check 'y = x * x' --wrt x --set 'x=[1,2]' --claim 'd_x = 2 * x' --json");
  CHECK(lines(quiet.out) == 1);
  CHECK(contains(quiet.err, "drawn from seed 0"));
}

TEST_CASE("the drawn cotangent is a function of the seed") {
  const std::string command = "'y = x * x' --wrt x --set 'x=[1,2,3]' --claim 'd_x = x'";
  CHECK(verdict(command)["difference"] == verdict(command)["difference"]);
  CHECK(verdict(command)["difference"] != verdict(command + " --seed 1")["difference"]);
}

TEST_CASE("mistakes have status 1, wrong usage 2, and say what is wrong") {
  const Folder folder;
  const std::pair<std::string, const char*> mistakes[] = {
      {attention_example + "--claim 'd_W = X'", "there is no d_W"},
      {attention_example + "--claim 'X.T @ d_Q'", "names nothing"},
      {attention_example + "--claim 'd_Q = d_Q'", "d_Q"},
      {attention_example + "--claim 'd_Q = (d_S @ K'", ""},
      {attention_example + "--claim 'd_Q = d_S @ nothing'", "nothing"},
      {attention_example + "--claim 'd_Q = d_S @'", ""},
      {"'y = x * x' --wrt z --set 'x=[1,2]' --claim 'd_x = x'", "z"},
      {"'y = x *' --wrt x --set 'x=[1,2]' --claim 'd_x = x'", ""},
      {"'y = x * x' --wrt x --in @/none.npz --claim 'd_x = x'", "none.npz"}};
  for (const auto& mistake : mistakes) {
    const Outcome o = shell(folder, "gradus check " + mistake.first);
    CHECK_MESSAGE(o.status == 1, mistake.first);
    CHECK_MESSAGE(o.out.empty(), o.out);
    CHECK_MESSAGE(contains(o.err, mistake.second), o.err);
  }
  for (const char* command :
       {"gradus check", "gradus check 'x'", "gradus check 'y = x' --wrt x", "gradus check --seed x",
        "gradus exercise --out f.npz", "gradus exercise attention --out a --answer b", "gradus exercise --seed -1",
        "gradus exercise --seed 99999999999999999999"}) {
    const Outcome o = shell(folder, command);
    CHECK_MESSAGE(o.status == 2, command);
    CHECK_MESSAGE(lines(o.err) == 1, o.err);
  }
}

TEST_CASE("an exercise is handed out, solved, and graded complete; a planted slip is found") {
  const Folder folder;
  Outcome o = shell(folder, "gradus exercise attention --out @/ex.npz --seed 4");
  CHECK(o.status == 0);
  CHECK(contains(o.out, "S = Q @ K.T / sqrt(4)"));
  CHECK(contains(o.out, "d_S = ...  # [5, 5]"));
  const NamedTensors handed = load_npz(folder / "ex.npz");
  CHECK(find(handed, "A").shape() == Shape{5, 5});
  CHECK(find(handed, "cotangent").shape() == Shape{5, 4});

  const study::WorkedExercise worked = study::work_out(study::find_exercise("attention"), 4);
  NamedTensors answer;
  for (const int line : worked.asked)
    answer.emplace_back(worked.name_of(line),
                        worked.derivation.backward[static_cast<std::size_t>(line)].value.detach());
  save_npz(folder / "mine.npz", answer);
  o = shell(folder, "gradus exercise attention --answer @/mine.npz --seed 4");
  CHECK(o.status == 0);
  CHECK(contains(o.out, "all 9 gradients are right"));
  o = shell(folder, "gradus exercise attention --answer @/mine.npz");  // another seed: all wrong, not a mistake
  CHECK(o.status == 0);
  CHECK(contains(o.out, "0 of 9"));

  answer[0].second = -answer[0].second;
  answer.pop_back();
  answer.emplace_back("nonsense", answer[0].second);
  save_npz(folder / "mine.npz", answer);
  o = shell(folder, "gradus exercise attention --answer @/mine.npz --seed 4 --json");
  const json graded = json::parse(o.out);
  CHECK(graded["complete"] == false);
  CHECK(graded["gradients"].size() == 9);
  CHECK(graded["gradients"][0]["grade"] == "wrong");
  CHECK(graded["gradients"][0]["slip"] == "sign");
  CHECK(graded["gradients"][8]["grade"] == "missing");
  CHECK(graded["unknown"] == json::array({"nonsense"}));
  o = shell(folder, "gradus exercise attention --answer @/mine.npz --seed 4");
  CHECK(contains(o.out, "sign: "));
  CHECK(contains(o.out, "missing"));
  CHECK(contains(o.out, "nonsense: nobody asked"));
  const std::size_t derive = o.out.find("  gradus derive 'Q = X @ W_Q; ");
  REQUIRE(derive != std::string::npos);
  std::string command = o.out.substr(derive, o.out.find('\n', derive) - derive);
  command.replace(command.find("ex.npz"), 6, "@/ex.npz");
  o = shell(folder, command);
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(contains(o.out, "d_S = A * (d_A - sum("));
}

TEST_CASE("the list of exercises, and files that are none") {
  const Folder folder;
  CHECK(contains(shell(folder, "gradus exercise").out, "linear_attention"));
  CHECK(json::parse(shell(folder, "gradus exercise --json").out).size() == 7);
  put(folder / "text.npz", "no archive");
  for (const char* command :
       {"gradus exercise attention --answer @/text.npz", "gradus exercise attention --answer @/none.npz",
        "gradus exercise gat", "gradus exercise attention --out @/no/folder/ex.npz"}) {
    const Outcome o = shell(folder, command);
    CHECK_MESSAGE(o.status == 1, command);
    CHECK_MESSAGE(lines(o.err) == 1, o.err);
    CHECK(o.out.empty());
  }
}

TEST_CASE("the README shows what check prints") {
  const Folder folder;
  const std::string readme = read_file(gradus_test::source_dir() + "/README.md");
  const std::string command =
      "gradus check 'A = softmax(S)' --wrt S --set 'S=[[1,2,.5],[0,1,-1]]' --claim 'd_S = A * d_A'";
  REQUIRE(contains(readme, command));
  const std::string out = shell(folder, command).out;
  const std::size_t end = out.find("\nThe right rule");
  REQUIRE(end != std::string::npos);
  CHECK_MESSAGE(contains(readme, "```\n" + out.substr(0, end)), out);
}
