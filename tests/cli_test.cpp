// The `gradus` command as its users meet it: exit status, standard output, standard error.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <set>

#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/registry.hpp"
#include "file_helpers.hpp"
#include "tests/paths.hpp"

using namespace gradus;
using gradus::test::contains;
using gradus::test::Folder;
using gradus::test::put;
using nlohmann::json;

namespace {

struct Outcome {
  int status;
  std::string out, err;
};

const std::string program = gradus_test::bin_dir() + "/gradus";

/// Runs a shell command; `gradus` in it is ours, and `@` stands for the folder.
Outcome shell(const Folder& folder, std::string command) {
  for (std::size_t at = 0; (at = command.find('@', at)) != std::string::npos;)
    command.replace(at, 1, folder.path.string());
  const std::string out = (folder / ".out").string(), err = (folder / ".err").string();
  const std::string line =
      fmt::format("gradus() {{ '{}' \"$@\"; }}; {{ {}\n}} >'{}' 2>'{}' </dev/null", program, command, out, err);
  const int status = std::system(("bash -c '" +
                                  [&] {
                                    std::string quoted;
                                    for (const char c : line)
                                      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
                                    return quoted;
                                  }() +
                                  "'")
                                     .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

const std::string tiny = " --runs @ --batch 4 --width 8 --heads 2 --layers 1 --feed-forward 16 --threads 1 ";

}  // namespace

TEST_CASE("gradus --version names the version, the level, the BLAS core and the threads") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus --version");
  CHECK(o.status == 0);
  CHECK(contains(o.out, "gradus 0."));
  CHECK(contains(o.out, "OpenBLAS core "));
  CHECK(contains(o.out, "threads"));
  CHECK(lines(o.out) == 1);
}

TEST_CASE("every subcommand has help with status 0, and wrong usage has status 2 and one line") {
  const Folder folder;
  CHECK(shell(folder, "gradus --help").status == 0);
  for (const char* command : {"train", "tasks", "sample", "report", "summary", "doctor", "ops"}) {
    CAPTURE(command);
    CHECK(contains(shell(folder, "gradus --help").out, command));
    const Outcome help = shell(folder, fmt::format("gradus {} --help", command));
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    const Outcome wrong = shell(folder, fmt::format("gradus {} --no-such-flag", command));
    CHECK(wrong.status == 2);
    CHECK(wrong.out.empty());
    CHECK(lines(wrong.err) == 1);
  }
  for (const char* command :
       {"gradus", "gradus juggle", "gradus train", "gradus train text", "gradus train copy --steps many",
        "gradus train copy --file x", "gradus train --resume x --steps 3", "gradus sample",
        "gradus ops --json --markdown", "gradus train copy --threads 0"}) {
    const Outcome wrong = shell(folder, command);
    CHECK_MESSAGE(wrong.status == 2, command);
    CHECK_MESSAGE(lines(wrong.err) == 1, wrong.err);
  }
}

TEST_CASE("a user's mistake has status 1 and one line, and leaves nothing behind") {
  const Folder folder;
  put(folder / "short.txt", "one\ntwo\n");
  put(folder / "binary", std::string("a\0b", 3));
  put(folder / "file", "");
  const std::pair<const char*, const char*> mistakes[] = {
      {"gradus train juggle --runs @/runs", "no task \"juggle\""},
      {"gradus train copy --runs @/runs --steps 0", "--steps is 0"},
      {"gradus train copy --runs @/runs --heads 3", "--heads 3 does not divide --width"},
      {"gradus train copy --runs @/runs --name a/b", "no name for a run"},
      {"gradus train copy --runs @/file", "cannot be made"},
      {"gradus train text --runs @/runs --file @/none.txt", "none.txt"},
      {"gradus train text --runs @/runs --file @/short.txt", "lines"},
      {"gradus train text --runs @/runs --file @/binary", "binary"},
      {"gradus train --resume nothing --runs @/runs", "there is no run nothing"},
      {"gradus sample nothing --runs @/runs", "there is no run nothing"},
      {"gradus report nothing --runs @/runs", "there is no run nothing"},
      {"gradus ops softmx", "no op \"softmx\""}};
  for (const auto& mistake : mistakes) {
    const std::string command = mistake.first, text = mistake.second;
    const Outcome o = shell(folder, command);
    CHECK_MESSAGE(o.status == 1, command);
    CHECK_MESSAGE(o.out.empty(), command);
    CHECK_MESSAGE(lines(o.err) == 1, o.err);
    CHECK_MESSAGE(contains(o.err, text), o.err);
  }
  CHECK_FALSE(test::fs::exists(folder / "runs"));
}

TEST_CASE("gradus ops lists the registry, for people and for programs") {
  const Folder folder;
  const json all = json::parse(shell(folder, "gradus ops --json").out);
  REQUIRE(all.size() == all_ops().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].size() == 4);
    CHECK(all[i]["name"] == all_ops()[i]->name());
    CHECK(all[i]["arguments"].size() == all_ops()[i]->params.size());
    CHECK(all[i]["math"] == all_ops()[i]->info->math);
    CHECK(all[i]["rule"] == all_ops()[i]->info->rule);
  }
  CHECK(lines(shell(folder, "gradus ops").out) == static_cast<std::int64_t>(all.size()) + 1);
  const Outcome one = shell(folder, "gradus ops softmax");
  CHECK(contains(one.out, "softmax(x, axis=-1)"));
  CHECK(contains(one.out, "x\u0304 = y ⊙ (y\u0304 - Σ_j y\u0304_j y_j)"));
  CHECK(contains(one.out, "the rule needs y, not x"));
  CHECK(contains(one.out, "by the rule"));
  CHECK(contains(one.out, "by differences\n"));
  CHECK(contains(one.out, "✓ largest difference"));
  CHECK(contains(shell(folder, "gradus ops argmax").out, "none: it has no derivative"));
  CHECK(shell(folder, "gradus ops softmax --markdown").out.substr(0, 11) == "## softmax\n");
  CHECK(contains(shell(folder, "gradus ops --markdown").out, "\n## softmax\n"));
}

