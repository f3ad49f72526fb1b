// Unary rows: signs and rounding, exponentials, roots. Derivatives at kinks: abs +1 at both zeros and -1 at NaN; roots
// and logarithms follow the formulas to infinity.
#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

namespace {
using lax::full_like;

Array abs_tangent(const Array& t, const Array& x, const Array& y) {
  if (!is_complex(x.dtype()))
    return lax::mul(t, lax::select(lax::ge(x, full_like(x, 0)), full_like(x, 1), full_like(x, -1)));
  const Array direction = lax::div(lax::conj(x), lax::convert(one_for_zero(y), x.dtype()));
  return lax::real(lax::mul(t, direction));
}

// x / |x| turns with the part of t across x; 0 at 0.
Array sign_tangent(const Array& t, const Array& x, const Array& y) {
  if (!is_complex(x.dtype())) return {};
  const Array size = lax::abs(x);
  const Array scale = lax::select(lax::eq(size, full_like(size, 0)), size, lax::div(full_like(size, 1), size));
  const Array across = lax::mul(lax::imag(lax::mul(t, lax::conj(y))), scale);
  return lax::complex(lax::neg(lax::mul(across, lax::imag(y))), lax::mul(across, lax::real(y)));
}

Types abs_type(std::span<const Type> in, const NoParams&) {
  Type out = common_type(abs, in, 1, takes::numbers);
  out.dtype = real_part(out.dtype);
  return {out};
}

constexpr Rules<NoParams> neg_rules{.name = "neg",
                                    .type = same_type<neg, takes::numbers, 1>,
                                    .jvp = linear_jvp<neg>,
                                    .transpose = [](std::span<const Array> ct, std::span<const Operand>,
                                                    const NoParams&) -> Arrays { return {lax::neg(ct[0])}; },
                                    .batch = pointwise_batch<neg>,
                                    .shard = pointwise_shard<>,
                                    .expand = by_backends};

constexpr Rules<NoParams> abs_rules = [] {
  Rules<NoParams> rules = unary<abs, takes::numbers, abs_tangent>("abs");
  rules.type = abs_type;
  return rules;
}();

constexpr auto sign_rules = unary<sign, takes::numbers, sign_tangent>("sign");
constexpr auto floor_rules = stepwise<floor, Takes::floating, 1>("floor");
constexpr auto ceil_rules = stepwise<ceil, Takes::floating, 1>("ceil");
constexpr auto round_rules = stepwise<round, Takes::floating, 1>("round");
constexpr auto not_rules = bitwise<not_, takes::bits, 1>("not");

constexpr auto exp_rules =
    unary<exp, takes::inexact, [](const Array& t, const Array&, const Array& y) { return lax::mul(t, y); }>("exp");
constexpr auto expm1_rules = unary<expm1, takes::inexact, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, lax::add(y, full_like(y, 1)));
}>("expm1");
constexpr auto log_rules =
    unary<log, takes::inexact, [](const Array& t, const Array& x, const Array&) { return lax::div(t, x); }>("log");
constexpr auto log1p_rules = unary<log1p, takes::inexact, [](const Array& t, const Array& x, const Array&) {
  return lax::div(t, lax::add(x, full_like(x, 1)));
}>("log1p");
constexpr auto sqrt_rules = unary<sqrt, takes::inexact, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, lax::div(full_like(y, 0.5), y));
}>("sqrt");
constexpr auto rsqrt_rules = unary<rsqrt, takes::inexact, [](const Array& t, const Array& x, const Array& y) {
  return lax::mul(t, lax::mul(lax::div(y, x), full_like(x, -0.5)));
}>("rsqrt");
constexpr auto cbrt_rules = unary<cbrt, Takes::floating, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, lax::div(full_like(y, 1.0 / 3), lax::mul(y, y)));
}>("cbrt");
constexpr auto logistic_rules = unary<logistic, Takes::floating, [](const Array& t, const Array&, const Array& y) {
  return lax::mul(t, lax::mul(y, lax::sub(full_like(y, 1), y)));
}>("logistic");

Types is_finite_type(std::span<const Type> in, const NoParams&) {
  Type out = common_type(is_finite, in, 1, Takes::floating);
  out.dtype = Dtype::b8;
  return {out};
}
constexpr Rules<NoParams> is_finite_rules = [] {
  auto rules = stepwise<is_finite, Takes::floating, 1>("is_finite");
  rules.type = is_finite_type;
  return rules;
}();

constexpr Rules<NoParams> stop_gradient_rules{
    .name = "stop_gradient",
    .type = same_type<stop_gradient, takes::anything, 1>,
    .jvp = zero_jvp<stop_gradient>,
    .transpose = none("its derivative is zero, so that it never stands in a linear program"),
    .batch = pointwise_batch<stop_gradient>,
    .shard = pointwise_shard<>,
    .expand = [](std::span<const Array> in, const NoParams&) -> Arrays { return {in[0]}; }};

