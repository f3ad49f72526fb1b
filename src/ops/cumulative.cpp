// Running sums, products, maxima, minima and logarithms of sums of exponentials.
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

namespace {
template <const Primitive& Op, Takes T>
Types cumulative_type(std::span<const Type> in, const Cumulative& p) {
  check_operand_count(Op, in, 1);
  check_axis(Op, p.axis, in[0]);
  check_dtype(Op, in[0], T);
  return {Type{in[0].dtype, in[0].shape, false, {}}};
}
template <const Primitive& Op>
Batch cumulative_batch(const BatchArgs& a, const Cumulative& p) {
  return all_batched(core::bind(Op, a.in, Cumulative{p.axis + 1, p.reverse}));
}
ShardRule cumulative_shard(std::span<const Type> in, const Cumulative& p) {
  return same_shape_rule(1, 1, in[0].shape.rank(), {p.axis});
}

struct Dual {
  Array value, tangent;
};
template <class Fn>
Dual each(const Dual& a, const Fn& fn) {
  return {fn(a.value), fn(a.tangent)};
}
using Pair = Dual (*)(const Dual&, const Dual&);
template <const Primitive& Op>
Dual joined_by(const Dual& a, const Dual& b) {
  const Arrays x{a.value, b.value}, t{a.tangent, b.tangent};
  const Jvp r = Op.jvp.fn(x, t, NoParams{});
  return {r.out[0], r.tangent[0]};
}
// Infinities of one sign share equally.
Dual joined_by_logsumexp(const Dual& a, const Dual& b) {
  const Array zero = lax::full_like(a.value, 0);
  const Array largest = lax::stop_gradient(lax::maximum(a.value, b.value));
  const Array finite = lax::is_finite(largest), origin = lax::select(finite, largest, zero);
  const Array sum = lax::add(lax::exp(lax::sub(a.value, origin)), lax::exp(lax::sub(b.value, origin)));
  const Array tied = lax::mul(lax::eq(a.value, b.value), lax::logical_not(finite));
  const Array apart = lax::select(tied, zero, lax::sub(a.value, b.value));
  return {lax::add(origin, lax::log(sum)),
          lax::add(lax::mul(a.tangent, lax::logistic(apart)), lax::mul(b.tangent, lax::logistic(lax::neg(apart))))};
}
Dual every_second(const Dual& a, int axis, i64 start, i64 limit) {
  return each(a, [&](const Array& x) {
    Dims starts = repeated(0, x.rank()), limits = x.shape(), strides = repeated(1, x.rank());
    starts[axis] = start;
    limits[axis] = limit;
    strides[axis] = 2;
    return lax::slice(x, starts, limits, strides);
  });
}
Array interleaved(const Array& even, const Array& odd, int axis) {
  const i64 pairs = odd.shape(axis), count = even.shape(axis);
  const Array sides[] = {lax::expand_dims(lax::slice_axis(even, axis, 0, pairs), axis + 1),
                         lax::expand_dims(odd, axis + 1)};
  const Array both = merge_dims(lax::concatenate(sides, axis + 1), axis);
  if (pairs == count) return both;
  const Array parts[] = {both, lax::slice_axis(even, axis, pairs, count)};
  return lax::concatenate(parts, axis);
}
// Neighbours are joined, their running values found, and what lies between is joined to those. So tied extrema share
// by halves, and products are right at zeros and in every derivative.
Dual scanned(Pair pair, const Dual& a, int axis) {
  const i64 count = a.value.shape(axis);
  if (count < 2) return a;
  const auto cut = [&](const Dual& d, i64 start, i64 limit) {
    return each(d, [&](const Array& x) { return lax::slice_axis(x, axis, start, limit); });
  };
  const Dual odd = scanned(pair, pair(every_second(a, axis, 0, count / 2 * 2), every_second(a, axis, 1, count)), axis);
  Dual even = cut(a, 0, 1);
  if (count > 2) {
    const Dual rest = pair(cut(odd, 0, (count - 1) / 2), every_second(a, axis, 2, count));
    const Array values[] = {even.value, rest.value}, tangents[] = {even.tangent, rest.tangent};
    even = {lax::concatenate(values, axis), lax::concatenate(tangents, axis)};
  }
  return {interleaved(even.value, odd.value, axis), interleaved(even.tangent, odd.tangent, axis)};
}
template <const Primitive& Op, Pair Join>
Jvp cumulative_jvp(std::span<const Array> x, std::span<const Array> t, const Cumulative& p) {
  const Array out = core::bind(Op, x, p)[0];
  if (is_zero(t[0])) return {{out}, {Array()}};
  const Dtype wide = itemsize(x[0].dtype()) == 2 ? Dtype::f32 : x[0].dtype();
  const auto turned = [&](const Array& a) { return p.reverse ? lax::reverse(a, {p.axis}) : a; };
  const Dual in = each({x[0], t[0]}, [&](const Array& a) { return lax::convert(turned(a), wide); });
  return {{out}, {lax::convert(turned(scanned(Join, in, p.axis).tangent), x[0].dtype())}};
}
template <const Primitive& Op, Pair Join, Takes T>
constexpr Rules<Cumulative> running(std::string_view name) {
  return {.name = name,
          .type = cumulative_type<Op, T>,
          .jvp = cumulative_jvp<Op, Join>,
          .transpose = not_linear_row,
          .batch = cumulative_batch<Op>,
          .shard = cumulative_shard,
          .expand = by_backends,
          .traits = {.own_weak = true}};
}

constexpr Rules<Cumulative> cumsum_rules{
    .name = "cumsum",
    .type = cumulative_type<cumsum, takes::numbers>,
    .jvp = linear_jvp<cumsum, Cumulative>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const Cumulative& p) -> Arrays {
      return core::bind(cumsum, ct, Cumulative{p.axis, !p.reverse});
    },
    .batch = cumulative_batch<cumsum>,
    .shard = cumulative_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
constexpr auto cumprod_rules = running<cumprod, joined_by<mul>, takes::numbers>("cumprod");
constexpr auto cummax_rules = running<cummax, joined_by<maximum>, takes::ordered>("cummax");
constexpr auto cummin_rules = running<cummin, joined_by<minimum>, takes::ordered>("cummin");
constexpr auto cumlogsumexp_rules = running<cumlogsumexp, joined_by_logsumexp, Takes::floating>("cumlogsumexp");
}  // namespace

constinit const Primitive cumsum = primitive<cumsum_rules>();
constinit const Primitive cumprod = primitive<cumprod_rules>();
constinit const Primitive cummax = primitive<cummax_rules>();
constinit const Primitive cummin = primitive<cummin_rules>();
constinit const Primitive cumlogsumexp = primitive<cumlogsumexp_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array cumsum(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cumsum, {x}, ops::Cumulative{axis, reverse});
}
Array cumprod(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cumprod, {x}, ops::Cumulative{axis, reverse});
}
Array cummax(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cummax, {x}, ops::Cumulative{axis, reverse});
}
Array cummin(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cummin, {x}, ops::Cumulative{axis, reverse});
}
Array cumlogsumexp(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cumlogsumexp, {x}, ops::Cumulative{axis, reverse});
}

}  // namespace uni::lax
