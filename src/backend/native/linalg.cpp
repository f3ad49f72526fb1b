// Factorisations by LAPACK, one matrix in one thread. LAPACK's matrices lie by columns: a row-major matrix is its
// transpose there.
#include "ops/linalg.hpp"

#include <cblas.h>

#include <limits>

#include "backend/native/blas.hpp"
#include "backend/native/lapack.hpp"
#include "backend/native/matrix.hpp"

namespace uni::native {

namespace {
template <class T>
void clear_above(T* x, i64 n) {
  for (i64 i = 0; i < n; ++i) std::fill(x + i * n + i + 1, x + (i + 1) * n, T{});
}
// The lower triangle by rows is the upper one by columns.
template <class T>
void cholesky_of(const T* x, T* factor, i64 n) {
  std::copy_n(x, n * n, factor);
  const int size = static_cast<int>(n);
  int info = 0;
  Lapack<T>::potrf("U", &size, factor, &size, &info, 1);
  bool fails = info != 0;
  for (i64 i = 0; i < n; ++i) fails = fails || is_nan(factor[i * n + i]);
  if (fails) std::fill_n(factor, n * n, not_a_number<T>());
  clear_above(factor, n);
}
void cholesky(const KernelArgs& k) {
  const i64 n = k.in[0].shape()[-1];
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(k.in[0].shape(), n * n * n / 3,
                    [&](i64 lane) { cholesky_of(k.in[0].as<T>() + lane * n * n, k.out[0].as<T>() + lane * n * n, n); });
  });
}

template <class T>
void solve(const ops::TriangularSolve& p, const T* a, T* x, int rows, int columns) {
  const auto side = p.left ? CblasLeft : CblasRight;
  const auto uplo = p.lower ? CblasLower : CblasUpper;
  const auto trans = !p.transpose ? CblasNoTrans : p.conjugate ? CblasConjTrans : CblasTrans;
  const auto diagonal = p.unit ? CblasUnit : CblasNonUnit;
  const int order = p.left ? rows : columns;
  const auto call = [&](auto function, const auto& one) {
    function(CblasRowMajor, side, uplo, trans, diagonal, rows, columns, one, a, order, x, columns);
  };
  if constexpr (std::is_same_v<T, float>) {
    call(cblas_strsm, 1.0f);
  } else if constexpr (std::is_same_v<T, double>) {
    call(cblas_dtrsm, 1.0);
  } else {
    const T one{1, 0};
    call(std::is_same_v<T, C64> ? cblas_ctrsm : cblas_ztrsm, &one);
  }
}
void triangular_solve(const KernelArgs& k) {
  const auto& p = k.params.as<ops::TriangularSolve>();
  const Dims& shape = k.in[1].shape();
  const i64 n = k.in[0].shape()[-1], rows = shape[-2], columns = shape[-1];
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(shape, n * rows * columns, [&](i64 lane) {
      const T* a = k.in[0].as<T>() + lane * n * n;
      T* x = k.out[0].as<T>() + lane * rows * columns;
      std::copy_n(k.in[1].as<T>() + lane * rows * columns, rows * columns, x);
      std::vector<T> conjugated;
      if constexpr (is_complex_like<T>)
        if (p.conjugate && !p.transpose) {
          conjugated.assign(a, a + n * n);
          for (T& v : conjugated) v.im = -v.im;
          a = conjugated.data();
        }
      solve(p, a, x, static_cast<int>(rows), static_cast<int>(columns));
    });
  });
}

constexpr KernelEntry entries[] = {{&ops::cholesky, cholesky}, {&ops::triangular_solve, triangular_solve}};
}  // namespace

std::span<const KernelEntry> linalg_kernels() { return entries; }

}  // namespace uni::native
