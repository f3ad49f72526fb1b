// Operators and functions that work element by element. Operands broadcast as in NumPy and are promoted to a common
// dtype; a plain number takes the dtype of the array it meets. Shapes that do not broadcast are a ShapeError, dtypes
// that an operation does not take a DtypeError.
#pragma once
#include <unisono/array.hpp>

namespace uni {

// Arithmetic. On bool, + is `or` and * is `and`; bool has no - and no sign. Integers wrap. `/` divides exactly:
// integers give f32, 64-bit integers f64. `%` has the sign of the divisor.
Array operator+(In x, In y);
Array operator-(In x, In y);
Array operator*(In x, In y);
Array operator/(In x, In y);
Array operator%(In x, In y);
Array operator-(In x);
// Comparisons give bool. NaN is unequal to everything. Complex numbers have only == and !=.
Array operator<(In x, In y);
Array operator<=(In x, In y);
Array operator>(In x, In y);
Array operator>=(In x, In y);
Array operator==(In x, In y);
Array operator!=(In x, In y);
// Bits of integers and bool. A shift by the width or more, or by a negative count, gives 0 (or the sign for >> of a
// signed value).
Array operator&(In x, In y);
Array operator|(In x, In y);
Array operator^(In x, In y);
Array operator~(In x);
Array operator<<(In x, In count);
Array operator>>(In x, In count);

// The operators by name.
Array add(In x, In y);
Array subtract(In x, In y);
Array multiply(In x, In y);
Array divide(In x, In y);
Array negative(In x);
Array less(In x, In y);
Array less_equal(In x, In y);
Array greater(In x, In y);
Array greater_equal(In x, In y);
Array equal(In x, In y);
Array not_equal(In x, In y);
Array bitwise_and(In x, In y);
Array bitwise_or(In x, In y);
Array bitwise_xor(In x, In y);
Array bitwise_not(In x);
Array left_shift(In x, In count);
// Fills with the sign of signed integers and with zero of unsigned ones.
Array right_shift(In x, In count);
// Fills with zero.
Array right_shift_logical(In x, In count);

// The quotient rounded down. Integers divided by zero give -1 for 0 and -2 otherwise (all bits set when unsigned).
Array floor_divide(In x, In y);
// x - floor(x / y) * y, with the sign of y; 0 for integers modulo zero, NaN for floats.
Array mod(In x, In y);
// The remainder of division rounded towards zero, with the sign of x; x for integers and y == 0, NaN for floats.
Array rem(In x, In y);
// x to the power y. A number of integer type as y is an exact integer power with its own derivative; negative ones need
// a floating x (DtypeError otherwise). Integer arrays give integers, cut towards zero for negative exponents.
Array power(In x, In y);
// The larger and the smaller; NaN wins, +0 is larger than -0.
Array maximum(In x, In y);
Array minimum(In x, In y);
// The same, but a number wins over NaN.
Array fmax(In x, In y);
Array fmin(In x, In y);
// sqrt(x*x + y*y) without overflow on the way.
Array hypot(In x, In y);
// The angle of the point (x, y), from -pi to pi.
Array atan2(In y, In x);
// log(exp(x) + exp(y)) without overflow.
Array logaddexp(In x, In y);
// The magnitude of x with the sign of y. Floats.
Array copysign(In x, In y);
// The next representable float after x in the direction of y.
Array nextafter(In x, In y);
// x * log(y), and 0 where x is 0.
Array xlogy(In x, In y);
// x * y + z, rounded once. Floats.
Array fma(In x, In y, In z);

// |x|; the real magnitude of complex numbers. The smallest signed integer stays itself.
Array abs(In x);
// -1, 0 or 1 (x / |x| of complex numbers); keeps -0 and NaN.
Array sign(In x);
Array square(In x);
// 1 / x.
Array reciprocal(In x);
Array positive(In x);
// Rounding to integers; integers stay as they are. `round` goes to the nearest, halves to the even one.
Array floor(In x);
Array ceil(In x);
Array trunc(In x);
struct RoundOptions {
  int decimals = 0;  // digits kept behind the point, or before it when negative (floats)
};
Array round(In x, const RoundOptions& options = {});

// Floating-point functions: integers and bool are taken as f32 (64-bit integers as f64), floats keep their dtype,
// complex numbers are taken where the function has a usual complex meaning. Outside the domain the value is NaN.
Array sqrt(In x);
Array rsqrt(In x);  // 1 / sqrt(x)
Array cbrt(In x);
Array exp(In x);
Array exp2(In x);
Array expm1(In x);  // exp(x) - 1, exact near 0
Array log(In x);
Array log2(In x);
Array log10(In x);
Array log1p(In x);  // log(1 + x), exact near 0
Array sin(In x);
Array cos(In x);
Array tan(In x);
Array asin(In x);
Array acos(In x);
Array atan(In x);
Array sinh(In x);
Array cosh(In x);
Array tanh(In x);
Array asinh(In x);
Array acosh(In x);
Array atanh(In x);
Array sinc(In x);     // sin(pi x) / (pi x), 1 at 0
Array sigmoid(In x);  // 1 / (1 + exp(-x))
Array erf(In x);
Array erfc(In x);
Array erf_inv(In x);
Array lgamma(In x);  // log |gamma(x)|
Array digamma(In x);
Array degrees(In x);  // radians to degrees
Array radians(In x);

// Complex numbers: parts (real numbers are their own real part, with imaginary part 0), conjugate, angle.
Array real(In x);
Array imag(In x);
Array conj(In x);
Array angle(In x);
// The complex number x + i y of two floats: c64, or c128 when one is f64.
Array make_complex(In x, In y);

// Logic on truth values: a number is true when it is not 0 (NaN is true). The result is bool.
Array logical_and(In x, In y);
Array logical_or(In x, In y);
Array logical_xor(In x, In y);
Array logical_not(In x);
Array isnan(In x);
Array isinf(In x);
Array isfinite(In x);
// Whether the sign bit of a float is set; x < 0 of integers.
Array signbit(In x);
struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  Flag equal_nan = false;
};
// |x - y| <= atol + rtol * |y|; equal infinities are close.
Array isclose(In x, In y, const CloseOptions& options = {});
// A bool scalar: all elements are close.
Array allclose(In x, In y, const CloseOptions& options = {});
// A bool scalar: same shape and equal elements. Never throws for shapes.
Array array_equal(In x, In y);

// x where the condition is true, else y. Both are computed. The condition is a truth value.
Array where(In condition, In x, In y);
// min(max(x, low), high).
Array clip(In x, In low, In high);
// The same values in another dtype: floats to integers cut towards zero and saturate (NaN gives 0), integers to
// integers wrap, complex to real drops the imaginary part. A plain number must fit (DtypeError).
Array astype(In x, Dtype dtype);
// The same bits read as another dtype of the same width; not bool.
Array bitcast(In x, Dtype dtype);
// x with derivative zero.
Array stop_gradient(In x);
struct NanToNumOptions {
  double nan = 0;
  // In place of infinities; the largest and smallest finite values when not given.
  std::optional<double> posinf = {}, neginf = {};
};
Array nan_to_num(In x, const NanToNumOptions& options = {});

}  // namespace uni