TEST_CASE("a closed pipe ends quietly, and a full disk is said") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus ops --markdown | head -1; exit ${PIPESTATUS[0]}");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  const Outcome full = shell(folder, "gradus ops > /dev/full");
  CHECK(full.status == 1);
  CHECK(full.err == "gradus: standard output cannot be written: No space left on device\n");
  const Outcome train = shell(folder, "gradus train copy --steps 20" + tiny + " 2>&1 | head -1; exit ${PIPESTATUS[0]}");
  CHECK(train.status == 0);
}

TEST_CASE("a training ends with one JSON line, and its run can be looked at") {
  const Folder folder;
  const Outcome o = shell(folder, "gradus train reverse --steps 30 --seed 3 --json --name mine" + tiny);
  REQUIRE_MESSAGE(o.status == 0, o.err);
  CHECK(lines(o.out) == 1);
  const json result = json::parse(o.out);
  std::set<std::string> keys;
  for (const auto& [key, value] : result.items()) keys.insert(key);
  CHECK(keys == std::set<std::string>{"task", "steps", "seconds", "metric", "value", "baseline", "target", "parameters",
                                      "run"});
  CHECK(result["task"] == "reverse");
  CHECK(result["steps"] == 30);
  CHECK(result["run"] == (folder / "mine").string());
  CHECK(result["value"].get<double>() >= 0);
  CHECK(result["value"].get<double>() <= 1);
  CHECK(o.out.find('\x1b') == std::string::npos);
  CHECK(o.err.find('\x1b') == std::string::npos);

  CHECK(contains(shell(folder, "gradus summary mine --runs @").out, "parameters"));
  CHECK(contains(shell(folder, "gradus report mine --runs @").out, "on unseen data"));
  CHECK(json::parse(shell(folder, "gradus report mine --runs @ --json").out)["result"] == result);
  CHECK(shell(folder, "gradus doctor mine --runs @").status == 0);
  const json samples = json::parse(shell(folder, "gradus sample mine --runs @ --input gradus --input abc --json").out);
  REQUIRE(samples.size() == 2);
  CHECK(samples[1]["input"] == "abc");
  CHECK(shell(folder, "gradus sample mine --runs @").status == 0);
  const Outcome unknown = shell(folder, "gradus sample mine --runs @ --input A");
  CHECK(unknown.status == 1);
  CHECK(lines(unknown.err) == 1);

  const std::string before = read_file(folder / "mine" / "model.safetensors");
  const Outcome again = shell(folder, "gradus train copy --steps 30 --name mine" + tiny);
  CHECK(again.status == 1);
  CHECK(contains(again.err, "exists"));
  CHECK(read_file(folder / "mine" / "model.safetensors") == before);
  CHECK(shell(folder, "gradus train --resume mine --runs @").status == 1);  // it is finished

  put(folder / "mine" / "model.safetensors", "half");
  const Outcome sick = shell(folder, "gradus doctor mine --runs @");
  CHECK(sick.status == 1);
  CHECK(contains(sick.out, "✗ model.safetensors"));
  CHECK(shell(folder, "gradus sample mine --runs @").status == 1);
}

