// Arithmetic rows. Ties of maximum and minimum share the derivative equally, NaN takes none.
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

namespace {
using lax::full_like;

Array keep(const Array& t, const Array&, const Array&, const Array&) { return t; }
Array negate(const Array& t, const Array&, const Array&, const Array&) { return lax::neg(t); }

constexpr auto add_rules = binary<add, takes::values, keep, keep>(
    "add", {.transpose = [](Cotangents ct, Operands x, const NoParams&) -> Arrays {
      return {x[0].linear() ? ct[0] : Array(), x[1].linear() ? ct[0] : Array()};
    }});

constexpr auto sub_rules = binary<sub, takes::numbers, keep, negate>(
    "sub", {.transpose = [](Cotangents ct, Operands x, const NoParams&) -> Arrays {
      return {x[0].linear() ? ct[0] : Array(), x[1].linear() ? lax::neg(ct[0]) : Array()};
    }});

Arrays mul_transpose(Cotangents ct, Operands x, const NoParams&) {
  if (x[0].linear() && x[1].linear()) not_linear(mul, "both operands together");
  if (x[0].linear()) return {lax::mul(ct[0], x[1].value), Array()};
  return {Array(), lax::mul(x[0].value, ct[0])};
}
constexpr auto mul_rules =
    binary<mul, takes::values,
           [](const Array& t, const Array&, const Array& y, const Array&) { return lax::mul(t, y); },
           [](const Array& t, const Array& x, const Array&, const Array&) { return lax::mul(x, t); }>(
        "mul", {.transpose = mul_transpose});

Arrays div_transpose(Cotangents ct, Operands x, const NoParams&) {
  if (x[1].linear()) not_linear(div, "the denominator");
  return {lax::div(ct[0], x[1].value), Array()};
}
constexpr auto div_rules = binary<
    div, takes::numbers, [](const Array& t, const Array&, const Array& y, const Array&) { return lax::div(t, y); },
    [](const Array& t, const Array&, const Array& y, const Array& z) { return lax::mul(t, lax::div(lax::neg(z), y)); }>(
    "div", {.transpose = div_transpose});

constexpr auto rem_rules =
    binary<rem, takes::reals, keep, [](const Array& t, const Array& x, const Array& y, const Array&) {
      const Array quotient = lax::div(x, y);
      const Array truncated =
          lax::select(lax::lt(quotient, full_like(quotient, 0)), lax::ceil(quotient), lax::floor(quotient));
      return lax::mul(t, lax::neg(truncated));
    }>("rem");

constexpr auto pow_rules = binary<pow, takes::inexact,
                                  [](const Array& t, const Array& x, const Array& y, const Array&) {
                                    return lax::mul(t, lax::mul(y, lax::pow(x, lax::sub(y, full_like(y, 1)))));
                                  },
                                  [](const Array& t, const Array& x, const Array&, const Array& z) {
                                    return lax::mul(t, lax::mul(lax::log(one_for_zero(x)), z));
                                  }>("pow");

// 1 where the chosen operand is `mine`, 1/2 at a tie.
Array share(const Array& mine_wins, const Array& tie, const Array& like) {
  return lax::select(mine_wins, full_like(like, 1), lax::select(tie, full_like(like, 0.5), full_like(like, 0)));
}
constexpr auto maximum_rules = binary<maximum, takes::ordered,
                                      [](const Array& t, const Array& x, const Array& y, const Array&) {
                                        return lax::mul(t, share(lax::gt(x, y), lax::eq(x, y), x));
                                      },
                                      [](const Array& t, const Array& x, const Array& y, const Array&) {
                                        return lax::mul(t, share(lax::gt(y, x), lax::eq(x, y), y));
                                      }>("maximum");
constexpr auto minimum_rules = binary<minimum, takes::ordered,
                                      [](const Array& t, const Array& x, const Array& y, const Array&) {
                                        return lax::mul(t, share(lax::lt(x, y), lax::eq(x, y), x));
                                      },
                                      [](const Array& t, const Array& x, const Array& y, const Array&) {
                                        return lax::mul(t, share(lax::lt(y, x), lax::eq(x, y), y));
                                      }>("minimum");

Array square_sum(const Array& x, const Array& y) { return lax::add(lax::mul(x, x), lax::mul(y, y)); }
constexpr auto atan2_rules = binary<atan2, Takes::floating,
                                    [](const Array& t, const Array& y, const Array& x, const Array&) {
                                      return lax::mul(t, lax::div(x, square_sum(x, y)));
                                    },
                                    [](const Array& t, const Array& y, const Array& x, const Array&) {
                                      return lax::mul(t, lax::div(lax::neg(y), square_sum(x, y)));
                                    }>("atan2");

constexpr Rules<NoParams> nextafter_rules{.name = "nextafter",
                                          .type = same_type<nextafter, Takes::floating, 2>,
                                          .jvp = none("its steps have the size of a rounding"),
                                          .transpose = not_linear_row,
                                          .batch = pointwise_batch<nextafter>,
                                          .shard = pointwise_shard<>,
                                          .expand = by_backends};

Jvp fma_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams&) {
  Array tangent = t[2];
  const auto add_product = [&](const Array& dx, const Array& factor) {
    if (is_zero(dx)) return;
    tangent = is_zero(tangent) ? lax::mul(dx, factor) : lax::fma(dx, factor, tangent);
  };
  add_product(t[0], x[1]);
  add_product(t[1], x[0]);
  return {{lax::fma(x[0], x[1], x[2])}, {tangent}};
}
Arrays fma_transpose(Cotangents ct, Operands x, const NoParams&) {
  if (x[0].linear() && x[1].linear()) not_linear(fma, "both factors together");
  return {x[0].linear() ? lax::mul(ct[0], x[1].value) : Array(), x[1].linear() ? lax::mul(ct[0], x[0].value) : Array(),
          x[2].linear() ? ct[0] : Array()};
}
constexpr Rules<NoParams> fma_rules{.name = "fma",
                                    .type = same_type<fma, Takes::floating, 3>,
                                    .jvp = fma_jvp,
                                    .transpose = fma_transpose,
                                    .batch = pointwise_batch<fma>,
                                    .shard = pointwise_shard<>,
                                    .expand = by_backends};

