// Order of numbers: NaN wins in extrema and comes last in sorting; -0 and +0 are equal there and ordered in extrema.
#pragma once
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

namespace uni::reference {

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
int sort_order(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool an = std::isnan(a), bn = std::isnan(b);
    if (an || bn) return an - bn;
  }
  return (a > b) - (a < b);
}
// Complex numbers sort by real part, then by imaginary part.
template <class R>
int sort_order(std::complex<R> a, std::complex<R> b) {
  const int real = sort_order(a.real(), b.real());
  return real != 0 ? real : sort_order(a.imag(), b.imag());
}

}  // namespace uni::reference
