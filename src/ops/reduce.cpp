// Reductions over axes, argmax and argmin.
#include <algorithm>

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using Kind = ShardRule::Kind;
using Fill = ShardRule::Fill;

namespace {
Types reduced(const ir::Op& op, std::span<const Type> in, const Reduce& p) {
  check_operand_count(op, in, 1);
  check_axes(op, p.axes, in[0]);
  if (!std::is_sorted(p.axes.begin(), p.axes.end()))
    throw ShapeError(cat(op.name, ": axes of ", ir::to_string(in[0]), " are not in increasing order"));
  return {Type{in[0].dtype, sizes_at(in[0].shape, other_axes(in[0].shape.rank(), p.axes)), false, {}}};
}
template <const auto& Op>
Types number_type(std::span<const Type> in, const Reduce& p) {
  Types out = reduced(Op, in, p);
  check_dtype(Op, in[0], takes::numbers);
  return out;
}
template <const auto& Op>
Types ordered_type(std::span<const Type> in, const Reduce& p) {
  Types out = reduced(Op, in, p);
  check_dtype(Op, in[0], takes::ordered);
  return out;
}
template <const auto& Op>
Types bool_type(std::span<const Type> in, const Reduce& p) {
  Types out = reduced(Op, in, p);
  if (!is_bool(in[0].dtype)) throw DtypeError(cat(Op.name, ": takes bool, not ", ir::to_string(in[0])));
  return out;
}
template <const auto& Op>
Batch reduce_batch(const BatchArgs& a, const Reduce& p) {
  return all_batched(core::bind(Op, a.in, Reduce{shifted(p.axes)}));
}
template <Fill F>
ShardRule reduce_shard(std::span<const Type> in, const Reduce& p) {
  ShardRule rule = same_shape_rule(1, 1, in[0].shape.rank(), p.axes, Kind::reduce);
  rule.results[0] = other_axes(in[0].shape.rank(), p.axes);
  rule.fill = {F};
  return rule;
}
// The reduced value at every element of x's shape.
Array spread(const Array& reduced, const Dims& shape, const std::vector<int>& axes) {
  return lax::broadcast_in_dim(reduced, shape, other_axes(shape.rank(), axes));
}

constexpr Rules<Reduce> reduce_sum_rules{
    .name = "reduce_sum",
    .type = number_type<reduce_sum>,
    .jvp = linear_jvp<reduce_sum, Reduce>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Reduce& p) -> Arrays {
      return {spread(ct[0], operands[0].type.shape, p.axes)};
    },
    .batch = reduce_batch<reduce_sum>,
    .shard = reduce_shard<Fill::zero>,
    .expand = by_backends,
};

// Products of pairs with their tangents until one element is left: a polynomial, so that it is right at zeros and in
// every derivative.
Array prod_tangent(const Array& x, const Array& t, const Reduce& p) {
  const std::vector<int> kept = other_axes(x.rank(), p.axes);
  std::vector<int> permutation = p.axes;
  permutation.insert(permutation.end(), kept.begin(), kept.end());
  const Dims rest = sizes_at(x.shape(), kept);
  i64 count = sizes_at(x.shape(), p.axes).count();
  if (count == 0) return Array();
  const Dtype wide = itemsize(x.dtype()) == 2 ? Dtype::f32 : x.dtype();
  const auto rows = [&](const Array& a) {
    return lax::convert(lax::reshape(lax::transpose(a, permutation), prepended(count, rest)), wide);
  };
  Array value = rows(x), tangent = rows(t);
  while (count > 1) {
    const i64 half = count / 2;
    const Array a = lax::slice_axis(value, 0, 0, half), b = lax::slice_axis(value, 0, half, 2 * half);
    const Array ta = lax::slice_axis(tangent, 0, 0, half), tb = lax::slice_axis(tangent, 0, half, 2 * half);
    Arrays values{lax::mul(a, b)}, tangents{lax::add(lax::mul(ta, b), lax::mul(tb, a))};
    if (count % 2 == 1) {
      values.push_back(lax::slice_axis(value, 0, count - 1, count));
      tangents.push_back(lax::slice_axis(tangent, 0, count - 1, count));
    }
    value = lax::concatenate(values, 0);
    tangent = lax::concatenate(tangents, 0);
    count = value.shape(0);
  }
  return lax::convert(lax::reshape(tangent, rest), x.dtype());
}
constexpr Rules<Reduce> reduce_prod_rules{
    .name = "reduce_prod",
    .type = number_type<reduce_prod>,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const Reduce& p) -> Jvp {
      return {core::bind(reduce_prod, x, p), {is_zero(t[0]) ? Array() : prod_tangent(x[0], t[0], p)}};
    },
    .transpose = not_linear_row,
    .batch = reduce_batch<reduce_prod>,
    .shard = reduce_shard<Fill::one>,
    .expand = by_backends,
};

