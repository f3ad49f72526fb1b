// Rows that compare, choose and convert, and the parts of complex numbers.
#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

namespace {
using lax::full_like;

Types compare_type(std::span<const Type> in, const Compare& p) {
  using Direction = Compare::Direction;
  const bool equality = p.direction == Direction::eq || p.direction == Direction::ne;
  if (!equality && (p.direction < Direction::eq || p.direction > Direction::ge))
    throw ShapeError(base::cat("compare: ", static_cast<int>(p.direction), " is no direction"));
  Type out = common_type(compare, in, 2, equality ? takes::values : takes::ordered);
  out.dtype = Dtype::b8;
  return {out};
}
constexpr Rules<Compare> compare_rules{.name = "compare",
                                       .type = compare_type,
                                       .jvp = zero_jvp<compare, Compare>,
                                       .transpose = not_linear_row,
                                       .batch = pointwise_batch<compare, Compare>,
                                       .shard = pointwise_shard<Compare>,
                                       .expand = by_backends};

Types select_type(std::span<const Type> in, const NoParams&) {
  check_operand_count(select, in, 3);
  check_dtype(select, in[0], Takes::boolean);
  check_same_shape(select, in);
  return {common_type(select, in.subspan(1), 2, takes::anything)};
}
Jvp select_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams&) {
  const Array y = lax::select(x[0], x[1], x[2]);
  if (is_zero(t[1]) && is_zero(t[2])) return {{y}, {Array()}};
  const Type& type = core::type_of(x[1]);
  return {{y}, {lax::select(x[0], instantiate(t[1], type), instantiate(t[2], type))}};
}
Arrays select_transpose(Cotangents ct, Operands x, const NoParams&) {
  const Array zero = full_like(ct[0], 0);
  return {Array(), x[1].linear() ? lax::select(x[0].value, ct[0], zero) : Array(),
          x[2].linear() ? lax::select(x[0].value, zero, ct[0]) : Array()};
}
constexpr Rules<NoParams> select_rules{.name = "select",
                                       .type = select_type,
                                       .jvp = select_jvp,
                                       .transpose = select_transpose,
                                       .batch = pointwise_batch<select>,
                                       .shard = pointwise_shard<>,
                                       .expand = by_backends};

// The derivative belongs to the operand that is strictly inside or beyond; none at a bound.
Jvp clamp_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams&) {
  const Array &low = x[0], &value = x[1], &high = x[2];
  Array tangent;
  const auto add_where = [&](const Array& chosen, const Array& dx) {
    tangent = add_tangents(tangent, lax::select(chosen, dx, full_like(dx, 0)));
  };
  if (!is_zero(t[0])) add_where(lax::bit_and(lax::gt(low, value), lax::lt(low, high)), t[0]);
  if (!is_zero(t[1])) add_where(lax::bit_and(lax::gt(value, low), lax::lt(value, high)), t[1]);
  if (!is_zero(t[2])) add_where(lax::gt(lax::maximum(value, low), high), t[2]);
  return {{lax::clamp(low, value, high)}, {tangent}};
}
constexpr Rules<NoParams> clamp_rules{.name = "clamp",
                                      .type = same_type<clamp, takes::reals, 3>,
                                      .jvp = clamp_jvp,
                                      .transpose = not_linear_row,
                                      .batch = pointwise_batch<clamp>,
                                      .shard = pointwise_shard<>,
                                      .expand = [](std::span<const Array> in, const NoParams&) -> Arrays {
                                        return {lax::minimum(lax::maximum(in[1], in[0]), in[2])};
                                      }};

Types convert_type(std::span<const Type> in, const Convert& p) {
  Type out = common_type(convert, in, 1, takes::values);
  if (p.dtype == Dtype::key)
    throw DtypeError(base::cat("convert: ", ir::to_string(in[0]), " does not convert to keys"));
  out.dtype = p.dtype;
  out.weak = p.weak && !is_bool(p.dtype);
  return {out};
}
// A complex cotangent of a real operand converts back by dropping its imaginary part, which is the transpose.
Arrays convert_transpose(Cotangents ct, Operands x, const Convert&) {
  return {lax::convert(ct[0], x[0].type.dtype, x[0].type.weak)};
}
constexpr Rules<Convert> convert_rules{
    .name = "convert",
    .type = convert_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const Convert& p) -> Jvp {
      const bool flat = is_zero(t[0]) || !is_inexact(p.dtype);
      return {core::bind(convert, x, p), flat ? Arrays(1) : core::bind(convert, t, p)};
    },
    .transpose = convert_transpose,
    .batch = pointwise_batch<convert, Convert>,
    .shard = pointwise_shard<Convert>,
    .expand = by_backends,
    .traits = {.own_weak = true}};

Types bitcast_type(std::span<const Type> in, const Bitcast& p) {
  Type out = common_type(bitcast, in, 1, takes::numbers);
  if (is_bool(p.dtype) || p.dtype == Dtype::key || itemsize(p.dtype) != itemsize(out.dtype))
    throw DtypeError(base::cat("bitcast: ", ir::to_string(in[0]), " cannot be read as ", p.dtype, " (",
                               8 * itemsize(out.dtype), " and ", 8 * itemsize(p.dtype), " bits)"));
  out.dtype = p.dtype;
  return {out};
}
constexpr Rules<Bitcast> bitcast_rules{.name = "bitcast",
                                       .type = bitcast_type,
                                       .jvp = zero_jvp<bitcast, Bitcast>,
                                       .transpose = not_linear_row,
                                       .batch = pointwise_batch<bitcast, Bitcast>,
                                       .shard = pointwise_shard<Bitcast>,
                                       .expand = by_backends};

