// What people see of a run, as text.
#pragma once

#include <cstdio>
#include <string>

#include "train/learner.hpp"
#include "train/run.hpp"
#include "train/tasks.hpp"

namespace gradus::cli {

/// What is about to be trained: task, model, run.
std::string introduction(const train::Task& task, const train::Learner& learner, const train::Run& run);

/// Samples of the model as a table (pairs) or a list (texts). `stream` is where it will be printed.
std::string samples_text(train::Learner& learner, const train::SampleOptions& options, std::FILE* stream);
std::string samples_text(const std::vector<train::Sample>& samples, std::FILE* stream);

/// The attention of one sample as a heat map.
std::string attention_text(train::Learner& learner, const std::string& input, std::FILE* stream);

/// The last line of a training.
std::string result_text(const train::Result& result);

/// Columns of equal width, two spaces apart; the last is clipped to the terminal.
std::string table(const std::vector<std::vector<std::string>>& rows, int columns);

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t n);

}  // namespace gradus::cli
