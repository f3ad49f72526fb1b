#include "backend/reference/special.hpp"

#include <cmath>
#include <limits>

namespace uni::reference {

// Giles, "Approximating the erfinv function" (2012), single precision; each step one fused multiply-add.
float erf_inv(float x) {
  if (!(std::fabs(x) < 1.0f))
    return std::fabs(x) == 1.0f ? std::copysign(std::numeric_limits<float>::infinity(), x)
                                : std::numeric_limits<float>::quiet_NaN();
  static constexpr float central[] = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                      -4.39150654e-06f, .00021858087f,   -.00125372503f,
                                      -.00417768164f,   .246640727f,     1.50140941f};
  static constexpr float tail[] = {-.000200214257f, .000100950558f, .00134934322f, -.00367342844f, .00573950773f,
                                   -.0076224613f,   .00943887047f,  1.00167406f,   2.83297682f};
  const float w = -std::log1p(-x * x);
  const float* c = w < 5.0f ? central : tail;
  const float t = w < 5.0f ? w - 2.5f : std::sqrt(w) - 3.0f;
  float p = c[0];
  for (int i = 1; i < 9; ++i) p = std::fma(p, t, c[i]);
  return p * x;
}

// A start from the single-precision formula, then Halley steps on erf or erfc.
double erf_inv(double x) {
  if (!(std::fabs(x) < 1.0))
    return std::fabs(x) == 1.0 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                               : std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return x;
  const double a = std::fabs(x);
  constexpr double two_over_sqrt_pi = 1.1283791670955125739;
  double y;
  if (a < 0.9999) {
    y = erf_inv(static_cast<float>(a));
  } else {
    const double l = std::log1p(-a * a);
    const double u = 2 / (3.14159265358979323846 * 0.147) + l / 2;
    y = std::sqrt(std::sqrt(u * u - l / 0.147) - u);
  }
  for (int i = 0; i < 4; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double slope = two_over_sqrt_pi * std::exp(-y * y);
    if (slope == 0) break;
    const double step = error / slope;
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0.
double digamma(double x) {
  if (std::isnan(x) || x == -std::numeric_limits<double>::infinity()) return std::numeric_limits<double>::quiet_NaN();
  constexpr double pi = 3.14159265358979323846;
  if (x <= 0) {
    const double nearest = std::nearbyint(x);
    if (x == nearest) return std::numeric_limits<double>::quiet_NaN();  // a pole, approached from both sides
    return digamma(1 - x) - pi / std::tan(pi * (x - nearest));
  }
  double shift = 0;
  while (x < 10) {
    shift -= 1 / x;
    x += 1;
  }
  const double r = 1 / (x * x);
  const double series =
      r *
      (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
  return shift + std::log(x) - 0.5 / x - series;
}
float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

std::complex<double> expm1(std::complex<double> x) {
  const double half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}
std::complex<float> expm1(std::complex<float> x) { return std::complex<float>(expm1(std::complex<double>(x))); }
std::complex<double> log1p(std::complex<double> x) {
  // Only near 0 does 1 + x lose what matters; elsewhere the squares might overflow.
  if (!(std::abs(x) < 0.5)) return std::log(1.0 + x);
  const double re = x.real(), im = x.imag();
  return {std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re)};
}
std::complex<float> log1p(std::complex<float> x) { return std::complex<float>(log1p(std::complex<double>(x))); }
std::complex<double> power(std::complex<double> x, std::complex<double> y) {
  if (y == 0.0) return 1;
  if (x == 0.0 && y.real() > 0) return 0;  // exp(y log x) would meet infinity times 0
  return std::pow(x, y);
}
std::complex<float> power(std::complex<float> x, std::complex<float> y) {
  return std::complex<float>(power(std::complex<double>(x), std::complex<double>(y)));
}

}  // namespace uni::reference