Types integer_pow_type(std::span<const Type> in, const IntegerPow& p) {
  const Type out = common_type(integer_pow, in, 1, takes::numbers);
  if (p.exponent < 0 && is_integer(out.dtype))
    throw DtypeError(base::cat("integer_pow: exponent ", p.exponent, " of ", ir::to_string(in[0]),
                               " is negative, its result is no integer"));
  return {out};
}
Jvp integer_pow_jvp(std::span<const Array> x, std::span<const Array> t, const IntegerPow& p) {
  const Array y = lax::integer_pow(x[0], p.exponent);
  if (p.exponent == 0 || is_zero(t[0])) return {{y}, {Array()}};
  if (p.exponent == 1) return {{y}, {t[0]}};
  const Array power = p.exponent == 2 ? x[0] : lax::integer_pow(x[0], p.exponent - 1);
  return {{y}, {lax::mul(t[0], lax::mul(power, full_like(power, p.exponent)))}};
}
// By squaring, the way backends would.
Arrays integer_pow_expand(std::span<const Array> in, const IntegerPow& p) {
  std::uint32_t left =
      p.exponent < 0 ? 0u - static_cast<std::uint32_t>(p.exponent) : static_cast<std::uint32_t>(p.exponent);
  const Array one = full_like(in[0], 1);
  Array result, square = in[0];
  for (; left != 0; left >>= 1) {
    if (left & 1) result = result.defined() ? lax::mul(result, square) : square;
    if (left > 1) square = lax::mul(square, square);
  }
  if (!result.defined()) return {one};
  return {p.exponent < 0 ? lax::div(one, result) : result};
}
constexpr Rules<IntegerPow> integer_pow_rules{.name = "integer_pow",
                                              .type = integer_pow_type,
                                              .jvp = integer_pow_jvp,
                                              .transpose = not_linear_row,
                                              .batch = pointwise_batch<integer_pow, IntegerPow>,
                                              .shard = pointwise_shard<IntegerPow>,
                                              .expand = integer_pow_expand};
}  // namespace

constinit const Primitive neg = primitive<neg_rules>();
constinit const Primitive abs = primitive<abs_rules>();
constinit const Primitive sign = primitive<sign_rules>();
constinit const Primitive floor = primitive<floor_rules>();
constinit const Primitive ceil = primitive<ceil_rules>();
constinit const Primitive round = primitive<round_rules>();
constinit const Primitive not_ = primitive<not_rules>();
constinit const Primitive exp = primitive<exp_rules>();
constinit const Primitive expm1 = primitive<expm1_rules>();
constinit const Primitive log = primitive<log_rules>();
constinit const Primitive log1p = primitive<log1p_rules>();
constinit const Primitive sqrt = primitive<sqrt_rules>();
constinit const Primitive rsqrt = primitive<rsqrt_rules>();
constinit const Primitive cbrt = primitive<cbrt_rules>();
constinit const Primitive logistic = primitive<logistic_rules>();
constinit const Primitive is_finite = primitive<is_finite_rules>();
constinit const Primitive stop_gradient = primitive<stop_gradient_rules>();
constinit const Primitive integer_pow = primitive<integer_pow_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array neg(const Array& x) { return core::bind1(ops::neg, {x}); }
Array abs(const Array& x) { return core::bind1(ops::abs, {x}); }
Array sign(const Array& x) { return core::bind1(ops::sign, {x}); }
Array floor(const Array& x) { return core::bind1(ops::floor, {x}); }
Array ceil(const Array& x) { return core::bind1(ops::ceil, {x}); }
Array round(const Array& x) { return core::bind1(ops::round, {x}); }
Array logical_not(const Array& x) { return core::bind1(ops::not_, {x}); }
Array exp(const Array& x) { return core::bind1(ops::exp, {x}); }
Array expm1(const Array& x) { return core::bind1(ops::expm1, {x}); }
Array log(const Array& x) { return core::bind1(ops::log, {x}); }
Array log1p(const Array& x) { return core::bind1(ops::log1p, {x}); }
Array sqrt(const Array& x) { return core::bind1(ops::sqrt, {x}); }
Array rsqrt(const Array& x) { return core::bind1(ops::rsqrt, {x}); }
Array cbrt(const Array& x) { return core::bind1(ops::cbrt, {x}); }
Array logistic(const Array& x) { return core::bind1(ops::logistic, {x}); }
Array is_finite(const Array& x) { return core::bind1(ops::is_finite, {x}); }
Array stop_gradient(const Array& x) { return core::bind1(ops::stop_gradient, {x}); }
Array integer_pow(const Array& x, int exponent) {
  return core::bind1(ops::integer_pow, {x}, ops::IntegerPow{exponent});
}

}  // namespace uni::lax
