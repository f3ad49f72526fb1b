// The loops of F32Loops. Results may lie where an operand lies (same element, same iteration), never shifted: hence
// ivdep.
#pragma once
#include "backend/native/f32_loops.hpp"
#include "backend/native/f32_math.hpp"

namespace uni::native {
namespace {

template <float (*F)(float)>
void unary_f32(const FlatArgs& a) {
  const float* x = reinterpret_cast<const float*>(a.in[0]);
  float* y = reinterpret_cast<float*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) y[i] = F(x[i]);
}
template <float (*F)(float, float)>
void binary_f32(const FlatArgs& a) {
  const float *x = reinterpret_cast<const float*>(a.in[0]), *y = reinterpret_cast<const float*>(a.in[1]);
  float* z = reinterpret_cast<float*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) z[i] = F(x[i], y[i]);
}
template <bool (*F)(float, float)>
void compare_f32(const FlatArgs& a) {
  const float *x = reinterpret_cast<const float*>(a.in[0]), *y = reinterpret_cast<const float*>(a.in[1]);
  bool* z = reinterpret_cast<bool*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) z[i] = F(x[i], y[i]);
}
void select_f32(const FlatArgs& a) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(a.in[0]);
  const auto *x = reinterpret_cast<const std::uint32_t*>(a.in[1]), *y = reinterpret_cast<const std::uint32_t*>(a.in[2]);
  auto* z = reinterpret_cast<std::uint32_t*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) {
    const std::uint32_t mask = 0u - p[i];
    z[i] = (x[i] & mask) | (y[i] & ~mask);
  }
}
void clamp_all_f32(const FlatArgs& a) {
  const float *low = reinterpret_cast<const float*>(a.in[0]), *x = reinterpret_cast<const float*>(a.in[1]),
              *high = reinterpret_cast<const float*>(a.in[2]);
  float* y = reinterpret_cast<float*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) y[i] = clamp_f32(low[i], x[i], high[i]);
}

UNISONO_INLINE float add_f32(float x, float y) { return x + y; }
UNISONO_INLINE float sub_f32(float x, float y) { return x - y; }
UNISONO_INLINE float mul_f32(float x, float y) { return x * y; }
UNISONO_INLINE float div_f32(float x, float y) { return x / y; }
UNISONO_INLINE float neg_f32(float x) { return -x; }
UNISONO_INLINE float square_f32(float x) { return x * x; }
UNISONO_INLINE float cube_f32(float x) { return x * (x * x); }
UNISONO_INLINE float floor_f32(float x) { return __builtin_floorf(x); }
UNISONO_INLINE float ceil_f32(float x) { return __builtin_ceilf(x); }
UNISONO_INLINE float round_f32(float x) { return __builtin_nearbyintf(x); }
UNISONO_INLINE float sqrt_f32(float x) { return __builtin_sqrtf(x); }
UNISONO_INLINE float rsqrt_f32(float x) { return 1.0f / __builtin_sqrtf(x); }
UNISONO_INLINE bool eq_f32(float x, float y) { return x == y; }
UNISONO_INLINE bool ne_f32(float x, float y) { return x != y; }
UNISONO_INLINE bool lt_f32(float x, float y) { return x < y; }
UNISONO_INLINE bool le_f32(float x, float y) { return x <= y; }
UNISONO_INLINE bool gt_f32(float x, float y) { return x > y; }
UNISONO_INLINE bool ge_f32(float x, float y) { return x >= y; }

constexpr F32Loops loops_of_this_file = {.add = binary_f32<add_f32>,
                                         .sub = binary_f32<sub_f32>,
                                         .mul = binary_f32<mul_f32>,
                                         .div = binary_f32<div_f32>,
                                         .maximum = binary_f32<max_f32>,
                                         .minimum = binary_f32<min_f32>,
                                         .neg = unary_f32<neg_f32>,
                                         .abs = unary_f32<abs_f32>,
                                         .sign = unary_f32<sign_f32>,
                                         .square = unary_f32<square_f32>,
                                         .cube = unary_f32<cube_f32>,
                                         .floor = unary_f32<floor_f32>,
                                         .ceil = unary_f32<ceil_f32>,
                                         .round = unary_f32<round_f32>,
                                         .sqrt = unary_f32<sqrt_f32>,
                                         .rsqrt = unary_f32<rsqrt_f32>,
                                         .exp = unary_f32<exp_f32>,
                                         .expm1 = unary_f32<expm1_f32>,
                                         .log = unary_f32<log_f32>,
                                         .log1p = unary_f32<log1p_f32>,
                                         .tanh = unary_f32<tanh_f32>,
                                         .logistic = unary_f32<logistic_f32>,
                                         .eq = compare_f32<eq_f32>,
                                         .ne = compare_f32<ne_f32>,
                                         .lt = compare_f32<lt_f32>,
                                         .le = compare_f32<le_f32>,
                                         .gt = compare_f32<gt_f32>,
                                         .ge = compare_f32<ge_f32>,
                                         .select = select_f32,
                                         .clamp = clamp_all_f32};

}  // namespace
}  // namespace uni::native
