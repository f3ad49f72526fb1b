#include <immintrin.h>

namespace {
using Vector = __m256;
constexpr int lanes = 8;
inline __m256i first_lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vector load(const float* p) { return _mm256_loadu_ps(p); }
inline Vector load_first(const float* p, int n) { return _mm256_maskload_ps(p, first_lanes(n)); }
inline void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
inline void store_first(float* p, int n, Vector v) { _mm256_maskstore_ps(p, first_lanes(n), v); }
inline Vector broadcast(const float* p) { return _mm256_broadcast_ss(p); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
}  // namespace

#include "backend/native/dense_kernels_body.hpp"

namespace uni::native {
const DenseIsa dense_avx2 = isa(std::make_integer_sequence<int, 6>());
}