template <const Primitive& Op>
Types part_type(std::span<const Type> in, const NoParams&) {
  Type out = common_type(Op, in, 1, Takes::complex);
  out.dtype = real_part(out.dtype);
  return {out};
}
// The transposes follow from <ct, t> = Re(sum ct t), which does not conjugate: imag goes back as -i ct.
constexpr Rules<NoParams> real_rules{.name = "real",
                                     .type = part_type<real>,
                                     .jvp = linear_jvp<real>,
                                     .transpose = [](Cotangents ct, Operands, const NoParams&) -> Arrays {
                                       return {lax::complex(ct[0], full_like(ct[0], 0))};
                                     },
                                     .batch = pointwise_batch<real>,
                                     .shard = pointwise_shard<>,
                                     .expand = by_backends};
constexpr Rules<NoParams> imag_rules{.name = "imag",
                                     .type = part_type<imag>,
                                     .jvp = linear_jvp<imag>,
                                     .transpose = [](Cotangents ct, Operands, const NoParams&) -> Arrays {
                                       return {lax::complex(full_like(ct[0], 0), lax::neg(ct[0]))};
                                     },
                                     .batch = pointwise_batch<imag>,
                                     .shard = pointwise_shard<>,
                                     .expand = by_backends};
constexpr Rules<NoParams> conj_rules{
    .name = "conj",
    .type = same_type<conj, Takes::complex, 1>,
    .jvp = linear_jvp<conj>,
    .transpose = [](Cotangents ct, Operands, const NoParams&) -> Arrays { return {lax::conj(ct[0])}; },
    .batch = pointwise_batch<conj>,
    .shard = pointwise_shard<>,
    .expand = [](std::span<const Array> in, const NoParams&) -> Arrays {
      return {lax::complex(lax::real(in[0]), lax::neg(lax::imag(in[0])))};
    }};

Types complex_type(std::span<const Type> in, const NoParams&) {
  Type out = common_type(complex, in, 2, Takes::floating);
  if (itemsize(out.dtype) < 4) throw DtypeError(base::cat("complex: takes f32 or f64, not ", ir::to_string(in[0])));
  out.dtype = out.dtype == Dtype::f32 ? Dtype::c64 : Dtype::c128;
  return {out};
}
Jvp complex_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams&) {
  const Array z = lax::complex(x[0], x[1]);
  if (is_zero(t[0]) && is_zero(t[1])) return {{z}, {Array()}};
  const Type& type = core::type_of(x[0]);
  return {{z}, {lax::complex(instantiate(t[0], type), instantiate(t[1], type))}};
}
constexpr Rules<NoParams> complex_rules{
    .name = "complex",
    .type = complex_type,
    .jvp = complex_jvp,
    .transpose = [](Cotangents ct, Operands x, const NoParams&) -> Arrays {
      return {x[0].linear() ? lax::real(ct[0]) : Array(), x[1].linear() ? lax::neg(lax::imag(ct[0])) : Array()};
    },
    .batch = pointwise_batch<complex>,
    .shard = pointwise_shard<>,
    .expand = by_backends};
}  // namespace

constinit const Primitive compare = primitive<compare_rules>();
constinit const Primitive select = primitive<select_rules>();
constinit const Primitive clamp = primitive<clamp_rules>();
constinit const Primitive convert = primitive<convert_rules>();
constinit const Primitive bitcast = primitive<bitcast_rules>();
constinit const Primitive real = primitive<real_rules>();
constinit const Primitive imag = primitive<imag_rules>();
constinit const Primitive conj = primitive<conj_rules>();
constinit const Primitive complex = primitive<complex_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array compare(ops::Compare::Direction direction, const Array& x, const Array& y) {
  return core::bind1(ops::compare, {x, y}, ops::Compare{direction});
}
Array eq(const Array& x, const Array& y) { return compare(ops::Compare::Direction::eq, x, y); }
Array ne(const Array& x, const Array& y) { return compare(ops::Compare::Direction::ne, x, y); }
Array lt(const Array& x, const Array& y) { return compare(ops::Compare::Direction::lt, x, y); }
Array le(const Array& x, const Array& y) { return compare(ops::Compare::Direction::le, x, y); }
Array gt(const Array& x, const Array& y) { return compare(ops::Compare::Direction::gt, x, y); }
Array ge(const Array& x, const Array& y) { return compare(ops::Compare::Direction::ge, x, y); }
Array select(const Array& predicate, const Array& on_true, const Array& on_false) {
  return core::bind1(ops::select, {predicate, on_true, on_false});
}
Array clamp(const Array& low, const Array& x, const Array& high) { return core::bind1(ops::clamp, {low, x, high}); }
Array convert(const Array& x, Dtype dtype, bool weak) {
  const core::Type& type = core::type_of(x);
  if (type.dtype == dtype && type.weak == weak) return x;
  return core::bind1(ops::convert, {x}, ops::Convert{dtype, weak});
}
Array bitcast(const Array& x, Dtype dtype) { return core::bind1(ops::bitcast, {x}, ops::Bitcast{dtype}); }
Array real(const Array& x) { return core::bind1(ops::real, {x}); }
Array imag(const Array& x) { return core::bind1(ops::imag, {x}); }
Array conj(const Array& x) { return core::bind1(ops::conj, {x}); }
Array complex(const Array& re, const Array& im) { return core::bind1(ops::complex, {re, im}); }

}  // namespace uni::lax
