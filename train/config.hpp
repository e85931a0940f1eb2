// What is trained, and how: all that decides the weights of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::train {

/// All that decides the weights of a run besides the code: equal configurations make equal weights.
struct Config {
  std::string task;  ///< what is learnt: a name of tasks()
  std::string file;  ///< the text to learn from, for the task `text`
  std::string held_out = "automatic";
  std::uint64_t seed = 0;
  std::int64_t steps = 1000;
  std::int64_t batch = 128;
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t layers = 2;
  std::int64_t feed_forward = 256;
  std::int64_t context = 64;
  double dropout = 0;
  double learning_rate = 3e-3;
  std::int64_t warmup = 100;
  double weight_decay = 0.01;
  double clip = 1;
  std::string text_hash;                       ///< of the file's characters; filled in when it is read
  std::vector<std::string> source_vocabulary;  ///< filled in when the model is made
  std::vector<std::string> target_vocabulary;  ///< likewise; a language model has only this one

  /// Calls f(name, field, help) for each field in order. Fields with an empty help text are no flags.
  void fields(auto&& f) {
    f("task", task, "");
    f("file", file, "text: the UTF-8 file to learn from");
    f("held_out", held_out, "text: what is held out for validation: lines, blocks (of 1,024 characters) or automatic");
    f("seed", seed, "decides weights, data and what is held out");
    f("steps", steps, "optimizer steps");
    f("batch", batch, "examples per step");
    f("width", width, "width of the model, in numbers per token");
    f("heads", heads, "attention heads; they divide the width");
    f("layers", layers, "layers, of the encoder and of the decoder each");
    f("feed_forward", feed_forward, "inner width of the feed-forward layers");
    f("context", context, "text: the longest window, in characters");
    f("dropout", dropout, "fraction of activations dropped in training");
    f("learning_rate", learning_rate, "highest learning rate; it falls to 0 along a cosine");
    f("warmup", warmup, "steps in which the learning rate rises to its highest");
    f("weight_decay", weight_decay, "decoupled weight decay of AdamW, per step and unit of learning rate");
    f("clip", clip, "largest norm of the gradient; longer ones are scaled down");
    f("text_hash", text_hash, "");
    f("source_vocabulary", source_vocabulary, "");
    f("target_vocabulary", target_vocabulary, "");
  }
};

/// Errors: a number out of its range, naming it and what would do.
void check(const Config& config);

/// The configuration as indented JSON, one field a line.
std::string to_json(const Config& config);

/// Reads what to_json wrote; `name` is what errors call it. Fields that are left out keep their defaults.
/// Errors: no JSON, an unknown field, a field of the wrong kind.
Config config_from_json(std::string_view json, std::string_view name);

/// `feed_forward` as a flag: `feed-forward`.
std::string flag_name(std::string_view field);

}  // namespace gradus::train
