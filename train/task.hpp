// Tasks made of pairs: read a source, write its target. Data come from a generator, so there are as
// many training pairs as anybody wants, and what is held out is held out for certain.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradus {
class Generator;
}

namespace gradus::train {

/// One example: `source` is what the encoder reads, `target` what the decoder must write.
struct Pair {
  std::string source;
  std::string target;

  bool operator==(const Pair&) const = default;
};

/// A pair and the `identity` that decides its side. Pairs of one identity are either all training
/// or all validation: for dates it is the day, so that a held-out day occurs in training in no
/// format.
struct Drawn {
  Pair pair;
  std::string identity;
};

/// What a task is trained with unless told.
struct PairDefaults {
  std::int64_t steps = 1000;        ///< optimizer steps
  std::int64_t batch = 64;          ///< pairs per step
  std::int64_t width = 64;          ///< model width
  std::int64_t heads = 4;           ///< attention heads
  std::int64_t layers = 2;          ///< encoder layers, and as many decoder layers
  std::int64_t feed_forward = 256;  ///< inner width of the feed-forward blocks
  double learning_rate = 4e-3;      ///< the highest
};

/// A task of unlimited training pairs and unseen validation pairs; its metric is exact match of the
/// whole target.
///
/// Every identity is held out or not by its hash with the seed: about a tenth is. Training never
/// draws a held-out identity, validation draws nothing else. Same seed: the same pairs on every
/// machine.
struct PairTask {
  std::string name;
  std::string description;      ///< one sentence
  std::string source_alphabet;  ///< every character that a source can hold, ascending
  std::string target_alphabet;  ///< every character that a target can hold, ascending
  std::int64_t longest_source;  ///< in characters
  std::int64_t longest_target;  ///< in characters
  double target;                ///< exact match to reach with the default steps and sizes, in [0, 1]
  PairDefaults defaults;
  std::function<Drawn(Generator&)> draw;  ///< one pair of either side

  /// Training pairs number `first` to `first + count - 1`. Pair i depends on the seed and i alone:
  /// a run that resumes needs no other state than its position. Errors: a negative number.
  std::vector<Pair> training(std::uint64_t seed, std::int64_t first, std::int64_t count) const;

  /// The first `count` validation pairs, no two of one identity; fewer are a prefix of more.
  /// Errors: a negative count, or more than there are held-out identities.
  std::vector<Pair> validation(std::uint64_t seed, std::int64_t count) const;

  /// Whether this identity belongs to the validation side.
  bool held_out(std::uint64_t seed, std::string_view identity) const;
};

/// Exact match of the best constant answer to these pairs: how often their commonest target occurs,
/// in [0, 1]. What a model must beat before it has learnt anything. Errors: no pairs.
double constant_baseline(std::span<const Pair> pairs);

/// All pair tasks, in the order in which they are shown.
const std::vector<PairTask>& pair_tasks();

/// The pair task of this name. Errors: no such task (the text lists them all).
const PairTask& pair_task(std::string_view name);

}  // namespace gradus::train
