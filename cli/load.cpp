#include "cli/load.hpp"

namespace gradus::cli {

Loaded load_run(const std::string& runs, const std::string& name) {
  Loaded loaded{train::Run::open(runs, name), nullptr};
  train::Config config = loaded.run.config();
  loaded.learner = train::task(config.task).make(config);
  nn::load(loaded.learner->model(), loaded.run.model());
  loaded.learner->set_training(false);
  return loaded;
}

}  // namespace gradus::cli
