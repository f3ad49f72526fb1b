// Matrix products C = A B, row-major, through OpenBLAS in one thread per call.
#pragma once
#include "backend/native/kernel.hpp"

namespace uni::native {

struct Matrix {
  const void* data = nullptr;
  i64 leading = 0;          // elements between rows as stored
  bool transposed = false;  // stored as the transpose
};
// C[m, n] with rows `ldc` apart. T: float, double, C64, C128.
template <class T>
void gemm(i64 m, i64 n, i64 k, const Matrix& a, const Matrix& b, T* c, i64 ldc);
extern template void gemm<float>(i64, i64, i64, const Matrix&, const Matrix&, float*, i64);
extern template void gemm<double>(i64, i64, i64, const Matrix&, const Matrix&, double*, i64);
extern template void gemm<C64>(i64, i64, i64, const Matrix&, const Matrix&, C64*, i64);
extern template void gemm<C128>(i64, i64, i64, const Matrix&, const Matrix&, C128*, i64);

}  // namespace uni::native
