#pragma once
#include "core/observer.hpp"

#include <cstdint>

namespace gradus::study::toy {

/// Counts the work of the ops of this thread while it is observed: `WorkCount count; { const Observe watch(count); ...
/// }`. Views cost nothing. attention counts as its two products, and as one op.
class WorkCount final : public Observer {
 public:
  std::int64_t multiply_adds = 0;  ///< in products: rows times columns times what is summed over
  std::int64_t elements = 0;       ///< computed by all other ops
  std::int64_t bytes = 0;          ///< read and written, each op by itself
  std::int64_t ops = 0;            ///< that computed something

  void on_op(const OpEvent& event) override;
};

}  // namespace gradus::study::toy