constexpr auto and_rules = bitwise<and_, takes::bits, 2>("and");
constexpr auto or_rules = bitwise<or_, takes::bits, 2>("or");
constexpr auto xor_rules = bitwise<xor_, takes::bits, 2>("xor");
constexpr auto shift_left_rules = bitwise<shift_left, Takes::integer, 2>("shift_left");
constexpr auto shift_right_logical_rules = bitwise<shift_right_logical, Takes::integer, 2>("shift_right_logical");
constexpr auto shift_right_arithmetic_rules =
    bitwise<shift_right_arithmetic, Takes::integer, 2>("shift_right_arithmetic");
}  // namespace

constinit const Primitive add = primitive<add_rules>();
constinit const Primitive sub = primitive<sub_rules>();
constinit const Primitive mul = primitive<mul_rules>();
constinit const Primitive div = primitive<div_rules>();
constinit const Primitive rem = primitive<rem_rules>();
constinit const Primitive pow = primitive<pow_rules>();
constinit const Primitive maximum = primitive<maximum_rules>();
constinit const Primitive minimum = primitive<minimum_rules>();
constinit const Primitive atan2 = primitive<atan2_rules>();
constinit const Primitive nextafter = primitive<nextafter_rules>();
constinit const Primitive fma = primitive<fma_rules>();
constinit const Primitive and_ = primitive<and_rules>();
constinit const Primitive or_ = primitive<or_rules>();
constinit const Primitive xor_ = primitive<xor_rules>();
constinit const Primitive shift_left = primitive<shift_left_rules>();
constinit const Primitive shift_right_logical = primitive<shift_right_logical_rules>();
constinit const Primitive shift_right_arithmetic = primitive<shift_right_arithmetic_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array add(const Array& x, const Array& y) { return core::bind1(ops::add, {x, y}); }
Array sub(const Array& x, const Array& y) { return core::bind1(ops::sub, {x, y}); }
Array mul(const Array& x, const Array& y) { return core::bind1(ops::mul, {x, y}); }
Array div(const Array& x, const Array& y) { return core::bind1(ops::div, {x, y}); }
Array rem(const Array& x, const Array& y) { return core::bind1(ops::rem, {x, y}); }
Array pow(const Array& x, const Array& y) { return core::bind1(ops::pow, {x, y}); }
Array maximum(const Array& x, const Array& y) { return core::bind1(ops::maximum, {x, y}); }
Array minimum(const Array& x, const Array& y) { return core::bind1(ops::minimum, {x, y}); }
Array atan2(const Array& y, const Array& x) { return core::bind1(ops::atan2, {y, x}); }
Array nextafter(const Array& x, const Array& y) { return core::bind1(ops::nextafter, {x, y}); }
Array fma(const Array& x, const Array& y, const Array& z) { return core::bind1(ops::fma, {x, y, z}); }
Array bit_and(const Array& x, const Array& y) { return core::bind1(ops::and_, {x, y}); }
Array bit_or(const Array& x, const Array& y) { return core::bind1(ops::or_, {x, y}); }
Array bit_xor(const Array& x, const Array& y) { return core::bind1(ops::xor_, {x, y}); }
Array shift_left(const Array& x, const Array& count) { return core::bind1(ops::shift_left, {x, count}); }
Array shift_right_logical(const Array& x, const Array& count) {
  return core::bind1(ops::shift_right_logical, {x, count});
}
Array shift_right_arithmetic(const Array& x, const Array& count) {
  return core::bind1(ops::shift_right_arithmetic, {x, count});
}

}  // namespace uni::lax
