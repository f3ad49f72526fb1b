#include <unisono/elementwise.hpp>

#include <cmath>
#include <numbers>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"

namespace uni {

namespace api {

Array inexact_unary(std::string_view who, const In& x, Unary f) {
  const core::At at(x.where());
  return f(as_inexact(who, x));
}

namespace {
// f on floats; integers and bool are whole already.
Array rounding(std::string_view who, const In& x, Unary f) {
  const core::At at(x.where());
  const Array a = as_array(who, x);
  if (is_integer(a.dtype()) || is_bool(a.dtype())) return a;
  if (!is_float(a.dtype())) fail<DtypeError>(base::cat(who, ": takes real numbers, not ", name(a.dtype())));
  return f(a);
}

// f on numbers of any kind as they are.
Array numeric(std::string_view who, const In& x, Unary f) {
  const core::At at(x.where());
  const Array a = as_array(who, x);
  if (a.dtype() == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no numeric value"));
  return f(a);
}

Array scaled(std::string_view who, const In& x, Unary f, double factor) {
  const core::At at(x.where());
  const Array y = f(as_inexact(who, x));
  return lax::mul(y, constant_like(y, factor));
}

Array identity(const Array& x) { return x; }

// The quotient, and near 0 the Taylor series of sin(t) / t, whose derivatives are right at 0.
Array sinc_of(const Array& x) {
  const Array t = lax::mul(x, constant_like(x, std::numbers::pi)), size = lax::abs(t);
  const Array near = lax::lt(size, constant_like(size, 0.5)), one = constant_like(t, 1);
  const Array s = lax::select(near, t, constant_like(t, 0)), z = lax::mul(s, s);
  Array series = one;
  for (int n = 8; n >= 1; --n)
    series = lax::sub(one, lax::mul(series, lax::mul(z, constant_like(z, 1.0 / (2 * n * (2 * n + 1))))));
  const Array far = lax::select(near, one, t);
  return lax::select(near, series, lax::div(lax::sin(far), far));
}

Array sign_bit(const Array& x) {
  if (is_bool(x.dtype()) || is_unsigned(x.dtype())) return lax::full_int(0, Dtype::b8, x.shape());
  if (is_integer(x.dtype())) return lax::lt(x, constant_like(x, 0));
  if (!is_float(x.dtype())) fail<DtypeError>(base::cat("signbit: takes real numbers, not ", name(x.dtype())));
  const int width = itemsize(x.dtype());
  const Array bits = lax::bitcast(x, width == 2 ? Dtype::i16 : width == 4 ? Dtype::i32 : Dtype::i64);
  return lax::lt(bits, constant_like(bits, 0));
}
}  // namespace
}  // namespace api

using namespace api;

Array abs(In x) {
  return numeric("abs", x,
                 [](const Array& a) { return is_bool(a.dtype()) || is_unsigned(a.dtype()) ? a : lax::abs(a); });
}
Array sign(In x) {
  const core::At at(x.where());
  refuse_bool("sign", x, "the value itself");
  return numeric("sign", x, lax::sign);
}
Array square(In x) {
  const core::At at(x.where());
  return power(x, In(2, x.where()));
}
Array reciprocal(In x) {
  return inexact_unary("reciprocal", x, [](const Array& a) { return lax::div(constant_like(a, 1), a); });
}
Array positive(In x) { return numeric("positive", x, identity); }

Array floor(In x) { return rounding("floor", x, lax::floor); }
Array ceil(In x) { return rounding("ceil", x, lax::ceil); }
Array trunc(In x) {
  return rounding("trunc", x, [](const Array& a) {
    return lax::select(lax::lt(a, constant_like(a, 0)), lax::ceil(a), lax::floor(a));
  });
}
Array round(In x, const RoundOptions& options) {
  const core::At at(x.where());
  refuse_bool("round", x, "the value itself");
  const Array a = as_array("round", x);
  if (options.decimals == 0) return rounding("round", x, lax::round);
  if (!is_float(a.dtype()))
    fail<DtypeError>(base::cat("round: ", options.decimals, " decimals need a float, not ", name(a.dtype())),
                     "astype to a float first");
  const Array factor = constant_like(a, std::pow(10.0, std::abs(options.decimals)));
  if (options.decimals > 0) return lax::div(lax::round(lax::mul(a, factor)), factor);
  return lax::mul(lax::round(lax::div(a, factor)), factor);
}

Array sqrt(In x) { return inexact_unary("sqrt", x, lax::sqrt); }
Array rsqrt(In x) { return inexact_unary("rsqrt", x, lax::rsqrt); }
Array cbrt(In x) { return inexact_unary("cbrt", x, lax::cbrt); }
Array exp(In x) { return inexact_unary("exp", x, lax::exp); }
Array exp2(In x) {
  return inexact_unary("exp2", x, [](const Array& a) { return lax::pow(constant_like(a, 2), a); });
}
Array expm1(In x) { return inexact_unary("expm1", x, lax::expm1); }
Array log(In x) { return inexact_unary("log", x, lax::log); }
Array log2(In x) {
  return inexact_unary("log2", x,
                       [](const Array& a) { return lax::div(lax::log(a), constant_like(a, std::numbers::ln2)); });
}
Array log10(In x) {
  return inexact_unary("log10", x,
                       [](const Array& a) { return lax::div(lax::log(a), constant_like(a, std::numbers::ln10)); });
}
Array log1p(In x) { return inexact_unary("log1p", x, lax::log1p); }
Array sin(In x) { return inexact_unary("sin", x, lax::sin); }
Array cos(In x) { return inexact_unary("cos", x, lax::cos); }
Array tan(In x) { return inexact_unary("tan", x, lax::tan); }
Array asin(In x) { return inexact_unary("asin", x, lax::asin); }
Array acos(In x) { return inexact_unary("acos", x, lax::acos); }
Array atan(In x) { return inexact_unary("atan", x, lax::atan); }
Array sinh(In x) { return inexact_unary("sinh", x, lax::sinh); }
Array cosh(In x) { return inexact_unary("cosh", x, lax::cosh); }
Array tanh(In x) { return inexact_unary("tanh", x, lax::tanh); }
Array asinh(In x) { return inexact_unary("asinh", x, lax::asinh); }
Array acosh(In x) { return inexact_unary("acosh", x, lax::acosh); }
Array atanh(In x) { return inexact_unary("atanh", x, lax::atanh); }
Array sinc(In x) { return inexact_unary("sinc", x, sinc_of); }
Array sigmoid(In x) { return inexact_unary("sigmoid", x, lax::logistic); }
Array erf(In x) { return inexact_unary("erf", x, lax::erf); }
Array erfc(In x) { return inexact_unary("erfc", x, lax::erfc); }
Array erf_inv(In x) { return inexact_unary("erf_inv", x, lax::erf_inv); }
Array lgamma(In x) { return inexact_unary("lgamma", x, lax::lgamma); }
Array digamma(In x) { return inexact_unary("digamma", x, lax::digamma); }
Array degrees(In x) { return scaled("degrees", x, identity, 180.0 / std::numbers::pi); }
Array radians(In x) { return scaled("radians", x, identity, std::numbers::pi / 180.0); }

Array real(In x) {
  return numeric("real", x, [](const Array& a) { return is_complex(a.dtype()) ? lax::real(a) : a; });
}
Array imag(In x) {
  return numeric("imag", x, [](const Array& a) { return is_complex(a.dtype()) ? lax::imag(a) : constant_like(a, 0); });
}
Array conj(In x) {
  return numeric("conj", x, [](const Array& a) { return is_complex(a.dtype()) ? lax::conj(a) : a; });
}
Array angle(In x) {
  return inexact_unary("angle", x, [](const Array& a) {
    if (is_complex(a.dtype())) return lax::atan2(lax::imag(a), lax::real(a));
    return lax::atan2(constant_like(a, 0), a);
  });
}
Array make_complex(In x, In y) {
  const core::At at(x.where());
  ValueType type =
      promote("make_complex", to_inexact("make_complex", value_type(x)), to_inexact("make_complex", value_type(y)));
  if (is_complex(type.dtype)) fail<DtypeError>("make_complex: takes real numbers");
  type = {type.dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32, false};
  const Dims shape = broadcast_shapes("make_complex", {x, y});
  return lax::complex(prepare("make_complex", x, type, shape), prepare("make_complex", y, type, shape));
}

Array signbit(In x) { return numeric("signbit", x, sign_bit); }

}  // namespace uni
