// Eigenvalues and singular values by LAPACK, by divide and conquer, one matrix in one thread.
#include <algorithm>
#include <cmath>

#include "backend/native/gemm.hpp"
#include "backend/native/lapack.hpp"
#include "backend/native/matrix.hpp"
#include "ops/linalg.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

template <class T>
bool is_finite(T v) {
  if constexpr (is_complex_like<T>)
    return std::isfinite(v.re) && std::isfinite(v.im);
  else
    return std::isfinite(v);
}
template <class T>
T conjugate(T v) {
  if constexpr (is_complex_like<T>) v.im = -v.im;
  return v;
}
template <class T>
auto size_of(T v) {
  if constexpr (is_complex_like<T>)
    return std::hypot(v.re, v.im);
  else
    return std::abs(v);
}

// Makes the first element that is not small real and positive; gives the factor.
template <class T>
T fix_phase(T* v, i64 count, i64 step) {
  using R = RealOf<T>;
  R largest = 0;
  for (i64 i = 0; i < count; ++i) largest = std::max(largest, size_of(v[i * step]));
  for (i64 i = 0; i < count; ++i) {
    const T fixed = v[i * step];
    const R size = size_of(fixed);
    if (size == 0 || size < largest * static_cast<R>(ops::phase_share)) continue;
    T factor;
    if constexpr (is_complex_like<T>)
      factor = {fixed.re / size, -fixed.im / size};
    else
      factor = fixed / size;
    for (i64 k = 0; k < count; ++k) v[k * step] = times(v[k * step], factor);
    if constexpr (is_complex_like<T>) v[i * step] = {size, 0};
    return factor;
  }
  return one<T>();
}

// The lower triangle by rows is the upper one by columns, of the conjugate.
template <class T>
int eigen(char job, std::vector<T>& a, RealOf<T>* values, int n) {
  T work_size{};
  RealOf<T> real_size = 0;
  int integer_size = 0, info = 0;
  const auto call = [&](T* work, int size, RealOf<T>* real_work, int real_count, int* integers, int integer_count) {
    if constexpr (is_complex_like<T>)
      Lapack<T>::eigh(&job, "U", &n, a.data(), &n, values, work, &size, real_work, &real_count, integers,
                      &integer_count, &info, 1, 1);
    else
      Lapack<T>::eigh(&job, "U", &n, a.data(), &n, values, work, &size, integers, &integer_count, &info, 1, 1);
  };
  call(&work_size, -1, &real_size, -1, &integer_size, -1);
  std::vector<T> work(at(count_of(work_size)));
  std::vector<RealOf<T>> real_work(at(std::max(1, count_of(real_size))));
  std::vector<int> integers(at(integer_size));
  call(work.data(), static_cast<int>(work.size()), real_work.data(), static_cast<int>(real_work.size()),
       integers.data(), integer_size);
  return info;
}
template <class T>
void eigh_of(const T* x, RealOf<T>* values, T* vectors, i64 n) {
  bool fails = false;
  for (i64 i = 0; i < n; ++i)
    for (i64 k = 0; k <= i; ++k) fails = fails || !is_finite(x[i * n + k]);
  std::vector<T> a(x, x + n * n);
  fails = fails || eigen(vectors ? 'V' : 'N', a, values, static_cast<int>(n)) != 0;
  if (fails) std::fill_n(values, n, not_a_number<RealOf<T>>());
  if (!vectors) return;
  if (fails) return void(std::fill_n(vectors, n * n, not_a_number<T>()));
  for (i64 k = 0; k < n; ++k) {
    for (i64 i = 0; i < n; ++i) vectors[i * n + k] = conjugate(a[at(k * n + i)]);
    fix_phase(vectors + k, n, n);
  }
}
void eigh(const KernelArgs& k) {
  const bool with_vectors = k.params.as<ops::Eigh>().vectors;
  const i64 n = k.in[0].shape()[-1];
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(k.in[0].shape(), 9 * n * n * n, [&](i64 lane) {
      eigh_of(k.in[0].as<T>() + lane * n * n, k.out[0].as<RealOf<T>>() + lane * n,
              with_vectors ? k.out[1].as<T>() + lane * n * n : nullptr, n);
    });
  });
}

