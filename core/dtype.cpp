#include "core/dtype.hpp"

namespace gradus {

DType dtype_from_name(std::string_view name) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::b8})
    if (name == name_of(dtype)) return dtype;
  fail("dtype: '{}' is not known; use f32, f64, i64 or b8", name);
}

void fail_not_floating(const char* op, DType dtype) {
  fail("{}: dtype {} is not floating; cast to f32 or f64 first", op, dtype);
}

void fail_not_number(const char* op) {
  fail("{}: dtype b8 holds truth values, not numbers; cast to i64 or f32 first", op);
}

}  // namespace gradus
