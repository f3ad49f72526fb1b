// Factorisations by LAPACK, one matrix in one thread. LAPACK's matrices lie by columns: a row-major matrix is its
// transpose there.
#include "ops/linalg.hpp"

#include <cblas.h>

#include <algorithm>
#include <numeric>

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
void triangular(const ops::TriangularSolve& p, const T* a, T* x, int rows, int columns) {
  const auto side = p.left ? CblasLeft : CblasRight;
  const auto uplo = p.lower ? CblasLower : CblasUpper;
  const auto trans = !p.transpose ? CblasNoTrans : p.conjugate ? CblasConjTrans : CblasTrans;
  const auto diagonal = p.unit ? CblasUnit : CblasNonUnit;
  const int order = p.left ? rows : columns;
  const auto call = [&](auto function, const auto& factor) {
    function(CblasRowMajor, side, uplo, trans, diagonal, rows, columns, factor, a, order, x, columns);
  };
  const T scale = one<T>();
  if constexpr (std::is_same_v<T, float>)
    call(cblas_strsm, scale);
  else if constexpr (std::is_same_v<T, double>)
    call(cblas_dtrsm, scale);
  else
    call(std::is_same_v<T, C64> ? cblas_ctrsm : cblas_ztrsm, &scale);
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
      triangular(p, a, x, static_cast<int>(rows), static_cast<int>(columns));
    });
  });
}

// LAPACK pivots rows, so the matrix is transposed into its order and back.
template <class T>
void transpose(const T* from, T* to, i64 rows, i64 columns) {
  constexpr i64 tile = 16;
  for (i64 row = 0; row < rows; row += tile)
    for (i64 column = 0; column < columns; column += tile)
      for (i64 i = row; i < std::min(rows, row + tile); ++i)
        for (i64 k = column; k < std::min(columns, column + tile); ++k) to[k * rows + i] = from[i * columns + k];
}
// Factors a matrix by rows in place; pivots count from 1. LAPACK loses some NaN on the way.
template <class T>
void factor(T* a, std::int32_t* pivots, i64 m, i64 n) {
  if (std::any_of(a, a + m * n, is_nan<T>)) {
    std::fill_n(a, m * n, not_a_number<T>());
    std::iota(pivots, pivots + std::min(m, n), 1);
    return;
  }
  std::vector<T> by_columns(static_cast<std::size_t>(m * n));
  transpose(a, by_columns.data(), m, n);
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  int info = 0;
  Lapack<T>::getrf(&rows, &columns, by_columns.data(), &rows, pivots, &info);
  transpose(by_columns.data(), a, n, m);
}
void lu(const KernelArgs& k) {
  const Dims& shape = k.in[0].shape();
  const i64 m = shape[-2], n = shape[-1], least = std::min(m, n);
  if (least == 0) {
    for (i64 i = 0; i < k.out[2].count(); ++i) k.out[2].as<std::int32_t>()[i] = static_cast<std::int32_t>(i % m);
    return;
  }
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(shape, m * n * least, [&](i64 lane) {
      T* a = k.out[0].as<T>() + lane * m * n;
      std::copy_n(k.in[0].as<T>() + lane * m * n, m * n, a);
      std::int32_t* pivots = k.out[1].as<std::int32_t>() + lane * least;
      factor(a, pivots, m, n);
      std::int32_t* permutation = k.out[2].as<std::int32_t>() + lane * m;
      std::iota(permutation, permutation + m, 0);
      for (i64 i = 0; i < least; ++i) std::swap(permutation[i], permutation[--pivots[i]]);
    });
  });
}

void solve(const KernelArgs& k) {
  const bool transposed = k.params.as<ops::Solve>().transpose;
  const Dims& shape = k.in[1].shape();
  const i64 n = shape[-2], columns = shape[-1];
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(shape, n * n * (n / 3 + columns), [&](i64 lane) {
      const T* given = k.in[0].as<T>() + lane * n * n;
      std::vector<T> a(given, given + n * n);
      if (transposed) transpose(given, a.data(), n, n);
      T* x = k.out[0].as<T>() + lane * n * columns;
      std::copy_n(k.in[1].as<T>() + lane * n * columns, n * columns, x);
      std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
      factor(a.data(), pivots.data(), n, n);
      for (i64 i = 0; i < n; ++i)
        if (const i64 from = pivots[static_cast<std::size_t>(i)] - 1; from != i)
          std::swap_ranges(x + i * columns, x + (i + 1) * columns, x + from * columns);
      const int rows = static_cast<int>(n), sides = static_cast<int>(columns);
      triangular<T>({.unit = true}, a.data(), x, rows, sides);
      triangular<T>({.lower = false}, a.data(), x, rows, sides);
    });
  });
}

// x = q r by rows is x^T = r^T q^T by columns, an LQ factorisation.
template <class T>
void qr_of(std::vector<T> x, T* q, T* r, int m, int n, int kept) {
  const int least = std::min(m, n), block = 32;
  const bool fails = std::any_of(x.begin(), x.end(), is_nan<T>);
  if (fails) std::fill(x.begin(), x.end(), not_a_number<T>());
  std::vector<T> tau(static_cast<std::size_t>(least)), work(static_cast<std::size_t>(std::max(n, kept)) * block);
  const int size = static_cast<int>(work.size());
  int info = 0;
  if (!fails) Lapack<T>::gelqf(&n, &m, x.data(), &n, tau.data(), work.data(), &size, &info);
  for (int i = 0; i < kept; ++i)
    for (int j = 0; j < n; ++j) r[i64{i} * n + j] = j < i ? T{} : x[static_cast<std::size_t>(i64{i} * n + j)];
  for (int i = 0; i < m; ++i) std::copy_n(x.data() + i64{i} * n, least, q + i64{i} * kept);
  Lapack<T>::orglq(&kept, &m, &least, q, &kept, tau.data(), work.data(), &size, &info);
  if (fails) std::fill_n(q, i64{m} * kept, not_a_number<T>());
}
void qr(const KernelArgs& k) {
  const Dims &shape = k.in[0].shape(), &q_shape = k.out[0].shape();
  const i64 m = shape[-2], n = shape[-1], kept = q_shape[-1];
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(q_shape, 2 * m * std::max(n, kept) * kept, [&](i64 lane) {
      const T* x = k.in[0].as<T>() + lane * m * n;
      T *q = k.out[0].as<T>() + lane * m * kept, *r = k.out[1].as<T>() + lane * kept * n;
      if (n > 0)
        return qr_of(std::vector<T>(x, x + m * n), q, r, static_cast<int>(m), static_cast<int>(n),
                     static_cast<int>(kept));
      std::fill_n(q, m * m, T{});
      for (i64 i = 0; i < m; ++i) q[i * m + i] = one<T>();
    });
  });
}

constexpr KernelEntry entries[] = {{&ops::cholesky, cholesky},
                                   {&ops::triangular_solve, triangular_solve},
                                   {&ops::solve, solve},
                                   {&ops::lu, lu},
                                   {&ops::qr, qr}};
}  // namespace

std::span<const KernelEntry> linalg_kernels() { return entries; }

}  // namespace uni::native