// x = u s vh by rows is x^T = vh^T s u^T by columns: the places of u and vh are exchanged.
template <class T>
int singular(char job, std::vector<T> x, T* u, RealOf<T>* s, T* vh, int m, int n, int u_columns) {
  const i64 least = std::min(m, n), most = std::max(m, n);
  std::vector<int> integers(at(8 * least));
  std::vector<RealOf<T>> real_work;
  if constexpr (is_complex_like<T>)
    real_work.resize(at(std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least)));
  T work_size{};
  int info = 0;
  const auto call = [&](T* work, int size) {
    if constexpr (is_complex_like<T>)
      Lapack<T>::gesdd(&job, &n, &m, x.data(), &n, s, vh, &n, u, &u_columns, work, &size, real_work.data(),
                       integers.data(), &info, 1);
    else
      Lapack<T>::gesdd(&job, &n, &m, x.data(), &n, s, vh, &n, u, &u_columns, work, &size, integers.data(), &info, 1);
  };
  call(&work_size, -1);
  std::vector<T> work(at(count_of(work_size)));
  call(work.data(), static_cast<int>(work.size()));
  return info;
}
struct SvdSizes {
  i64 m, n, u, v, least;  // u, v: how many vectors
};
template <class T>
void svd_of(const T* x, T* u, RealOf<T>* s, T* vh, const SvdSizes& z) {
  const bool fails = !std::all_of(x, x + z.m * z.n, is_finite<T>) ||
                     singular(!u                         ? 'N'
                              : z.u == z.m && z.v == z.n ? 'A'
                                                         : 'S',
                              std::vector<T>(x, x + z.m * z.n), u, s, vh, static_cast<int>(z.m), static_cast<int>(z.n),
                              static_cast<int>(z.u)) != 0;
  if (fails) {
    std::fill_n(s, z.least, not_a_number<RealOf<T>>());
    if (u) std::fill_n(u, z.m * z.u, not_a_number<T>());
    if (u) std::fill_n(vh, z.v * z.n, not_a_number<T>());
  } else if (u) {
    for (i64 k = 0; k < z.least; ++k) {
      const T back = conjugate(fix_phase(u + k, z.m, z.u));
      for (i64 i = 0; i < z.n; ++i) vh[k * z.n + i] = times(vh[k * z.n + i], back);
    }
  }
}
template <class T>
void identities(const View& v) {
  const i64 n = v.shape()[-1];
  for (i64 i = 0; i < v.count(); ++i) v.as<T>()[i] = i / n % n == i % n ? one<T>() : T{};
}
void svd(const KernelArgs& k) {
  const auto& p = k.params.as<ops::Svd>();
  const Dims& shape = k.in[0].shape();
  const i64 m = shape[-2], n = shape[-1], least = std::min(m, n);
  const SvdSizes sizes{m, n, p.full ? m : least, p.full ? n : least, least};
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    if (least == 0 && p.vectors && p.full) {
      identities<T>(k.out[0]);
      identities<T>(k.out[2]);
    }
    for_each_matrix(shape, 8 * m * n * least, [&](i64 lane) {
      const T* x = k.in[0].as<T>() + lane * m * n;
      if (!p.vectors) return svd_of<T>(x, nullptr, k.out[0].as<RealOf<T>>() + lane * least, nullptr, sizes);
      svd_of<T>(x, k.out[0].as<T>() + lane * m * sizes.u, k.out[1].as<RealOf<T>>() + lane * least,
                k.out[2].as<T>() + lane * sizes.v * n, sizes);
    });
  });
}

// v diag(1 / s) u^H.
template <class T>
void pinv_of(const T* x, T* out, const SvdSizes& z, double rtol) {
  using R = RealOf<T>;
  std::vector<T> u(at(z.m * z.least)), vh(at(z.least * z.n)), v(at(z.n * z.least)), uh(at(z.least * z.m));
  std::vector<R> s(at(z.least));
  svd_of<T>(x, u.data(), s.data(), vh.data(), z);
  for (i64 k = 0; k < z.least; ++k) {
    const R value = s[at(k)];
    const R weight = value <= static_cast<R>(rtol) * s[0] ? 0 : 1 / value;
    for (i64 i = 0; i < z.n; ++i) {
      T scaled = conjugate(vh[at(k * z.n + i)]);
      if constexpr (is_complex_like<T>)
        scaled = {scaled.re * weight, scaled.im * weight};
      else
        scaled *= weight;
      v[at(i * z.least + k)] = scaled;
    }
    for (i64 i = 0; i < z.m; ++i) uh[at(k * z.m + i)] = conjugate(u[at(i * z.least + k)]);
  }
  gemm(z.n, z.m, z.least, v.data(), uh.data(), out, false);
}
void pinv(const KernelArgs& k) {
  const double rtol = k.params.as<ops::Pinv>().rtol;
  const Dims& shape = k.in[0].shape();
  const i64 m = shape[-2], n = shape[-1], least = std::min(m, n);
  dispatch_linalg(k.in[0].type->dtype, [&]<class T>(T) {
    for_each_matrix(shape, 10 * m * n * least, [&](i64 lane) {
      pinv_of(k.in[0].as<T>() + lane * m * n, k.out[0].as<T>() + lane * m * n, {m, n, least, least, least}, rtol);
    });
  });
}

constexpr KernelEntry entries[] = {{&ops::eigh, eigh}, {&ops::svd, svd}, {&ops::pinv, pinv}};
}  // namespace

std::span<const KernelEntry> spectral_kernels() { return entries; }

}  // namespace uni::native
