#include "bench/workloads.hpp"

#include "core/error.hpp"

#include <algorithm>

namespace gradus::bench {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list;
    for (const auto family : {chains, models, attentions, rows, microgpts})
      for (Workload& w : family()) list.push_back(std::move(w));
    return list;
  }();
  return all;
}

const Workload& find_workload(const std::string& name) {
  const auto& all = workloads();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Workload& w) { return w.name == name; });
  if (found == all.end()) fail("workload: there is none named '{}'; --list shows them", name);
  return *found;
}

}  // namespace gradus::bench
