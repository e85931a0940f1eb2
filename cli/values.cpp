#include "cli/values.hpp"

namespace gradus::cli {
namespace {

template <class T>
Json nested(const std::vector<T>& values, const Shape& shape, int axis, std::size_t& next) {
  if (axis == shape.rank()) {
    const T value = values[next++];
    if constexpr (std::is_floating_point_v<T>) return json_number(value);
    else return value;
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < shape[axis]; ++i) list.push_back(nested(values, shape, axis + 1, next));
  return list;
}

}  // namespace

std::string numpy_text(const Tensor& x) {
  std::string text = to_string(x);
  const std::string kind = fmt::format(" ({})", x.dtype());
  if (text.size() > kind.size() && text.compare(text.size() - kind.size(), kind.size(), kind) == 0)
    text.resize(text.size() - kind.size());
  return text;
}

std::string titled_text(const std::string& name, const Tensor& x) {
  if (x.rank() == 0) return fmt::format("{} = {}\n", name, numpy_text(x));
  return fmt::format("{} {} ={}{}\n", name, x.shape(), x.rank() == 1 ? " " : "\n", numpy_text(x));
}

Json tensor_json(const Tensor& x) {
  Json shape = Json::array();
  for (const std::int64_t n : x.shape()) shape.push_back(n);
  Json values = dispatch(x.dtype(), [&](auto zero) {
    std::size_t next = 0;
    return nested(x.to_vector<decltype(zero)>(), x.shape(), 0, next);
  });
  return {{"shape", std::move(shape)}, {"dtype", std::string(name_of(x.dtype()))}, {"values", std::move(values)}};
}

}  // namespace gradus::cli
