#include "study/program.hpp"

namespace gradus::study {

Identity::Key Identity::key_of(const Tensor& x) {
  return {x.storage().data(),
          x.layout().offset,
          x.dtype(),
          {x.shape().begin(), x.shape().end()},
          {x.strides().begin(), x.strides().end()}};
}

int Identity::find(const Tensor& x) const {
  if (x.node())
    if (const int value = find(*x.node().get()); value >= 0) return value;
  if (x.is_ghost()) return -1;
  const auto it = by_numbers_.find(key_of(x));
  return it == by_numbers_.end() ? -1 : it->second;
}

int Identity::find(const Node& node) const {
  const auto it = by_node_.find(&node);
  return it == by_node_.end() ? -1 : it->second;
}

void Identity::set(const Tensor& x, int value) {
  if (x.node()) by_node_[x.node().get()] = value;
  if (!x.is_ghost()) by_numbers_[key_of(x)] = value;
}

namespace {

// Everything that was recorded, whether the result depends on it or not.
RecordedProgram everything(const Record& record) {
  RecordedProgram all;
  const auto add_value = [&](const Tensor& x, int made_by) {
    all.values.push_back(x);
    all.made_by.push_back(made_by);
    const int value = static_cast<int>(all.values.size()) - 1;
    all.identity.set(x, value);
    return value;
  };
  for (const Application& application : record.applications()) {
    RecordedProgram::Made made{std::make_shared<const Application>(application), {}, 0};
    for (const Tensor& x : application.inputs) {
      int value = -1;
      if (x.defined()) value = all.identity.find(x);
      if (x.defined() && value < 0) value = add_value(x, -1);
      made.inputs.push_back(value);
    }
    made.output = add_value(application.output, static_cast<int>(all.ops.size()));
    all.ops.push_back(std::move(made));
  }
  return all;
}

}  // namespace

RecordedProgram program_of(const Record& record, const Tensor& y) {
  RecordedProgram all = everything(record);
  all.result = all.identity.find(y);
  if (all.result < 0) {
    all.values.push_back(y);
    all.made_by.push_back(-1);
    all.result = static_cast<int>(all.values.size()) - 1;
    all.identity.set(y, all.result);
  }
  std::vector<bool> needed(all.values.size(), false);
  needed[static_cast<std::size_t>(all.result)] = true;
  for (std::size_t i = all.ops.size(); i-- > 0;) {
    if (!needed[static_cast<std::size_t>(all.ops[i].output)]) continue;
    for (const int input : all.ops[i].inputs)
      if (input >= 0) needed[static_cast<std::size_t>(input)] = true;
  }
  std::vector<RecordedProgram::Made> kept;
  for (RecordedProgram::Made& made : all.ops) {
    const auto output = static_cast<std::size_t>(made.output);
    all.made_by[output] = needed[output] ? static_cast<int>(kept.size()) : -1;
    if (needed[output]) kept.push_back(std::move(made));
  }
  all.ops = std::move(kept);
  return all;
}

}  // namespace gradus::study
