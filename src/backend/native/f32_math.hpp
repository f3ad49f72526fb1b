// Functions of one float, written so that a loop over them is vectorised: no branches, no calls. Products and sums are
// rounded one by one, so that every instruction set gives the same bits. They are compiled with the flags of the file
// that includes them, hence internal to it.
#pragma once
#include <cstdint>
#include <limits>

namespace uni::native {
namespace {

#define UNISONO_INLINE [[gnu::always_inline]] inline

constexpr float f32_infinity = std::numeric_limits<float>::infinity();
constexpr float f32_nan = std::numeric_limits<float>::quiet_NaN();

UNISONO_INLINE std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
UNISONO_INLINE float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
UNISONO_INLINE float abs_f32(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
UNISONO_INLINE float with_sign_of(float x, float sign) {
  return float_of((bits_of(x) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

// NaN wins, and +0 over -0: equal operands differ at most in the sign of zero.
UNISONO_INLINE float max_f32(float a, float b) {
  const float m = a > b ? a : b;
  const float z = a == b ? float_of(bits_of(a) & bits_of(b)) : m;
  return a != a ? a : z;
}
UNISONO_INLINE float min_f32(float a, float b) {
  const float m = a < b ? a : b;
  const float z = a == b ? float_of(bits_of(a) | bits_of(b)) : m;
  return a != a ? a : z;
}

// y * 2^n for n in [-252, 254], rounded once more where the result is subnormal.
UNISONO_INLINE float scaled(float y, std::int32_t n) {
  const std::int32_t half = n >> 1, rest = n - half;
  return y * float_of(static_cast<std::uint32_t>(half + 127) << 23) *
         float_of(static_cast<std::uint32_t>(rest + 127) << 23);
}

// x = n log 2 + r with |r| <= log(2) / 2, for |x| < 2^20; the first part of log 2 has so few bits that its product with
// n is exact (Cody and Waite 1980).
struct ExpParts {
  std::int32_t n;
  float r;
};
UNISONO_INLINE ExpParts exp_parts(float x) {
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float t = x * 1.44269504088896341f + shift;
  const float k = t - shift;
  const float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  return {static_cast<std::int32_t>(bits_of(t) - bits_of(shift)), r};
}
// exp(r) - 1 for |r| <= log(2) / 2: minimax polynomial of degree 7.
UNISONO_INLINE float expm1_near(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}
// Outside of [-104, 89] the result has reached 0 or infinity; NaN passes both tests.
UNISONO_INLINE float exp_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  const ExpParts e = exp_parts(c);
  return scaled(1.0f + expm1_near(e.r), e.n);
}
UNISONO_INLINE float expm1_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -20.0f ? -20.0f : c;
  const ExpParts e = exp_parts(c);
  const float one_less = 1.0f - float_of(static_cast<std::uint32_t>(127 - (e.n > 126 ? 126 : e.n)) << 23);
  const float y = scaled(expm1_near(e.r) + one_less, e.n);
  return x == 0.0f ? x : y;
}

// log x = e log 2 + log m with m in [sqrt(1/2), sqrt(2)): minimax polynomial in m - 1.
UNISONO_INLINE float log_f32(float x) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const float s = subnormal ? x * 8388608.0f : x;
  const std::uint32_t b = bits_of(s);
  const float m = float_of((b & 0x007fffffu) | 0x3f000000u);
  const bool low = m < 0.707106781186547524f;
  const std::int32_t e = static_cast<std::int32_t>(b >> 23) - 126 - (subnormal ? 23 : 0) - (low ? 1 : 0);
  const float f = (low ? m + m : m) - 1.0f, k = static_cast<float>(e), z = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float y = (p * f * z + k * -2.12194440e-4f) - 0.5f * z;
  const float inside = (f + y) + k * 0.693359375f;
  const float finite = x == 0.0f ? -f32_infinity : inside;
  const float real = x == f32_infinity ? x : finite;
  return x >= 0.0f ? real : f32_nan;
}
// The error of u = 1 + x is undone by the factor x / (u - 1).
UNISONO_INLINE float log1p_f32(float x) {
  const float u = 1.0f + x, log_u = log_f32(u), d = u - 1.0f;
  const float y = log_u * (x / (d == 0.0f ? 1.0f : d));
  const float near = d == 0.0f ? x : y;
  return u == f32_infinity ? u : near;
}

// A polynomial near 0, else 1 - 2 / (exp(2 |x|) + 1).
UNISONO_INLINE float tanh_f32(float x) {
  const float a = abs_f32(x), z = a * a;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * a + a;
  const float far = 1.0f - 2.0f / (exp_f32(a + a) + 1.0f);
  return with_sign_of(a < 0.625f ? near : far, x);
}
// exp(-x) would overflow where the result is still above 0.
UNISONO_INLINE float logistic_f32(float x) {
  const float e = exp_f32(-abs_f32(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

UNISONO_INLINE float sign_f32(float x) {
  const float s = x < 0.0f ? -1.0f : x;
  return x > 0.0f ? 1.0f : s;
}
UNISONO_INLINE float clamp_f32(float low, float x, float high) { return min_f32(max_f32(x, low), high); }

}  // namespace
}  // namespace uni::native
