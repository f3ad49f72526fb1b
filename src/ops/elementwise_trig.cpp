// Trigonometric and hyperbolic rows.
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

namespace {
Array one_like(const Array& x) { return lax::full_like(x, 1); }
// 1 - x², accurate near 1.
Array one_minus_square(const Array& x) { return lax::mul(lax::sub(one_like(x), x), lax::add(one_like(x), x)); }
Array one_plus_square(const Array& x) { return lax::add(one_like(x), lax::mul(x, x)); }

// 1 / sqrt(x² - 1). Real: subtracting from 0 gives +0, hence +infinity, at -1 as well. Complex: two roots, because the
// root of the product has other cuts.
Array acosh_slope(const Array& x) {
  if (is_complex(x.dtype()))
    return lax::mul(lax::rsqrt(lax::sub(x, one_like(x))), lax::rsqrt(lax::add(x, one_like(x))));
  return lax::rsqrt(lax::sub(lax::full_like(x, 0), one_minus_square(x)));
}

constexpr auto sin_rules =
    unary<sin, takes::inexact, [](const Array& t, const Array& x, const Array&) { return lax::mul(t, lax::cos(x)); }>(
        "sin");
constexpr auto cos_rules = unary<cos, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, lax::neg(lax::sin(x)));
}>("cos");
constexpr auto tan_rules = unary<tan, takes::inexact, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, one_plus_square(y));
}>("tan");
constexpr auto asin_rules = unary<asin, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, lax::rsqrt(one_minus_square(x)));
}>("asin");
constexpr auto acos_rules = unary<acos, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, lax::neg(lax::rsqrt(one_minus_square(x))));
}>("acos");
constexpr auto atan_rules = unary<atan, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::div(t, one_plus_square(x));
}>("atan");
constexpr auto sinh_rules =
    unary<sinh, takes::inexact, [](const Array& t, const Array& x, const Array&) { return lax::mul(t, lax::cosh(x)); }>(
        "sinh");
constexpr auto cosh_rules =
    unary<cosh, takes::inexact, [](const Array& t, const Array& x, const Array&) { return lax::mul(t, lax::sinh(x)); }>(
        "cosh");
constexpr auto tanh_rules = unary<tanh, takes::inexact, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, one_minus_square(y));
}>("tanh");
constexpr auto asinh_rules = unary<asinh, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, lax::rsqrt(one_plus_square(x)));
}>("asinh");
constexpr auto acosh_rules = unary<acosh, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, acosh_slope(x));
}>("acosh");
constexpr auto atanh_rules = unary<atanh, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::div(t, one_minus_square(x));
}>("atanh");
}  // namespace

constinit const Primitive sin = primitive<sin_rules>();
constinit const Primitive cos = primitive<cos_rules>();
constinit const Primitive tan = primitive<tan_rules>();
constinit const Primitive asin = primitive<asin_rules>();
constinit const Primitive acos = primitive<acos_rules>();
constinit const Primitive atan = primitive<atan_rules>();
constinit const Primitive sinh = primitive<sinh_rules>();
constinit const Primitive cosh = primitive<cosh_rules>();
constinit const Primitive tanh = primitive<tanh_rules>();
constinit const Primitive asinh = primitive<asinh_rules>();
constinit const Primitive acosh = primitive<acosh_rules>();
constinit const Primitive atanh = primitive<atanh_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array sin(const Array& x) { return core::bind1(ops::sin, {x}); }
Array cos(const Array& x) { return core::bind1(ops::cos, {x}); }
Array tan(const Array& x) { return core::bind1(ops::tan, {x}); }
Array asin(const Array& x) { return core::bind1(ops::asin, {x}); }
Array acos(const Array& x) { return core::bind1(ops::acos, {x}); }
Array atan(const Array& x) { return core::bind1(ops::atan, {x}); }
Array sinh(const Array& x) { return core::bind1(ops::sinh, {x}); }
Array cosh(const Array& x) { return core::bind1(ops::cosh, {x}); }
Array tanh(const Array& x) { return core::bind1(ops::tanh, {x}); }
Array asinh(const Array& x) { return core::bind1(ops::asinh, {x}); }
Array acosh(const Array& x) { return core::bind1(ops::acosh, {x}); }
Array atanh(const Array& x) { return core::bind1(ops::atanh, {x}); }

}  // namespace uni::lax
