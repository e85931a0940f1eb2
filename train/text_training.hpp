// Learning a text: each character from those before it.
#pragma once

#include <memory>

#include "train/config.hpp"
#include "train/learner.hpp"

namespace gradus::train {

/// A decoder-only transformer (GPT) over the characters of config.file, with fresh weights from the default generator.
/// Its metric is nats per character of the held-out tenth. Fills in the config's vocabulary and the hash of the text;
/// where they are there (a saved run) the file is read only when data are needed. Errors: those of load_text, and a
/// file that has changed since.
std::unique_ptr<Learner> make_text_learner(Config& config);

}  // namespace gradus::train
