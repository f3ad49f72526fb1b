// Functions that the C++ library does not have, or has for real numbers only.
#pragma once
#include <cmath>
#include <complex>
#include <concepts>

namespace uni::reference {

float erf_inv(float x);
double erf_inv(double x);
float lgamma(float x);
double lgamma(double x);
float digamma(float x);
double digamma(double x);

template <std::floating_point T>
T expm1(T x) {
  return std::expm1(x);
}
std::complex<float> expm1(std::complex<float> x);
std::complex<double> expm1(std::complex<double> x);
template <std::floating_point T>
T log1p(T x) {
  return std::log1p(x);
}
std::complex<float> log1p(std::complex<float> x);
std::complex<double> log1p(std::complex<double> x);
template <std::floating_point T>
T power(T x, T y) {
  return std::pow(x, y);
}
std::complex<float> power(std::complex<float> x, std::complex<float> y);
std::complex<double> power(std::complex<double> x, std::complex<double> y);

}  // namespace uni::reference
