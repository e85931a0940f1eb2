#pragma once
#include <functional>
#include <string>
#include <vector>

namespace gradus::bench {

/// One thing to time: `make` builds the tensors or the model and returns the step that is repeated.
struct Workload {
  std::string name;
  std::string description;
  std::function<std::function<void()>()> make;
};

/// The workloads of the overhead and of the comparison with PyTorch, by name.
const std::vector<Workload>& workloads();

}  // namespace gradus::bench