TEST_CASE("a text model writes ten samples and says which are new") {
  const Folder folder;
  std::string names;
  for (int i = 0; i < 60; ++i) names += fmt::format("{}{}ra\n", static_cast<char>('a' + i % 20), "aei"[i / 20]);
  put(folder / "names.txt", names);
  const Outcome o = shell(folder, "gradus train text --file @/names.txt --steps 30 --quiet --name t" + tiny);
  REQUIRE_MESSAGE(o.status == 0, o.err);
  CHECK(contains(o.out, "nats per character"));
  const json samples = json::parse(shell(folder, "gradus sample t --runs @ --json").out);
  CHECK(samples.size() == 10);
  for (const json& s : samples) CHECK((s["remark"] == "new" || s["remark"] == "in the list"));
  CHECK(shell(folder, "gradus sample t --runs @ --seed 5").out ==
        shell(folder, "gradus sample t --runs @ --seed 5 --threads 2").out);
  const json begun =
      json::parse(shell(folder, "gradus sample t --runs @ --input ba --count 3 --temperature 0 --json").out);
  for (const json& s : begun) CHECK(s["output"].get<std::string>().starts_with("ba"));
  std::filesystem::remove(folder / "names.txt");
  CHECK(shell(folder, "gradus sample t --runs @").status == 0);  // samples need no data
}

TEST_CASE("the same seed gives the same bits of all weights after 100 steps with 1, 2 and 4 threads") {
  const Folder folder;
  std::string models[3];
  for (int i = 0; i < 3; ++i) {
    const Outcome o = shell(
        folder,
        fmt::format("gradus train dates --steps 100 --batch 32 --width 32 --heads 2 --dropout 0.1 --seed 5 --quiet "
                    "--runs @ --name t{0} --threads {0}",
                    1 << i));
    REQUIRE_MESSAGE(o.status == 0, o.err);
    models[i] = read_file(folder.path / fmt::format("t{}", 1 << i) / "model.safetensors");
  }
  CHECK(models[0] == models[1]);
  CHECK(models[0] == models[2]);
}

TEST_CASE("Ctrl-C saves, status 130, and the resumed run has the bits of one that never stopped") {
  const Folder folder;
  const std::string flags = " --steps 600 --dropout 0.1 --seed 9 --quiet" + tiny;
  REQUIRE(shell(folder, "gradus train copy --name through" + flags).status == 0);
  const Outcome stopped =
      shell(folder, "'" + program + "' train copy --name halted" + flags +
                        "& until [ -e @/halted/checkpoint.safetensors ]; do sleep 0.002; done; kill -INT $!; wait $!");
  CHECK(stopped.status == 130);
  CHECK(lines(stopped.err) <= 2);
  CHECK(contains(stopped.err, "go on with `gradus train --resume"));
  CHECK_FALSE(test::fs::exists(folder / "halted" / "result.json"));
  CHECK(shell(folder, "gradus doctor halted --runs @").status == 0);
  CHECK(contains(shell(folder, "gradus report halted --runs @").out, "stopped after"));
  REQUIRE(shell(folder, "gradus train --resume halted --quiet --runs @").status == 0);
  CHECK(read_file(folder / "halted" / "model.safetensors") == read_file(folder / "through" / "model.safetensors"));
}
