#include <immintrin.h>

namespace {
using Vector = __m512;
constexpr int lanes = 16;
__mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1); }
inline Vector load(const float* p) { return _mm512_loadu_ps(p); }
inline Vector load_first(const float* p, int n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
inline void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
inline void store_first(float* p, int n, Vector v) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
inline Vector broadcast(const float* p) { return _mm512_set1_ps(*p); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
}  // namespace

#include "backend/native/dense_kernels_body.hpp"

namespace uni::native {
const DenseIsa dense_avx512 = isa(std::make_integer_sequence<int, 14>());
}
