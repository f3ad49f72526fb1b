// Matrix products through OpenBLAS, in the calling thread.
#pragma once
#include "backend/native/kernel.hpp"

namespace uni::native {

// c[m, n] (+)= a[m, k] b[k, n], row-major without gaps, none of m, n, k zero. T: float, double, C64, C128.
template <class T>
void gemm(i64 m, i64 n, i64 k, const T* a, const T* b, T* c, bool add);
extern template void gemm<float>(i64, i64, i64, const float*, const float*, float*, bool);
extern template void gemm<double>(i64, i64, i64, const double*, const double*, double*, bool);
extern template void gemm<C64>(i64, i64, i64, const C64*, const C64*, C64*, bool);
extern template void gemm<C128>(i64, i64, i64, const C128*, const C128*, C128*, bool);

}  // namespace uni::native
