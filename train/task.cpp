#include "train/task.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"
#include "train/dates.hpp"
#include "train/hash.hpp"
#include "train/pairs.hpp"

namespace gradus::train {
namespace {

constexpr std::uint64_t held_out_one_in = 10;

// A generator gives up when so many draws in a row bring nothing new. The last held-out day of the
// dates task is missed by so many draws once in e^{200000/36525} = 240 tries, and nobody asks for
// the last one.
constexpr int patience = 200'000;

void check_count(const PairTask& task, std::int64_t number) {
  if (number < 0) fail("task {}: a count or position of {} pairs; give 0 or more", task.name, number);
}

}  // namespace

bool PairTask::held_out(std::uint64_t seed, std::string_view identity) const {
  return hash(hash(seed, "held out"), identity) % held_out_one_in == 0;
}

std::vector<Pair> PairTask::training(std::uint64_t seed, std::int64_t first, std::int64_t count) const {
  check_count(*this, first);
  check_count(*this, count);
  const std::uint64_t stream = hash(seed, "training");
  std::vector<Pair> pairs;
  pairs.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Generator generator(hash(stream, static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i)));
    Drawn drawn = draw(generator);
    while (held_out(seed, drawn.identity)) drawn = draw(generator);
    pairs.push_back(std::move(drawn.pair));
  }
  return pairs;
}

std::vector<Pair> PairTask::validation(std::uint64_t seed, std::int64_t count) const {
  check_count(*this, count);
  Generator generator(hash(seed, "validation"));
  std::vector<Pair> pairs;
  std::unordered_set<std::string> seen;
  int fruitless = 0;
  while (std::ssize(pairs) < count) {
    Drawn drawn = draw(generator);
    if (held_out(seed, drawn.identity) && seen.insert(std::move(drawn.identity)).second) {
      pairs.push_back(std::move(drawn.pair));
      fruitless = 0;
    } else if (++fruitless == patience) {
      fail("task {}: {} validation pairs asked for, but seed {} holds out only {}; ask for fewer", name, count, seed,
           pairs.size());
    }
  }
  return pairs;
}

double constant_baseline(std::span<const Pair> pairs) {
  if (pairs.empty()) fail("constant_baseline: no pairs; give at least one");
  std::unordered_map<std::string_view, int> counts;
  int commonest = 0;
  for (const Pair& pair : pairs) commonest = std::max(commonest, ++counts[pair.target]);
  return static_cast<double>(commonest) / static_cast<double>(pairs.size());
}

const std::vector<PairTask>& pair_tasks() {
  static const std::vector<PairTask> tasks{dates_task(), copy_task(), reverse_task(), sort_task(), add_task()};
  return tasks;
}

const PairTask& pair_task(std::string_view name) {
  std::string names;
  for (const PairTask& task : pair_tasks()) {
    if (task.name == name) return task;
    names += (names.empty() ? "" : ", ") + task.name;
  }
  fail("there is no task \"{}\"; choose one of {}", name, names);
}

}  // namespace gradus::train
