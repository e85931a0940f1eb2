#include "train/config.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace gradus::train {
namespace {

void at_least(std::string_view field, std::int64_t value, std::int64_t least) {
  if (value < least) fail("train: --{} is {}; give {} or more", flag_name(field), value, least);
}

void within(std::string_view field, double value, bool good, std::string_view range) {
  if (!good) fail("train: --{} is {}; give {}", flag_name(field), value, range);
}

}  // namespace

std::string flag_name(std::string_view field) {
  std::string name(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void check(const Config& c) {
  at_least("steps", c.steps, 1);
  at_least("batch", c.batch, 1);
  at_least("width", c.width, 1);
  at_least("heads", c.heads, 1);
  at_least("layers", c.layers, 1);
  at_least("feed_forward", c.feed_forward, 1);
  at_least("context", c.context, 1);
  at_least("warmup", c.warmup, 0);
  if (c.width % c.heads != 0)
    fail("train: --heads {} does not divide --width {}; choose a width that is a multiple of the heads", c.heads,
         c.width);
  within("dropout", c.dropout, c.dropout >= 0 && c.dropout < 1, "0 or more and less than 1");
  within("learning_rate", c.learning_rate, c.learning_rate > 0 && std::isfinite(c.learning_rate), "more than 0");
  within("weight_decay", c.weight_decay, c.weight_decay >= 0 && std::isfinite(c.weight_decay), "0 or more");
  within("clip", c.clip, c.clip > 0 && std::isfinite(c.clip), "more than 0");
  if (c.held_out != "automatic" && c.held_out != "lines" && c.held_out != "blocks")
    fail("train: --held-out is \"{}\"; give lines, blocks or automatic", c.held_out);
}

std::string to_json(const Config& config) {
  nlohmann::ordered_json json;
  Config copy = config;
  copy.fields([&](const char* name, const auto& field, const char*) { json[name] = field; });
  return json.dump(2) + "\n";
}

Config config_from_json(std::string_view text, std::string_view name) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail("{} is no JSON: {}; it is written by `gradus train`, do not edit it", name, error.what());
  }
  if (!json.is_object()) fail("{} holds no JSON object; it is written by `gradus train`", name);
  Config config;
  config.fields([&](const char* field_name, auto& field, const char*) {
    const auto found = json.find(field_name);
    if (found == json.end()) return;
    try {
      found->get_to(field);
    } catch (const nlohmann::json::exception&) {
      fail("{}: field {} is {}, of the wrong kind", name, field_name, found->dump());
    }
    json.erase(found);
  });
  if (!json.empty()) fail("{}: unknown field {}; was it written by a newer Gradus?", name, json.begin().key());
  return config;
}

}  // namespace gradus::train
