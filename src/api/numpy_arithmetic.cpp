#include <unisono/elementwise.hpp>

#include <limits>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "ops/contract.hpp"
#include "ops/random.hpp"

namespace uni {

namespace api {

Array binary(std::string_view who, const In& x, const In& y, Binary f) {
  const core::At at(x.where());
  const ValueType type = promote(who, {x, y});
  const Dims shape = broadcast_shapes(who, {x, y});
  return f(prepare(who, x, type, shape), prepare(who, y, type, shape));
}

Array inexact_binary(std::string_view who, const In& x, const In& y, Binary f) {
  const core::At at(x.where());
  const ValueType type = to_inexact(who, promote(who, {x, y}));
  const Dims shape = broadcast_shapes(who, {x, y});
  return f(prepare(who, x, type, shape), prepare(who, y, type, shape));
}

Array constant_like(const Array& x, double value) {
  const ir::Type& t = core::type_of(x);
  return lax::full_scalar(ir::Scalar::of_double(t.dtype, value), t.shape, t.weak);
}

void refuse_bool(std::string_view who, const In& x, std::string_view instead) {
  if (is_bool(value_type(x).dtype))
    fail<DtypeError>(base::cat(who, ": bool has no ", who), base::cat("use ", instead, ", or astype to a number"));
}

namespace {
using Direction = ops::Compare::Direction;

// Two random keys are equal when both words are.
Array equal_keys(const Array& x, const Array& y) {
  return lax::reduce_and(lax::eq(lax::key_unwrap(x), lax::key_unwrap(y)), {core::type_of(x).shape.rank()});
}

Array equality(std::string_view who, const In& x, const In& y, Binary f) {
  if (value_type(x).dtype != Dtype::key || value_type(y).dtype != Dtype::key) return binary(who, x, y, f);
  const bool equal = f == Binary{lax::eq};
  return equal ? binary(who, x, y, equal_keys) : lax::logical_not(binary(who, x, y, equal_keys));
}

Array bits(std::string_view who, const In& x, const In& y, Binary f) {
  const core::At at(x.where());
  for (const In& each : {x, y}) {
    const Dtype dtype = value_type(each).dtype;
    if (!is_bool(dtype) && !is_integer(dtype))
      fail<DtypeError>(base::cat(who, ": takes integers and bool, not ", name(dtype)));
  }
  return binary(who, x, y, f);
}

Array shift(std::string_view who, const In& x, const In& count, Binary f) {
  const core::At at(x.where());
  const Dtype dtype = promote(who, {x, count}).dtype;
  if (!is_integer(dtype)) fail<DtypeError>(base::cat(who, ": takes integers, not ", name(dtype)));
  return binary(who, x, count, f);
}

Array differ_in_sign(const Array& x, const Array& y) { return lax::ne(lax::sign(x), lax::sign(y)); }
Array not_zero(const Array& x) { return lax::ne(x, constant_like(x, 0)); }

Array floor_divide_integers(const Array& x, const Array& y) {
  const Array quotient = lax::div(x, y);
  if (is_unsigned(x.dtype())) return quotient;
  const Array down = lax::bit_and(differ_in_sign(x, y), not_zero(lax::rem(x, y)));
  return lax::select(down, lax::sub(quotient, constant_like(x, 1)), quotient);
}

// The remainder tells on which side the rounded quotient lies, so that -2 // inf is -1.
Array floor_divide_floats(const Array& x, const Array& y) {
  const Array remainder = lax::rem(x, y);
  const Array quotient = lax::div(lax::sub(x, remainder), y);
  const Array down = lax::bit_and(not_zero(remainder), differ_in_sign(remainder, y));
  const Array floored = lax::select(down, lax::sub(quotient, constant_like(x, 1)), quotient);
  return lax::round(lax::select(not_zero(y), floored, lax::div(x, y)));
}

Array floor_divide_values(const Array& x, const Array& y) {
  if (is_complex(x.dtype())) fail<DtypeError>(base::cat("floor_divide: takes real numbers, not ", name(x.dtype())));
  return is_float(x.dtype()) ? floor_divide_floats(x, y) : floor_divide_integers(x, y);
}

Array mod_values(const Array& x, const Array& y) {
  if (is_complex(x.dtype())) fail<DtypeError>(base::cat("mod: takes real numbers, not ", name(x.dtype())));
  const Array zero = constant_like(x, 0);
  const Array divisor = is_integer(x.dtype()) ? lax::select(lax::eq(y, zero), constant_like(y, 1), y) : y;
  const Array remainder = lax::rem(x, divisor);
  if (is_unsigned(x.dtype())) return remainder;
  const Array wrong_side = lax::ne(lax::lt(remainder, zero), lax::lt(divisor, zero));
  const Array shifted = lax::bit_and(wrong_side, lax::ne(remainder, zero));
  return lax::select(shifted, lax::add(remainder, divisor), remainder);
}

// Bool takes part as the number 0 or 1.
Array numeric_binary(std::string_view who, const In& x, const In& y, Binary f) {
  const core::At at(x.where());
  ValueType type = promote(who, {x, y});
  if (is_bool(type.dtype)) type = {Dtype::i32, false};
  const Dims shape = broadcast_shapes(who, {x, y});
  return f(prepare(who, x, type, shape), prepare(who, y, type, shape));
}

// Binary exponentiation. A negative exponent gives the true power cut to an integer: 0 unless x is 1 or -1.
Array power_integers(const Array& x, const Array& y) {
  const Array zero = constant_like(y, 0), one = constant_like(y, 1);
  Array result = constant_like(x, 1), square = x, rest = y;
  for (int bit = 0; bit < 8 * itemsize(y.dtype()); ++bit) {
    const Array odd = lax::ne(lax::bit_and(rest, one), zero);
    result = lax::select(odd, lax::mul(result, square), result);
    square = lax::mul(square, square);
    rest = lax::shift_right_logical(rest, one);
  }
  if (is_unsigned(y.dtype())) return result;
  const Array x_one = constant_like(x, 1);
  const Array unit = lax::eq(lax::abs(x), x_one);
  const Array odd = lax::ne(lax::bit_and(y, one), zero);
  const Array reciprocal = lax::select(unit, lax::select(odd, x, x_one), constant_like(x, 0));
  return lax::select(lax::lt(y, zero), reciprocal, result);
}

Array power_values(const Array& x, const Array& y) {
  return is_inexact(x.dtype()) ? lax::pow(x, y) : power_integers(x, y);
}

Array static_power(const In& x, i64 exponent) {
  ValueType type = value_type(x);
  if (is_bool(type.dtype)) type = {Dtype::i32, false};
  if (exponent < 0 && !is_inexact(type.dtype))
    fail<DtypeError>(base::cat("power: ", name(type.dtype), " to the negative power ", exponent, " is no integer"),
                     "use a floating base");
  if (exponent != static_cast<int>(exponent))
    fail<ShapeError>(base::cat("power: the exponent ", exponent, " is too large"));
  return lax::integer_pow(as_type("power", x, type), static_cast<int>(exponent));
}
}  // namespace
}  // namespace api

using namespace api;

Array add(In x, In y) { return binary("add", x, y, lax::add); }
Array subtract(In x, In y) {
  const core::At at(x.where());
  if (is_bool(value_type(x).dtype) && is_bool(value_type(y).dtype)) refuse_bool("subtract", x, "logical_xor");
  return binary("subtract", x, y, lax::sub);
}
Array multiply(In x, In y) { return binary("multiply", x, y, lax::mul); }
Array divide(In x, In y) { return inexact_binary("divide", x, y, lax::div); }
Array negative(In x) {
  const core::At at(x.where());
  refuse_bool("negative", x, "logical_not");
  return lax::neg(as_array("negative", x));
}
Array less(In x, In y) { return binary("less", x, y, lax::lt); }
Array less_equal(In x, In y) { return binary("less_equal", x, y, lax::le); }
Array greater(In x, In y) { return binary("greater", x, y, lax::gt); }
Array greater_equal(In x, In y) { return binary("greater_equal", x, y, lax::ge); }
Array equal(In x, In y) { return equality("equal", x, y, lax::eq); }
Array not_equal(In x, In y) { return equality("not_equal", x, y, lax::ne); }
Array bitwise_and(In x, In y) { return bits("bitwise_and", x, y, lax::bit_and); }
Array bitwise_or(In x, In y) { return bits("bitwise_or", x, y, lax::bit_or); }
Array bitwise_xor(In x, In y) { return bits("bitwise_xor", x, y, lax::bit_xor); }
Array bitwise_not(In x) {
  const core::At at(x.where());
  const Dtype dtype = value_type(x).dtype;
  if (!is_bool(dtype) && !is_integer(dtype))
    fail<DtypeError>(base::cat("bitwise_not: takes integers and bool, not ", name(dtype)));
  return lax::logical_not(as_array("bitwise_not", x));
}
Array left_shift(In x, In count) { return shift("left_shift", x, count, lax::shift_left); }
Array right_shift(In x, In count) {
  return shift("right_shift", x, count, [](const Array& a, const Array& n) {
    return is_unsigned(a.dtype()) ? lax::shift_right_logical(a, n) : lax::shift_right_arithmetic(a, n);
  });
}
Array right_shift_logical(In x, In count) { return shift("right_shift_logical", x, count, lax::shift_right_logical); }

Array operator+(In x, In y) { return add(x, y); }
Array operator-(In x, In y) { return subtract(x, y); }
Array operator*(In x, In y) { return multiply(x, y); }
Array operator/(In x, In y) { return divide(x, y); }
Array operator%(In x, In y) { return mod(x, y); }
Array operator-(In x) { return negative(x); }
Array operator<(In x, In y) { return less(x, y); }
Array operator<=(In x, In y) { return less_equal(x, y); }
Array operator>(In x, In y) { return greater(x, y); }
Array operator>=(In x, In y) { return greater_equal(x, y); }
Array operator==(In x, In y) { return equal(x, y); }
Array operator!=(In x, In y) { return not_equal(x, y); }
Array operator&(In x, In y) { return bitwise_and(x, y); }
Array operator|(In x, In y) { return bitwise_or(x, y); }
Array operator^(In x, In y) { return bitwise_xor(x, y); }
Array operator~(In x) { return bitwise_not(x); }
Array operator<<(In x, In count) { return left_shift(x, count); }
Array operator>>(In x, In count) { return right_shift(x, count); }

Array floor_divide(In x, In y) { return numeric_binary("floor_divide", x, y, floor_divide_values); }
Array mod(In x, In y) { return numeric_binary("mod", x, y, mod_values); }
Array rem(In x, In y) { return numeric_binary("rem", x, y, lax::rem); }

Array power(In x, In y) {
  const core::At at(x.where());
  if (y.is_scalar()) {
    const detail::HostScalar s = y.scalar();
    if (s.kind == detail::HostScalar::Kind::integer || s.kind == detail::HostScalar::Kind::natural)
      return static_power(x, s.i);
  }
  // An integer exponent of a floating base is as exact as the base allows.
  return numeric_binary("power", x, y, power_values);
}

Array maximum(In x, In y) { return binary("maximum", x, y, lax::maximum); }
Array minimum(In x, In y) { return binary("minimum", x, y, lax::minimum); }
Array fmax(In x, In y) {
  return binary("fmax", x, y, [](const Array& a, const Array& b) {
    if (!is_float(a.dtype())) return lax::maximum(a, b);
    return lax::select(lax::bit_or(lax::gt(a, b), lax::ne(b, b)), a, b);
  });
}
Array fmin(In x, In y) {
  return binary("fmin", x, y, [](const Array& a, const Array& b) {
    if (!is_float(a.dtype())) return lax::minimum(a, b);
    return lax::select(lax::bit_or(lax::lt(a, b), lax::ne(b, b)), a, b);
  });
}

Array hypot(In x, In y) {
  return inexact_binary("hypot", x, y, [](const Array& a, const Array& b) {
    // The larger one is taken out, so that squares neither overflow nor vanish.
    const Array m = lax::abs(a), n = lax::abs(b);
    const Array large = lax::maximum(m, n), zero = constant_like(m, 0), one = constant_like(m, 1);
    const Array infinity = constant_like(m, std::numeric_limits<double>::infinity());
    const Array plain = lax::bit_or(lax::eq(large, zero), lax::logical_not(lax::is_finite(large)));
    const Array ratio = lax::div(lax::minimum(m, n), lax::select(plain, one, large));
    const Array scaled = lax::mul(large, lax::sqrt(lax::add(lax::mul(ratio, ratio), one)));
    const Array infinite = lax::bit_or(lax::eq(m, infinity), lax::eq(n, infinity));
    return lax::select(infinite, infinity, lax::select(plain, large, scaled));
  });
}

Array atan2(In y, In x) { return inexact_binary("atan2", y, x, lax::atan2); }

Array logaddexp(In x, In y) {
  return inexact_binary("logaddexp", x, y, [](const Array& a, const Array& b) {
    // The distance as small - large, not -|a - b|: equal operands then share the derivative.
    const Array large = lax::maximum(a, b), difference = lax::sub(lax::minimum(a, b), large);
    const Array sum = lax::add(large, lax::log1p(lax::exp(difference)));
    // Equal infinities have no difference; their sum is the answer.
    return lax::select(lax::ne(difference, difference), lax::add(a, b), sum);
  });
}

Array copysign(In x, In y) {
  return inexact_binary("copysign", x, y, [](const Array& a, const Array& b) {
    const Array magnitude = lax::abs(a);
    return lax::select(signbit(b), lax::neg(magnitude), magnitude);
  });
}
Array nextafter(In x, In y) { return inexact_binary("nextafter", x, y, lax::nextafter); }

Array xlogy(In x, In y) {
  return inexact_binary("xlogy", x, y, [](const Array& a, const Array& b) {
    const Array zero = constant_like(a, 0), log = lax::log(b);
    // Only 0 * inf is replaced, so that the derivative in x is log(y) elsewhere.
    const Array undefined = lax::bit_and(lax::eq(a, zero), lax::eq(b, zero));
    return lax::select(undefined, zero, lax::mul(a, log));
  });
}

Array fma(In x, In y, In z) {
  const core::At at(x.where());
  const ValueType type = to_inexact("fma", promote("fma", {x, y, z}));
  const Dims shape = broadcast_shapes("fma", {x, y, z});
  return lax::fma(prepare("fma", x, type, shape), prepare("fma", y, type, shape), prepare("fma", z, type, shape));
}

}  // namespace uni
