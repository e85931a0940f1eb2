#pragma once
#include "study/record.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

// What was recorded, as a program: values, each made by at most one op, and the ops in order. Names come later.
namespace gradus::study {

/// Values of a recording by identity: a tensor is the value whose graph node it has, or else the one whose numbers it
/// reads (the same storage in the same layout).
class Identity {
 public:
  /// The value that x is, or -1.
  int find(const Tensor& x) const;
  /// From now on x is that value.
  void set(const Tensor& x, int value);
  /// The value whose node it is, or -1.
  int find(const Node& node) const;

 private:
  using Key = std::tuple<const void*, std::int64_t, DType, std::vector<std::int64_t>, std::vector<std::int64_t>>;
  static Key key_of(const Tensor& x);
  std::map<const Node*, int> by_node_;
  std::map<Key, int> by_numbers_;
};

/// The ops that a result depends on.
struct RecordedProgram {
  struct Made {
    std::shared_ptr<const Application> op;
    std::vector<int> inputs;  ///< values; -1 where an optional tensor was not given
    int output = 0;
  };
  std::vector<Tensor> values;
  std::vector<int> made_by;  ///< for each value: index into ops, or -1
  std::vector<Made> ops;     ///< in the order in which they ran
  int result = 0;
  Identity identity;  ///< of all values
};

/// What `y` depends on in the recording. Values that no recorded op made are given ones.
RecordedProgram program_of(const Record& record, const Tensor& y);

}  // namespace gradus::study
