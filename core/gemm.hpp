#pragma once
#include "core/tensor.hpp"

namespace gradus {

/// c <- a b, batched and stride-aware: a [..., m, k], b [..., k, n] with broadcast leading axes, f32 or f64.
/// Matrices whose rows or columns are dense go to BLAS as they are (transposed where needed), others are packed first.
/// Split over threads by the shape alone, single-threaded BLAS in each piece: the bits do not depend on the number of
/// threads.
Tensor batched_gemm(const char* op, const Tensor& a, const Tensor& b);

/// c <- alpha a b + beta c for one matrix product given by pointers and strides (elements); c is row-major with row
/// stride ldc.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t a_row,
          std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t b_column, T beta, T* c, std::int64_t ldc);

/// The kernel that OpenBLAS chose, e.g. "Haswell".
const char* blas_core();

}  // namespace gradus
