// Scalar functions of the pointwise kernels. Plain code that the compiler vectorises where it can.
#pragma once
#include <cmath>
#include <complex>
#include <limits>

#include "backend/native/kernel.hpp"

namespace uni::native {

template <class T>
using Real = std::conditional_t<std::is_same_v<T, C64>, float, std::conditional_t<std::is_same_v<T, C128>, double, T>>;
template <class T>
std::complex<Real<T>> to_std(T z) {
  return {z.re, z.im};
}
template <class R>
auto from_std(std::complex<R> z) {
  if constexpr (std::is_same_v<R, float>)
    return C64{z.real(), z.imag()};
  else
    return C128{z.real(), z.imag()};
}

template <class T>
T max_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    // NaN wins, and +0 over -0.
    const T m = a > b || (a == b && !std::signbit(a)) ? a : b;
    return a != a ? a : m;
  } else {
    return a > b ? a : b;
  }
}
template <class T>
T min_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T m = a < b || (a == b && std::signbit(a)) ? a : b;
    return a != a ? a : m;
  } else {
    return a < b ? a : b;
  }
}

template <class T>
T divide(T x, T y) {
  if constexpr (is_complex_like<T>) {
    return from_std(to_std(x) / to_std(y));
  } else if constexpr (is_int_like<T>) {
    if (y == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (y == T(-1)) return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
    return static_cast<T>(x / y);
  } else {
    return x / y;
  }
}
template <class T>
T remainder_of(T x, T y) {
  if constexpr (is_int_like<T>) {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<T>)
      if (y == T(-1)) return 0;
    return static_cast<T>(x % y);
  } else {
    return std::fmod(x, y);
  }
}
template <class T>
T power_of(T x, int n) {
  T result, base = x;
  if constexpr (is_complex_like<T>)
    result = {1, 0};
  else
    result = T(1);
  for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
    if (k & 1u) result = times(result, base);
    if (k > 1) base = times(base, base);
  }
  if (n >= 0) return result;
  if constexpr (is_complex_like<T>)
    return divide(T{1, 0}, result);
  else
    return divide(T(1), result);
}

