#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradus::bench {

/// What a workload is made with.
struct Setup {
  bool small = false;  ///< sizes that a test can afford, the same ops
  std::string file;    ///< names, one a line, for microgpt; empty: made up
};

/// A workload ready to run: its data and model exist, `step` is what is timed.
struct Prepared {
  std::function<void()> step;
  double scale = 1;                ///< the time that is told is that of this many steps
  std::int64_t parameters = 0;     ///< elements of the model's parameters; 0 without a model
  std::function<double()> loss{};  ///< of the last step, where rivals must agree on it
  std::int64_t given_bytes = 0;    ///< inputs, outputs and their gradients, which any implementation holds; 0: not told
};

/// One thing to time, found by its name.
struct Workload {
  std::string name;
  std::string description;
  std::function<Prepared(const Setup&)> make;
  int threads = 0;  ///< runs on so many; 0: as many as asked for
};

// The families, one file each.
std::vector<Workload> chains();      ///< bench/chains.cpp
std::vector<Workload> models();      ///< bench/models.cpp
std::vector<Workload> attentions();  ///< bench/attention.cpp
std::vector<Workload> rows();        ///< bench/rows.cpp
std::vector<Workload> microgpts();   ///< bench/microgpt.cpp

/// All families, in that order.
const std::vector<Workload>& workloads();
/// The workload of that name. Error, naming --list, when there is none.
const Workload& find_workload(const std::string& name);

/// Milliseconds that BLAS alone needs, on one thread or on all, for the matrix products of one step. See bench/floor.cpp.
struct Floor {
  double median_ms = 0, min_ms = 0;
  std::int64_t products = 0, repeats = 0;
  int blas_threads = 0;
  double gflop = 0;
};
Floor blas_floor(const Prepared& prepared, double seconds, bool once);

}  // namespace gradus::bench
