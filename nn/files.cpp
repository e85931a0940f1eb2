#include "core/mode.hpp"
#include "nn/module.hpp"

#include <cstring>
#include <map>

// Saving and loading of modules.
namespace gradus::nn {
namespace {

/// One tensor of the module with all its names (several when it is tied), and the values found for it.
struct Slot {
  std::vector<std::string> names;
  Tensor tensor;
  const Tensor* source = nullptr;
};

std::vector<Slot> slots_of(AnyModule m) {
  class Collector final : public PartVisitor {
   public:
    std::vector<Slot> slots;
    void tensor(const Path& path, Tensor& part) override {
      for (Slot& slot : slots)
        if (same_tensor(slot.tensor, part)) return slot.names.push_back(to_string(path));
      slots.push_back({{to_string(path)}, part});
    }
  };
  Collector collector;
  m.walk(collector);
  return std::move(collector.slots);
}

/// Both float types fit either; other types must be equal.
bool fits(DType from, DType to) { return from == to || (is_floating(from) && is_floating(to)); }

bool equal_values(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = packed(a), y = packed(b);
  const auto first = [](const Tensor& t) {
    return static_cast<const char*>(t.storage().data()) + t.layout().offset * bytes_of(t.dtype());
  };
  return std::memcmp(first(x), first(y), static_cast<std::size_t>(x.numel() * bytes_of(x.dtype()))) == 0;
}

/// What does not fit, kind by kind, for one message.
struct Complaints {
  std::string missing, extra, wrong, tied;
  static void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }
  bool any() const { return !(missing.empty() && extra.empty() && wrong.empty() && tied.empty()); }
  std::string text() const {
    std::string all;
    const auto say = [&](const char* kind, const std::string& list) {
      if (!list.empty()) all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", kind, list);
    };
    say("missing", missing);
    say("extra", extra);
    say("wrong", wrong);
    say("tied, but with different values", tied);
    return all;
  }
};

/// Finds the values of one slot and takes them out of `unused`.
void find_source(Slot& slot, std::map<std::string, const Tensor*>& unused, Complaints& complaints) {
  bool misfit = false;
  for (const std::string& name : slot.names) {
    const auto found = unused.find(name);
    if (found == unused.end()) continue;
    const Tensor& given = *found->second;
    unused.erase(found);
    if (given.shape() != slot.tensor.shape() || !fits(given.dtype(), slot.tensor.dtype())) {
      misfit = true;
      Complaints::add(complaints.wrong, fmt::format("{} is {} {} where the module has {} {}", name, given.dtype(),
                                                    given.shape(), slot.tensor.dtype(), slot.tensor.shape()));
    } else if (!slot.source) {
      slot.source = &given;
    } else if (!equal_values(*slot.source, given)) {
      Complaints::add(complaints.tied, name + " and " + slot.names.front());
    }
  }
  if (!slot.source && !misfit) Complaints::add(complaints.missing, slot.names.front());
}

void load_from(const std::string& where, AnyModule m, const NamedTensors& from) {
  std::map<std::string, const Tensor*> unused;
  Complaints complaints;
  for (const auto& [name, tensor] : from)
    if (!unused.emplace(name, &tensor).second) fail("load: {} names {} twice; names must differ", where, name);
  std::vector<Slot> slots = slots_of(m);
  for (Slot& slot : slots) find_source(slot, unused, complaints);
  for (const auto& [name, tensor] : unused) Complaints::add(complaints.extra, name);
  if (complaints.any())
    fail("load: {} does not fit the module; {}; build the module with the options it was saved with", where,
         complaints.text());
  const NoGrad guard;
  for (Slot& slot : slots) assign(slot.tensor, *slot.source);
}

}  // namespace

void save(AnyModule m, const std::filesystem::path& path, const std::map<std::string, std::string>& metadata) {
  save_safetensors(path, named_tensors(m), metadata);
}

void load(AnyModule m, const NamedTensors& from) { load_from("the list of tensors", m, from); }

void load(AnyModule m, const std::filesystem::path& path) {
  load_from(path.string(), m, load_safetensors(path).tensors);
}

}  // namespace gradus::nn
