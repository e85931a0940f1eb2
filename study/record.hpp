#pragma once
#include "core/observer.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradus::study {

/// One op as it ran: enough to run it again on other inputs.
struct Application {
  const OpType* type = nullptr;
  std::shared_ptr<const void> op;  ///< a copy of the op, with its attributes
  std::vector<Tensor> inputs;      ///< undefined where an optional tensor was not given
  Tensor output;

  const OpInfo& info() const { return *type->info; }
  std::vector<Value> attributes() const { return type->attributes(op.get()); }
  /// The same op, with the same random key, on these inputs.
  Tensor run(std::span<const Tensor> x) const { return type->run(op.get(), x); }
};

/// While it lives, every op of this thread is kept with its inputs and output, so that what was computed can be derived
/// step by step. Fused ops run as the compositions that define them: a derivation shows their steps. Memory grows with
/// every op.
class Record final : public Observer {
 public:
  Record();
  ~Record() override;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  /// Calls `x` by that name in derivations: `record.name("W_Q", wq)`. A value keeps its first name; later ones are
  /// aliases.
  void name(std::string name, const Tensor& x) { names_.emplace_back(std::move(name), x); }

  const std::vector<Application>& applications() const { return applications_; }
  const std::vector<std::pair<std::string, Tensor>>& names() const { return names_; }

  /// The innermost one of this thread, or null.
  static const Record* current();

  void on_op(const OpEvent& event) override;

 private:
  std::vector<Application> applications_;
  std::vector<std::pair<std::string, Tensor>> names_;
  Mode saved_;
  const Record* outer_;
};

}  // namespace gradus::study