// Elements that equal the result share equally.
template <const auto& Op>
Jvp extremum_jvp(std::span<const Array> x, std::span<const Array> t, const Reduce& p) {
  const Array out = core::bind(Op, x, p)[0];
  if (is_zero(t[0]) || sizes_at(x[0].shape(), p.axes).count() == 0) return {{out}, {Array()}};
  const Array chosen = lax::convert(lax::eq(x[0], spread(out, x[0].shape(), p.axes)), x[0].dtype());
  const Array sum = lax::reduce_sum(lax::mul(t[0], chosen), p.axes);
  return {{out}, {lax::div(sum, lax::reduce_sum(chosen, p.axes))}};
}
constexpr Rules<Reduce> reduce_max_rules{
    .name = "reduce_max",
    .type = ordered_type<reduce_max>,
    .jvp = extremum_jvp<reduce_max>,
    .transpose = not_linear_row,
    .batch = reduce_batch<reduce_max>,
    .shard = reduce_shard<Fill::lowest>,
    .expand = by_backends,
};
constexpr Rules<Reduce> reduce_min_rules{
    .name = "reduce_min",
    .type = ordered_type<reduce_min>,
    .jvp = extremum_jvp<reduce_min>,
    .transpose = not_linear_row,
    .batch = reduce_batch<reduce_min>,
    .shard = reduce_shard<Fill::highest>,
    .expand = by_backends,
};
constexpr Rules<Reduce> reduce_and_rules{
    .name = "reduce_and",
    .type = bool_type<reduce_and>,
    .jvp = none("bool has no derivative"),
    .transpose = none("bool has no derivative"),
    .batch = reduce_batch<reduce_and>,
    .shard = reduce_shard<Fill::highest>,
    .expand = by_backends,
};
constexpr Rules<Reduce> reduce_or_rules{
    .name = "reduce_or",
    .type = bool_type<reduce_or>,
    .jvp = none("bool has no derivative"),
    .transpose = none("bool has no derivative"),
    .batch = reduce_batch<reduce_or>,
    .shard = reduce_shard<Fill::lowest>,
    .expand = by_backends,
};

template <const auto& Op>
Types arg_type(std::span<const Type> in, const ArgReduce& p) {
  check_operand_count(Op, in, 1);
  check_axis(Op, p.axis, in[0]);
  check_dtype(Op, in[0], takes::ordered);
  if (!is_integer(p.dtype)) throw DtypeError(cat(Op.name, ": the result dtype ", p.dtype, " is not an integer"));
  if (in[0].shape[p.axis] == 0)
    throw ShapeError(
        cat(Op.name, ": axis ", p.axis, " of ", ir::to_string(in[0]), " has size 0, there is no position"));
  Type out{p.dtype, in[0].shape, false, {}};
  out.shape.erase(p.axis);
  return {out};
}
template <const auto& Op>
Batch arg_batch(const BatchArgs& a, const ArgReduce& p) {
  return all_batched(core::bind(Op, a.in, ArgReduce{p.axis + 1, p.dtype}));
}
// A position is piecewise constant.
template <const auto& Op>
Jvp arg_jvp(std::span<const Array> x, std::span<const Array>, const ArgReduce& p) {
  return {core::bind(Op, x, p), {Array()}};
}
ShardRule arg_shard(std::span<const Type> in, const ArgReduce& p) {
  ShardRule rule = same_shape_rule(1, 1, in[0].shape.rank(), {p.axis});
  rule.results[0].erase(rule.results[0].begin() + p.axis);
  return rule;
}
constexpr Rules<ArgReduce> argmax_rules{
    .name = "argmax",
    .type = arg_type<argmax>,
    .jvp = arg_jvp<argmax>,
    .transpose = not_linear_row,
    .batch = arg_batch<argmax>,
    .shard = arg_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
constexpr Rules<ArgReduce> argmin_rules{
    .name = "argmin",
    .type = arg_type<argmin>,
    .jvp = arg_jvp<argmin>,
    .transpose = not_linear_row,
    .batch = arg_batch<argmin>,
    .shard = arg_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive reduce_sum = primitive<reduce_sum_rules>();
constinit const Primitive reduce_prod = primitive<reduce_prod_rules>();
constinit const Primitive reduce_max = primitive<reduce_max_rules>();
constinit const Primitive reduce_min = primitive<reduce_min_rules>();
constinit const Primitive reduce_and = primitive<reduce_and_rules>();
constinit const Primitive reduce_or = primitive<reduce_or_rules>();
constinit const Primitive argmax = primitive<argmax_rules>();
constinit const Primitive argmin = primitive<argmin_rules>();

std::span<const Primitive* const> contract_rows() {
  static constexpr const Primitive* rows[] = {&reduce_sum,
                                              &reduce_prod,
                                              &reduce_max,
                                              &reduce_min,
                                              &reduce_and,
                                              &reduce_or,
                                              &argmax,
                                              &argmin,
                                              &reduce_window_sum,
                                              &reduce_window_max,
                                              &window_gather_max,
                                              &window_scatter_max,
                                              &dot_general,
                                              &conv,
                                              &cumsum,
                                              &cumprod,
                                              &cummax,
                                              &cummin,
                                              &cumlogsumexp};
  return rows;
}

}  // namespace uni::ops

namespace uni::lax {

namespace {
Array reduce(const ops::Primitive& op, const Array& x, const std::vector<int>& axes) {
  if (axes.empty()) return x;
  return core::bind1(op, {x}, ops::Reduce{axes});
}
}  // namespace

Array reduce_sum(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_sum, x, axes); }
Array reduce_prod(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_prod, x, axes); }
Array reduce_max(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_max, x, axes); }
Array reduce_min(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_min, x, axes); }
Array reduce_and(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_and, x, axes); }
Array reduce_or(const Array& x, const std::vector<int>& axes) { return reduce(ops::reduce_or, x, axes); }
Array argmax(const Array& x, int axis, Dtype dtype) {
  return core::bind1(ops::argmax, {x}, ops::ArgReduce{axis, dtype});
}
Array argmin(const Array& x, int axis, Dtype dtype) {
  return core::bind1(ops::argmin, {x}, ops::ArgReduce{axis, dtype});
}

}  // namespace uni::lax
