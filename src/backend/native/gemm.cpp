#include "backend/native/gemm.hpp"

#include <cblas.h>

#include <algorithm>

#include "backend/native/blas.hpp"

namespace uni::native {

namespace {
int blas_int(i64 n) { return static_cast<int>(n); }
CBLAS_TRANSPOSE order(const Matrix& m) { return m.transposed ? CblasTrans : CblasNoTrans; }

// y = M x with M of rows x columns, or of columns x rows when M is transposed.
template <class T>
void gemv(i64 rows, i64 columns, const Matrix& m, const T* x, i64 x_step, T* y, i64 y_step) {
  const int R = blas_int(m.transposed ? columns : rows), C = blas_int(m.transposed ? rows : columns),
            L = blas_int(std::max<i64>(m.leading, 1)), X = blas_int(std::max<i64>(x_step, 1)),
            Y = blas_int(std::max<i64>(y_step, 1));
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemv(CblasRowMajor, order(m), R, C, 1, static_cast<const float*>(m.data), L, x, X, 0, y, Y);
  else
    cblas_dgemv(CblasRowMajor, order(m), R, C, 1, static_cast<const double*>(m.data), L, x, X, 0, y, Y);
}
// Products with a row or a column: several times faster than as products of matrices.
template <class T>
void matrix_vector(i64 m, i64 n, i64 k, const Matrix& a, const Matrix& b, T* c, i64 ldc) {
  if (n == 1) return gemv<T>(m, k, a, static_cast<const T*>(b.data), b.transposed ? 1 : b.leading, c, ldc);
  gemv<T>(n, k, {b.data, b.leading, !b.transposed}, static_cast<const T*>(a.data), a.transposed ? a.leading : 1, c, 1);
}
}  // namespace

template <class T>
void gemm(i64 m, i64 n, i64 k, const Matrix& a, const Matrix& b, T* c, i64 ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (i64 i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T{});
    return;
  }
  set_up_blas();
  const int M = blas_int(m), N = blas_int(n), K = blas_int(k), A = blas_int(std::max<i64>(a.leading, 1)),
            B = blas_int(std::max<i64>(b.leading, 1)), C = blas_int(std::max<i64>(ldc, 1));
  if constexpr (std::is_floating_point_v<T>)
    if (m == 1 || n == 1) return matrix_vector<T>(m, n, k, a, b, c, ldc);
  const T one = [] {
    if constexpr (is_complex_like<T>)
      return T{1, 0};
    else
      return T(1);
  }();
  const T zero{};
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, order(a), order(b), M, N, K, one, static_cast<const float*>(a.data), A,
                static_cast<const float*>(b.data), B, zero, c, C);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(CblasRowMajor, order(a), order(b), M, N, K, one, static_cast<const double*>(a.data), A,
                static_cast<const double*>(b.data), B, zero, c, C);
  else if constexpr (std::is_same_v<T, C64>)
    cblas_cgemm(CblasRowMajor, order(a), order(b), M, N, K, &one, a.data, A, b.data, B, &zero, c, C);
  else
    cblas_zgemm(CblasRowMajor, order(a), order(b), M, N, K, &one, a.data, A, b.data, B, &zero, c, C);
}
template void gemm<float>(i64, i64, i64, const Matrix&, const Matrix&, float*, i64);
template void gemm<double>(i64, i64, i64, const Matrix&, const Matrix&, double*, i64);
template void gemm<C64>(i64, i64, i64, const Matrix&, const Matrix&, C64*, i64);
template void gemm<C128>(i64, i64, i64, const Matrix&, const Matrix&, C128*, i64);

}  // namespace uni::native
