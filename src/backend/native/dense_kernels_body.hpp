// Included once per instruction set, by files that are compiled for it and define `Vector`, `lanes`, `load`,
// `load_first`, `store`, `store_first`, `broadcast` and `multiply_add`.
#include <cstring>
#include <utility>

#include "backend/native/dense_kernels.hpp"

namespace uni::native {

namespace {
template <int rows, bool rows_first>
void multiply(const DenseBlock& m) {
  Vector sum[rows][2] = {};
  const float *a = m.a, *b = m.b;
  for (i64 k = 0; k < m.k; ++k) {
    const Vector left = load(b), right = load(b + lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Vector x = broadcast(a + (rows_first ? r * DenseIsa::row_step : r));
      sum[r][0] = multiply_add(x, left, sum[r][0]);
      sum[r][1] = multiply_add(x, right, sum[r][1]);
    }
    a += rows_first ? 1 : DenseIsa::position_step;
    b += m.b_step;
  }
  if (m.columns == 2 * lanes) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      float* c = m.c[r];
      store(c, m.add ? load(c) + sum[r][0] : sum[r][0]);
      store(c + lanes, m.add ? load(c + lanes) + sum[r][1] : sum[r][1]);
    }
    return;
  }
  const int first = m.columns < lanes ? static_cast<int>(m.columns) : lanes,
            second = static_cast<int>(m.columns) - first;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    float* c = m.c[r];
    store_first(c, first, m.add ? load_first(c, first) + sum[r][0] : sum[r][0]);
    if (second > 0) store_first(c + lanes, second, m.add ? load_first(c + lanes, second) + sum[r][1] : sum[r][1]);
  }
}

inline float widen(float x) { return x; }
#if defined(__F16C__)
inline float widen(f16 x) { return _cvtsh_ss(x.bits); }
#endif
inline float widen(bf16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }

template <class T>
void copy_widened(const T* x, i64 n, float* out) {
  for (i64 i = 0; i < n; ++i) out[i] = widen(x[i]);
}
// The transpose of 8 x 8 elements.
template <class T>
void transposed_square(const T* x, i64 x_step, float* out, i64 out_step) {
  __m256 row[8], half[8];
  for (int i = 0; i < 8; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      row[i] = _mm256_loadu_ps(x + i * x_step);
    } else {
      float widened[8];
      copy_widened(x + i * x_step, 8, widened);
      row[i] = _mm256_loadu_ps(widened);
    }
  }
  for (int i = 0; i < 8; i += 4) {
    const __m256 a = _mm256_unpacklo_ps(row[i], row[i + 1]), b = _mm256_unpackhi_ps(row[i], row[i + 1]),
                 c = _mm256_unpacklo_ps(row[i + 2], row[i + 3]), d = _mm256_unpackhi_ps(row[i + 2], row[i + 3]);
    half[i] = _mm256_shuffle_ps(a, c, 0x44);
    half[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    half[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    half[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(out + i * out_step, _mm256_permute2f128_ps(half[i], half[i + 4], 0x20));
    _mm256_storeu_ps(out + (i + 4) * out_step, _mm256_permute2f128_ps(half[i], half[i + 4], 0x31));
  }
}

// out[i * out_i + k * out_k] with one of the steps 1, from elements whose steps are any.
template <class T>
void pack_across(const T* x, i64 n, i64 x_n, i64 k, i64 x_k, float* out, i64 out_k) {
  i64 done = 0;
  if (x_k == 1)
    for (; done + 8 <= n; done += 8) {
      i64 q = 0;
      for (; q + 8 <= k; q += 8) transposed_square(x + done * x_n + q, x_n, out + q * out_k + done, out_k);
      for (; q < k; ++q)
        for (i64 i = done; i < done + 8; ++i) out[q * out_k + i] = widen(x[i * x_n + q]);
    }
  for (i64 i = done; i < n; ++i)
    for (i64 q = 0; q < k; ++q) out[q * out_k + i] = widen(x[i * x_n + q * x_k]);
}
template <class T>
void pack_rows_of(const T* x, const DenseSource& s, i64 n, i64 k, float* out) {
  for (i64 i = 0; i < n; ++i)
    if (s.k_step == 1)
      copy_widened(x + i * s.i_step, k, out + i * DenseIsa::row_step);
    else
      for (i64 q = 0; q < k; ++q) out[i * DenseIsa::row_step + q] = widen(x[i * s.i_step + q * s.k_step]);
}
template <class T>
void pack_positions_of(const T* x, const DenseSource& s, i64 n, i64 k, float* out, i64 step) {
  if (s.i_step != 1) return pack_across(x, n, s.i_step, k, s.k_step, out, step);
  if constexpr (std::is_same_v<T, float>) {
    const int first = static_cast<int>(n < lanes ? n : lanes), second = static_cast<int>(n) - first;
    if (second == lanes)
      for (i64 q = 0; q < k; ++q, x += s.k_step, out += step) {
        store(out, load(x));
        store(out + lanes, load(x + lanes));
      }
    else
      for (i64 q = 0; q < k; ++q, x += s.k_step, out += step) {
        store_first(out, first, load_first(x, first));
        if (second > 0) store_first(out + lanes, second, load_first(x + lanes, second));
      }
  } else {
    for (i64 q = 0; q < k; ++q) copy_widened(x + q * s.k_step, n, out + q * step);
  }
}
template <class Fn>
void with_type(const DenseSource& s, const Fn& fn) {
  if (s.dtype == Dtype::f32) return fn(static_cast<const float*>(s.data));
  if (s.dtype == Dtype::bf16) return fn(static_cast<const bf16*>(s.data));
  fn(static_cast<const f16*>(s.data));
}
void pack_rows(const DenseSource& s, i64 n, i64 k, float* out) {
  with_type(s, [&](const auto* x) { pack_rows_of(x, s, n, k, out); });
}
void pack_positions(const DenseSource& s, i64 n, i64 k, float* out, i64 step) {
  with_type(s, [&](const auto* x) { pack_positions_of(x, s, n, k, out, step); });
}

template <int... r>
constexpr DenseIsa isa(std::integer_sequence<int, r...>) {
  return {sizeof...(r), 2 * lanes, {multiply<r + 1, true>...}, {multiply<r + 1, false>...}, pack_rows, pack_positions};
}
}  // namespace

}  // namespace uni::native
