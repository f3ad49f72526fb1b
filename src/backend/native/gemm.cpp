#include "backend/native/gemm.hpp"

#include <cblas.h>

#include "backend/native/blas.hpp"

namespace uni::native {

template <class T>
void gemm(i64 m, i64 n, i64 k, const T* a, const T* b, T* c, bool add) {
  set_up_blas();
  const int M = static_cast<int>(m), N = static_cast<int>(n), K = static_cast<int>(k);
  const auto call = [&](auto function, const auto& one, const auto& beta) {
    function(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, one, a, K, b, N, beta, c, N);
  };
  const T one = [] {
    if constexpr (is_complex_like<T>)
      return T{1, 0};
    else
      return T(1);
  }();
  const T beta = add ? one : T{};
  if constexpr (std::is_same_v<T, float>)
    call(cblas_sgemm, one, beta);
  else if constexpr (std::is_same_v<T, double>)
    call(cblas_dgemm, one, beta);
  else if constexpr (std::is_same_v<T, C64>)
    call(cblas_cgemm, &one, &beta);
  else
    call(cblas_zgemm, &one, &beta);
}
template void gemm<float>(i64, i64, i64, const float*, const float*, float*, bool);
template void gemm<double>(i64, i64, i64, const double*, const double*, double*, bool);
template void gemm<C64>(i64, i64, i64, const C64*, const C64*, C64*, bool);
template void gemm<C128>(i64, i64, i64, const C128*, const C128*, C128*, bool);

}  // namespace uni::native