// exp(-x) would overflow where the result is still above 0.
template <class T>
T logistic_of(T x) {
  const T e = std::exp(-std::fabs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

// Of complex numbers, computed in double: in float, differences of nearly equal terms and large powers would keep few
// digits.
template <class R>
std::complex<R> complex_expm1(std::complex<R> x) {
  const double re = x.real(), im = x.imag(), half = std::sin(im / 2);
  return std::complex<R>(
      std::complex<double>(std::expm1(re) * std::cos(im) - 2 * half * half, std::exp(re) * std::sin(im)));
}
template <class R>
std::complex<R> complex_log1p(std::complex<R> x) {
  const double re = x.real(), im = x.imag();
  // Only near 0 does 1 + x lose what matters; elsewhere the squares might overflow.
  if (!(std::hypot(re, im) < 0.5)) return std::complex<R>(std::log(std::complex<double>(1 + re, im)));
  return std::complex<R>(std::complex<double>(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re)));
}
template <class R>
std::complex<R> complex_pow(std::complex<R> x, std::complex<R> y) {
  if (y == R(0)) return 1;
  if (x == R(0) && y.real() > 0) return 0;  // exp(y log x) would meet infinity times 0
  return std::complex<R>(std::pow(std::complex<double>(x), std::complex<double>(y)));
}

template <class T>
T digamma_of(T value) {
  double x = value;
  if (x != x || x == -std::numeric_limits<double>::infinity()) return std::numeric_limits<T>::quiet_NaN();
  double result = 0;
  if (x <= 0) {  // reflection; NaN at the poles
    const double fraction = x - std::nearbyint(x);
    if (fraction == 0) return std::numeric_limits<T>::quiet_NaN();
    result = -M_PI / std::tan(M_PI * fraction);
    x = 1 - x;
  }
  for (; x < 12; x += 1) result -= 1 / x;
  const double y = 1 / (x * x);
  // Asymptotic series in 1/x^2 (Abramowitz and Stegun 6.3.18).
  double series = 1.0 / 12;
  series = 691.0 / 32760 - y * series;
  series = 1.0 / 132 - y * series;
  series = 1.0 / 240 - y * series;
  series = 1.0 / 252 - y * series;
  series = 1.0 / 120 - y * series;
  series = 1.0 / 12 - y * series;
  return static_cast<T>(result + std::log(x) - 1 / (2 * x) - y * series);
}

// Giles 2012 for float; for double a start from it and Newton steps on the better conditioned side.
inline float inverse_erf(float x) {
  if (std::fabs(x) >= 1.0f || x != x)
    return std::fabs(x) == 1.0f ? x * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  const float w = -std::log1p(-x * x);
  const bool near = w < 5.0f;
  const float t = near ? w - 2.5f : std::sqrt(w) - 3.0f;
  constexpr float a[9] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                          -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
  constexpr float b[9] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                          -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  float p = near ? a[0] : b[0];
  for (int i = 1; i < 9; ++i) p = std::fma(p, t, near ? a[i] : b[i]);
  return p * x;
}
inline double inverse_erf(double x) {
  if (std::fabs(x) >= 1.0 || x != x)
    return std::fabs(x) == 1.0 ? x * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return x;
  const double m = std::fabs(x), rest = 1 - m;
  // Beyond the range of floats near one: the leading terms for small complements.
  double y = m < 0.99999 ? static_cast<double>(inverse_erf(static_cast<float>(m)))
                         : std::sqrt(-std::log(rest * std::sqrt(M_PI) * std::sqrt(-std::log(rest))));
  for (int i = 0; i < 6; ++i) {
    const double gap = m < 0.5 ? m - std::erf(y) : std::erfc(y) - rest;
    const double u = gap * (std::sqrt(M_PI) / 2) * std::exp(y * y);
    if (!std::isfinite(u)) break;
    y += u / (1 - y * u);
  }
  return std::copysign(y, x);
}

template <class T>
T log_gamma(T x) {
  int sign = 0;
  return static_cast<T>(lgamma_r(static_cast<double>(x), &sign));
}

template <class To, class From>
To convert_value(From v) {
  if constexpr (std::is_same_v<From, KeyWords> || std::is_same_v<To, KeyWords>) {
    return To{};
  } else if constexpr (is_complex_like<From> && is_complex_like<To>) {
    return {static_cast<Real<To>>(v.re), static_cast<Real<To>>(v.im)};
  } else if constexpr (is_complex_like<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return v.re != 0 || v.im != 0;
    else
      return convert_value<To>(v.re);
  } else if constexpr (is_complex_like<To>) {
    return {static_cast<Real<To>>(v), 0};
  } else if constexpr (std::is_same_v<To, bool>) {
    return !(v == From(0));
  } else if constexpr (std::is_floating_point_v<From> && is_int_like<To>) {
    constexpr From above = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // 2^digits, exact
    if (!(v == v)) return 0;
    if (v >= above) return std::numeric_limits<To>::max();
    if (v <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// a + b, rounded to odd in double: cut towards zero, the last bit set where something was lost.
inline double odd_sum(double a, double b) {
  const double sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
  if (!(std::fabs(lost) > 0)) return sum;  // exact, infinite or NaN
  std::uint64_t bits = __builtin_bit_cast(std::uint64_t, sum);
  if (std::signbit(lost) != std::signbit(sum)) --bits;
  return __builtin_bit_cast(double, bits | 1u);
}
// A 64-bit integer has two halves that double holds.
template <class T>
double odd_integer(T v) {
  const T high = static_cast<T>(v >> 32), low = static_cast<T>(v & 0xffffffff);
  return odd_sum(static_cast<double>(high) * 0x1p32, static_cast<double>(low));
}
// A double, rounded to odd in float, so that rounding the float again gives the correctly rounded 16-bit value.
inline float odd_rounded(double v) {
  const float f = static_cast<float>(v);
  if (!(std::fabs(v) <= std::numeric_limits<float>::max()) || static_cast<double>(f) == v) return f;
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --bits;
  return __builtin_bit_cast(float, bits | 1u);
}

}  // namespace uni::native
