#include "nn/module.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace gradus::nn {
namespace {

/// "Linear" of gradus::nn::Linear, "Sequential" of Sequential<...>.
std::string short_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : type.name();
  name.erase(std::min(name.find('<'), name.size()));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

std::string in_units(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

struct Row {
  std::string path;
  std::size_t depth;
  std::string name;    // below the module around it
  std::string what;    // type or shape
  std::int64_t count;  // elements; of a module those of all that it holds
  bool is_module;
  bool holds_tensors = false;
  std::string remark = {};
};

class Rows final : public PartVisitor {
 public:
  std::vector<Row> rows;
  std::vector<std::pair<std::string, Tensor>> seen;

  void tensor(const Path& path, Tensor& part) override {
    Row& row = add(to_string(path), fmt::format("{}", part.shape()), false);
    for (const std::size_t module : open_) rows[module].holds_tensors = true;
    const auto known =
        std::find_if(seen.begin(), seen.end(), [&](const auto& s) { return same_tensor(s.second, part); });
    if (known != seen.end()) {
      row.remark = "is " + known->first;
      return;
    }
    seen.emplace_back(row.path, part);
    row.count = part.numel();
    if (!part.requires_grad()) row.remark = "buffer";
    for (const std::size_t module : open_) rows[module].count += part.numel();
  }
  void module(const Path& path, const std::type_info& type, bool*) override {
    add(to_string(path), short_name(type), true);
    open_.push_back(rows.size() - 1);
  }

 private:
  // Closes the modules that do not hold `path`, then adds a row below the innermost one that is left.
  Row& add(const std::string& path, const std::string& what, bool is_module) {
    const auto holds = [&](const std::string& module) { return module.empty() || path.starts_with(module + "."); };
    while (!open_.empty() && !holds(rows[open_.back()].path)) open_.pop_back();
    const std::size_t known = open_.empty() ? 0 : rows[open_.back()].path.size();
    const std::string name = path.empty() ? "" : path.substr(known ? known + 1 : 0);
    rows.push_back({path, open_.size(), name, what, 0, is_module});
    return rows.back();
  }
  std::vector<std::size_t> open_;
};

}  // namespace

std::string summary(AnyModule m) {
  Rows walk;
  m.walk(walk);
  std::erase_if(walk.rows, [](const Row& row) { return row.is_module && !row.holds_tensors && row.depth > 0; });
  std::vector<std::string> names;
  std::size_t width = 0, what = 0;
  for (const Row& row : walk.rows) {
    names.push_back(std::string(2 * row.depth, ' ') + (row.depth ? row.name : row.what));
    width = std::max(width, names.back().size());
    what = std::max(what, row.what.size());
  }
  std::int64_t parameters = 0, buffers = 0, bytes = 0;
  for (const auto& [name, tensor] : walk.seen) {
    (tensor.requires_grad() ? parameters : buffers) += tensor.numel();
    bytes += tensor.numel() * bytes_of(tensor.dtype());
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Row& row = walk.rows[i];
    const std::string number = row.count || row.remark.empty() ? grouped(row.count) : "";
    text += fmt::format("{:<{}}  {:<{}}  {:>12}", names[i], width, row.depth ? row.what : "", what, number);
    if (!row.remark.empty()) text += "  " + row.remark;
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  const std::string more = buffers ? fmt::format(" and {} elements of buffers", grouped(buffers)) : "";
  return text + fmt::format("{} parameters{} in {} tensors, {}\n", grouped(parameters), more, walk.seen.size(),
                            in_units(bytes));
}

}  // namespace gradus::nn
