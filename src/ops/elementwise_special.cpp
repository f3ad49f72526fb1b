// Error functions, gamma functions.
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

namespace {
using lax::full_like;

constexpr double pi = 3.14159265358979323846;
constexpr double two_by_root_pi = 1.12837916709551257390;
constexpr double half_root_pi = 0.88622692545275801365;

// The derivative of digamma: for x >= 1/2 ten steps of the recurrence up, then the asymptotic series; below by
// reflection. Lanes of the other branch get harmless operands, so that no infinity leaks into later derivatives.
Array trigamma(const Array& x) {
  if (x.dtype() == Dtype::f16 || x.dtype() == Dtype::bf16)
    return lax::convert(trigamma(lax::convert(x, Dtype::f32)), x.dtype(), x.weak());
  const auto constant = [&](double v) { return full_like(x, v); };
  const auto inverse_square = [&](const Array& v) { return lax::div(constant(1), lax::mul(v, v)); };
  const Array reflect = lax::lt(x, constant(0.5));
  const Array z = lax::select(reflect, lax::sub(constant(1), x), x);
  Array sum = inverse_square(z);
  for (int k = 1; k < 10; ++k) sum = lax::add(sum, inverse_square(lax::add(z, constant(k))));
  const Array y = lax::add(z, constant(10)), w = inverse_square(y);
  constexpr double bernoulli[] = {7.0 / 6, -691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6};
  Array series = constant(bernoulli[0]);
  for (std::size_t i = 1; i < std::size(bernoulli); ++i) series = lax::add(lax::mul(series, w), constant(bernoulli[i]));
  series = lax::div(lax::add(constant(1), lax::add(lax::div(constant(0.5), y), lax::mul(series, w))), y);
  const Array value = lax::add(sum, series);
  const Array r = lax::select(reflect, lax::sub(x, lax::round(x)), constant(0.25));
  const Array mirrored = lax::mul(inverse_square(lax::sin(lax::mul(r, constant(pi)))), constant(pi * pi));
  return lax::select(reflect, lax::sub(mirrored, value), value);
}

Array gauss(const Array& x, double scale) { return lax::mul(lax::exp(lax::neg(lax::mul(x, x))), full_like(x, scale)); }

constexpr auto erf_rules = unary<erf, Takes::floating, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, gauss(x, two_by_root_pi));
}>("erf");
constexpr auto erfc_rules = unary<erfc, Takes::floating, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, gauss(x, -two_by_root_pi));
}>("erfc");
constexpr auto erf_inv_rules = unary<erf_inv, Takes::floating, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, lax::mul(lax::exp(lax::mul(y, y)), full_like(y, half_root_pi)));
}>("erf_inv");
constexpr auto lgamma_rules = unary<lgamma, Takes::floating, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, lax::digamma(x));
}>("lgamma");
constexpr auto digamma_rules = unary<digamma, Takes::floating, [](const Array& t, const Array& x, const Array&) {
  return lax::mul(t, trigamma(x));
}>("digamma");
}  // namespace

constinit const Primitive erf = primitive<erf_rules>();
constinit const Primitive erfc = primitive<erfc_rules>();
constinit const Primitive erf_inv = primitive<erf_inv_rules>();
constinit const Primitive lgamma = primitive<lgamma_rules>();
constinit const Primitive digamma = primitive<digamma_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array erf(const Array& x) { return core::bind1(ops::erf, {x}); }
Array erfc(const Array& x) { return core::bind1(ops::erfc, {x}); }
Array erf_inv(const Array& x) { return core::bind1(ops::erf_inv, {x}); }
Array lgamma(const Array& x) { return core::bind1(ops::lgamma, {x}); }
Array digamma(const Array& x) { return core::bind1(ops::digamma, {x}); }

}  // namespace uni::lax
