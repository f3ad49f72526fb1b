// Order of numbers: NaN wins in extrema and comes last in sorting; -0 and +0 are equal there and ordered in extrema.
#pragma once
#include <cmath>
#include <limits>

#include "backend/reference/eval.hpp"

namespace uni::reference {

template <class T>
bool is_nan(T v) {
  return v != v;
}
template <Ordered T>
T larger(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (is_nan(a) || is_nan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <Ordered T>
T smaller(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (is_nan(a) || is_nan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
// The neutral elements of larger and smaller.
template <Ordered T>
T lowest() {
  if constexpr (std::floating_point<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <Ordered T>
T highest() {
  if constexpr (std::floating_point<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <Ordered T>
int sort_order(T a, T b) {
  if (is_nan(a) || is_nan(b)) return static_cast<int>(is_nan(a)) - static_cast<int>(is_nan(b));
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

}  // namespace uni::reference
