// Rounding once where a step between would round twice: the step between rounds to odd.
#pragma once
#include <bit>
#include <cmath>

#include "backend/reference/eval.hpp"

namespace uni::reference {

// v, which lies `error` below the true value, cut towards zero, its last bit set because something was lost.
inline double to_odd(double v, double error) {
  if (error == 0 || !std::isfinite(v)) return v;
  auto bits = std::bit_cast<std::uint64_t>(v);
  if (v != 0 && std::signbit(error) != std::signbit(v)) --bits;
  return std::bit_cast<double>(bits | 1);
}
// The same from a double that a float does not hold.
inline float odd_float(double v) {
  const auto f = static_cast<float>(v);
  if (!std::isfinite(f) || static_cast<double>(f) == v) return f;
  auto bits = std::bit_cast<std::uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --bits;
  return std::bit_cast<float>(bits | 1);
}
template <Integer T>
double odd_double(T v) {
  const bool negative = v < T{};
  std::uint64_t magnitude = static_cast<std::uint64_t>(v);
  if (negative) magnitude = 0 - magnitude;
  constexpr std::uint64_t beyond = (std::uint64_t{1} << 11) - 1;  // what 53 of 64 bits do not hold
  if (magnitude >> 53 && magnitude & beyond) magnitude = (magnitude & ~beyond) | (beyond + 1);
  const auto d = static_cast<double>(magnitude);
  return negative ? -d : d;
}
// x * y + z in a 16-bit float: the product is exact in double.
template <Half T>
T fma_half(float x, float y, float z) {
  const double product = static_cast<double>(x) * static_cast<double>(y), addend = z;
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  return T(odd_float(to_odd(sum, error)));
}

}  // namespace uni::reference
