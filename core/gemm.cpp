#include "core/gemm.hpp"

#include "core/parallel.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>

namespace gradus {
namespace {

void call_blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a, int lda,
               const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void call_blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a, int lda,
               const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// BLAS runs on one thread: pieces of a product are shared out here, by shape, so that bits do not depend on the number
// of threads. OpenBLAS' OpenMP build asks for the number of threads per calling thread, so each says it once.
void single_threaded_blas() {
  thread_local const bool said = [] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    openblas_set_num_threads(1);
    return true;
  }();
  (void)said;
}

int blas_int(std::int64_t n) {
  if (n > std::numeric_limits<int>::max())
    fail("matmul: an extent or stride of {} exceeds what BLAS can count (2^31 - 1)", n);
  return static_cast<int>(n);
}

// A matrix as BLAS takes it: dense rows, or dense columns read as a transpose; anything else is packed into `copy`.
template <class T>
struct BlasMatrix {
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  const T* data;
  int leading;
  PoolVector<T> copy;

  BlasMatrix(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t row, std::int64_t column) : data(x) {
    if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
      leading = blas_int(std::max<std::int64_t>({1, columns, rows == 1 ? 0 : row}));
    } else if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
      transpose = CblasTrans;
      leading = blas_int(std::max<std::int64_t>({1, rows, columns == 1 ? 0 : column}));
    } else {
      copy.resize(static_cast<std::size_t>(rows * columns));
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          copy[static_cast<std::size_t>(i * columns + j)] = x[i * row + j * column];
      data = copy.data();
      leading = blas_int(std::max<std::int64_t>(1, columns));
    }
  }
  // The part that starts at row i (of the matrix as the caller sees it).
  const T* row(std::int64_t i) const { return data + (transpose == CblasNoTrans ? i * leading : i); }
  const T* column(std::int64_t j) const { return data + (transpose == CblasNoTrans ? j : j * leading); }
};

// Pieces of one product: two from 3 MFLOP on, four from 128 MFLOP on, of at least 32 rows or columns. Few and large, since
// each piece packs the other factor again.
std::int64_t piece_size(std::int64_t extent, std::int64_t flops) {
  const std::int64_t pieces = flops < 3'000'000 ? 1 : flops < 128'000'000 ? 2 : 4;
  const std::int64_t size = (extent + pieces - 1) / pieces;
  return std::max<std::int64_t>(32, (size + 15) / 16 * 16);
}

}  // namespace

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t a_row,
          std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t b_column, T beta, T* c,
          std::int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T{0} ? T{0} : beta * c[i * ldc + j];
    return;
  }
  const BlasMatrix<T> left(m, k, a, a_row, a_column);
  const BlasMatrix<T> right(k, n, b, b_row, b_column);
  const int inner = blas_int(k), ld = blas_int(std::max(ldc, n));
  const std::int64_t flops = m > (std::int64_t{1} << 60) / n / k / 2 ? std::int64_t{1} << 60 : 2 * m * n * k;
  // Called in every piece: a worker thread has to say it too.
  if (m >= n) {
    parallel_for(m, piece_size(m, flops), [&](std::int64_t begin, std::int64_t end) {
      single_threaded_blas();
      call_blas(left.transpose, right.transpose, blas_int(end - begin), blas_int(n), inner, alpha, left.row(begin),
                left.leading, right.data, right.leading, beta, c + begin * ldc, ld);
    });
  } else {
    parallel_for(n, piece_size(n, flops), [&](std::int64_t begin, std::int64_t end) {
      single_threaded_blas();
      call_blas(left.transpose, right.transpose, blas_int(m), blas_int(end - begin), inner, alpha, left.data,
                left.leading, right.column(begin), right.leading, beta, c + begin, ld);
    });
  }
}

template void gemm<float>(std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t, std::int64_t,
                          const float*, std::int64_t, std::int64_t, float, float*, std::int64_t);
template void gemm<double>(std::int64_t, std::int64_t, std::int64_t, double, const double*, std::int64_t, std::int64_t,
                           const double*, std::int64_t, std::int64_t, double, double*, std::int64_t);

Tensor batched_gemm(const char* op, const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  Shape lead_a = a.shape(), lead_b = b.shape();
  lead_a.erase(a.rank() - 1), lead_a.erase(a.rank() - 2);
  lead_b.erase(b.rank() - 1), lead_b.erase(b.rank() - 2);
  const Shape batch = broadcast_shapes(op, lead_a, lead_b);
  Shape full_a = batch, full_b = batch, out = batch;
  full_a.push_back(m), full_a.push_back(k), full_b.push_back(k), full_b.push_back(n), out.push_back(m),
      out.push_back(n);
  const Layout x = broadcast_to(op, a.layout(), full_a), y = broadcast_to(op, b.layout(), full_b);
  Tensor c(out, a.dtype());
  const int r = batch.rank();
  const std::int64_t count = batch.numel();
  dispatch_floating(op, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const pa = a.data<T>();
    const T* const pb = b.data<T>();
    T* const pc = c.fresh_data<T>();
    const auto one = [&](std::int64_t i) {
      std::int64_t oa = 0, ob = 0, rest = i;
      for (int axis = r - 1; axis >= 0; --axis) {
        const std::int64_t at = rest % batch[axis];
        rest /= batch[axis];
        oa += at * x.strides[axis], ob += at * y.strides[axis];
      }
      gemm<T>(m, n, k, T{1}, pa + oa, x.strides[r], x.strides[r + 1], pb + ob, y.strides[r], y.strides[r + 1], T{0},
              pc + i * m * n, n);
    };
    // b shared by all items and a dense over them: one tall product, the common case of a linear layer.
    bool tall = count > 1;
    for (int axis = 0; axis < r; ++axis) tall = tall && (batch[axis] == 1 || y.strides[axis] == 0);
    std::int64_t expected = m * x.strides[r];
    for (int axis = r - 1; axis >= 0 && tall; --axis) {
      tall = batch[axis] == 1 || x.strides[axis] == expected;
      expected *= batch[axis];
    }
    if (tall && m > 0)
      return gemm<T>(count * m, n, k, T{1}, pa, x.strides[r], x.strides[r + 1], pb, y.strides[r], y.strides[r + 1],
                     T{0}, pc, n);
    const double cost = 100 + 2e-2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    parallel_for(count, count > 1 ? chunk_for(cost) : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) one(i);
    });
  });
  return c;
}

const char* blas_core() { return openblas_get_corename(); }

}  // namespace gradus
