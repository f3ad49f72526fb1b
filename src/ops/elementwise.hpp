// Rows that work element by element. Operands of one equation have equal shapes and, unless said, equal dtypes; the
// strict functions in uni::lax do not promote or broadcast.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

// x -> y, same dtype. neg abs sign: numbers. floor ceil round (half to even): floats. not_: bool and integers
// (bitwise). Transcendental ones: floats, those with a usual complex meaning also complex.
extern const Primitive neg, abs, sign, floor, ceil, round, not_;
extern const Primitive exp, expm1, log, log1p, sqrt, rsqrt, cbrt;
extern const Primitive sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh;
extern const Primitive logistic, erf, erfc, erf_inv, lgamma, digamma;
extern const Primitive is_finite;         // floats -> bool
extern const Primitive real, imag, conj;  // complex -> float, float, complex
extern const Primitive stop_gradient;     // identity with zero derivative
struct IntegerPow {
  int exponent = 1;
};
extern const Primitive integer_pow;  // x**n for static n, floats, integers (n >= 0) and complex

// (x, y) -> z. add: bool is or; mul: bool is and. div: integers truncate, x/0 = -1 (all bits set), min/-1 = min.
// rem: sign of the dividend, x rem 0 = x. maximum, minimum: NaN wins, +0 > -0. pow: floats and complex.
extern const Primitive add, sub, mul, div, rem, pow, maximum, minimum, atan2, nextafter;
extern const Primitive and_, or_, xor_;  // bool and integers
// Shift counts of at least the width, or negative: 0, and the sign fill for the arithmetic right shift.
extern const Primitive shift_left, shift_right_logical, shift_right_arithmetic;
extern const Primitive complex;  // (re, im) f32 -> c64, f64 -> c128
extern const Primitive fma;      // x * y + z, rounded once; floats
struct Compare {
  enum class Direction : std::uint8_t { eq, ne, lt, le, gt, ge };
  Direction direction = Direction::eq;
};
extern const Primitive compare;  // -> bool; NaN: only ne is true. Complex: eq and ne only
extern const Primitive select;   // (bool, on_true, on_false)
extern const Primitive clamp;    // (low, x, high) = min(max(x, low), high)
// Float to integer truncates, saturates, NaN gives 0; to bool: nonzero or NaN; integers wrap; complex to real drops.
struct Convert {
  Dtype dtype = Dtype::f32;
  bool weak = false;
};
extern const Primitive convert;
struct Bitcast {
  Dtype dtype = Dtype::u32;  // of the same width; not bool, not key
};
extern const Primitive bitcast;

std::span<const Primitive* const> elementwise_rows();

}  // namespace uni::ops

namespace uni::lax {

Array neg(const Array& x);
Array abs(const Array& x);
Array sign(const Array& x);
Array floor(const Array& x);
Array ceil(const Array& x);
Array round(const Array& x);
Array logical_not(const Array& x);
Array exp(const Array& x);
Array expm1(const Array& x);
Array log(const Array& x);
Array log1p(const Array& x);
Array sqrt(const Array& x);
Array rsqrt(const Array& x);
Array cbrt(const Array& x);
Array sin(const Array& x);
Array cos(const Array& x);
Array tan(const Array& x);
Array asin(const Array& x);
Array acos(const Array& x);
Array atan(const Array& x);
Array sinh(const Array& x);
Array cosh(const Array& x);
Array tanh(const Array& x);
Array asinh(const Array& x);
Array acosh(const Array& x);
Array atanh(const Array& x);
Array logistic(const Array& x);
Array erf(const Array& x);
Array erfc(const Array& x);
Array erf_inv(const Array& x);
Array lgamma(const Array& x);
Array digamma(const Array& x);
Array is_finite(const Array& x);
Array real(const Array& x);
Array imag(const Array& x);
Array conj(const Array& x);
Array stop_gradient(const Array& x);
Array integer_pow(const Array& x, int exponent);
Array add(const Array& x, const Array& y);
Array sub(const Array& x, const Array& y);
Array mul(const Array& x, const Array& y);
Array div(const Array& x, const Array& y);
Array rem(const Array& x, const Array& y);
Array pow(const Array& x, const Array& y);
Array maximum(const Array& x, const Array& y);
Array minimum(const Array& x, const Array& y);
Array atan2(const Array& y, const Array& x);
Array nextafter(const Array& x, const Array& y);
Array bit_and(const Array& x, const Array& y);
Array bit_or(const Array& x, const Array& y);
Array bit_xor(const Array& x, const Array& y);
Array shift_left(const Array& x, const Array& count);
Array shift_right_logical(const Array& x, const Array& count);
Array shift_right_arithmetic(const Array& x, const Array& count);
Array complex(const Array& re, const Array& im);
Array fma(const Array& x, const Array& y, const Array& z);
Array compare(ops::Compare::Direction direction, const Array& x, const Array& y);
Array eq(const Array& x, const Array& y);
Array ne(const Array& x, const Array& y);
Array lt(const Array& x, const Array& y);
Array le(const Array& x, const Array& y);
Array gt(const Array& x, const Array& y);
Array ge(const Array& x, const Array& y);
Array select(const Array& predicate, const Array& on_true, const Array& on_false);
Array clamp(const Array& low, const Array& x, const Array& high);
Array convert(const Array& x, Dtype dtype, bool weak = false);  // x itself when nothing changes
Array bitcast(const Array& x, Dtype dtype);

}  // namespace uni::lax
