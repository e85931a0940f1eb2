#include "study/record.hpp"

#include "core/mode.hpp"

namespace gradus::study {
namespace {

thread_local const Record* innermost = nullptr;

}  // namespace

Record::Record() : saved_(mode()), outer_(innermost) {
  mode().observer = this;
  mode().reference = true;
  innermost = this;
}

Record::~Record() {
  mode().observer = saved_.observer;
  mode().reference = saved_.reference;
  innermost = outer_;
}

const Record* Record::current() { return innermost; }

void Record::on_op(const OpEvent& event) {
  applications_.push_back(
      {&event.type, event.type.copy(event.op), {event.inputs.begin(), event.inputs.end()}, event.output});
}

}  // namespace gradus::study
