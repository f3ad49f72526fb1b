// full, iota, broadcast_in_dim, reshape.
#include <algorithm>

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using Kind = ShardRule::Kind;

namespace {
// The field `shape` of the parameters follows the local result.
template <class P>
Params local_shape(const Params& params, std::span<const Type>, std::span<const Type> out) {
  P p = params.as<P>();
  p.shape = out[0].shape;
  return p;
}
inline constexpr Absent no_operands = {"has no operands"};

constexpr Rules<Full> full_rules{
    .name = "full",
    .type = [](std::span<const Type> in, const Full& p) -> Types {
      check_operand_count(full, in, 0);
      check_shape(full, p.shape);
      return {Type{p.value.dtype, p.shape, p.weak, {}}};
    },
    .jvp = no_operands,
    .transpose = no_operands,
    .batch = no_operands,
    .shard = [](std::span<const Type>, const Full& p) -> ShardRule {
      ShardRule rule = same_shape_rule(0, 1, p.shape.rank());
      rule.localize = local_shape<Full>;
      return rule;
    },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

constexpr Rules<Iota> iota_rules{
    .name = "iota",
    .type = [](std::span<const Type> in, const Iota& p) -> Types {
      check_operand_count(iota, in, 0);
      check_shape(iota, p.shape);
      const Type out{p.dtype, p.shape, false, {}};
      check_dtype(iota, out, takes::numbers);
      check_axis(iota, p.axis, out);
      return {out};
    },
    .jvp = no_operands,
    .transpose = no_operands,
    .batch = no_operands,
    .shard = [](std::span<const Type>, const Iota& p) -> ShardRule {
      ShardRule rule = same_shape_rule(0, 1, p.shape.rank(), {p.axis});
      rule.localize = local_shape<Iota>;
      return rule;
    },
    .expand = by_backends,
};

Types broadcast_type(std::span<const Type> in, const BroadcastInDim& p) {
  check_operand_count(broadcast_in_dim, in, 1);
  check_shape(broadcast_in_dim, p.shape);
  const Type& x = in[0];
  check_entries(broadcast_in_dim, "dims", p.dims.size(), x);
  for (std::size_t i = 0; i < p.dims.size(); ++i) {
    const int d = p.dims[i];
    if (d < 0 || d >= p.shape.rank() || (i > 0 && d <= p.dims[i - 1]))
      throw ShapeError(
          cat("broadcast_in_dim: dims must increase within ", p.shape.rank(), " result axes, entry ", i, " is ", d));
    const i64 size = x.shape[static_cast<int>(i)];
    if (size != p.shape[d] && size != 1)
      throw ShapeError(cat("broadcast_in_dim: axis ", i, " of ", ir::to_string(x), " has size ", size, ", result axis ",
                           d, " of ", p.shape, " has ", p.shape[d]));
  }
  return {Type{x.dtype, p.shape, false, {}}};
}
// Sums over the dimensions that the operand does not have or has with size 1.
Arrays broadcast_transpose(std::span<const Array> ct, std::span<const Operand> operands, const BroadcastInDim& p) {
  const Dims& shape = operands[0].type.shape;
  std::vector<int> axes = other_axes(p.shape.rank(), p.dims);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != p.shape[p.dims[at(i)]]) axes.push_back(p.dims[at(i)]);
  std::sort(axes.begin(), axes.end());
  return {lax::reshape(lax::reduce_sum(ct[0], axes), shape)};
}
Batch broadcast_batch(const BatchArgs& a, const BroadcastInDim& p) {
  std::vector<int> dims = shifted(p.dims);
  dims.insert(dims.begin(), 0);
  return all_batched(core::bind(broadcast_in_dim, a.in, BroadcastInDim{prepended(a.size, p.shape), dims}));
}
ShardRule broadcast_shard(std::span<const Type> in, const BroadcastInDim& p) {
  Factors f;
  const std::vector<int> result = f.add(p.shape.rank(), Kind::pass);
  std::vector<int> operand;
  for (int i = 0; i < in[0].shape.rank(); ++i) {
    const int d = p.dims[at(i)];
    operand.push_back(in[0].shape[i] == p.shape[d] ? result[at(d)] : f.add(Kind::replicate));
  }
  f.rule.operands = {operand};
  f.rule.results = {result};
  f.rule.localize = local_shape<BroadcastInDim>;
  return f.rule;
}
constexpr Rules<BroadcastInDim> broadcast_in_dim_rules{
    .name = "broadcast_in_dim",
    .type = broadcast_type,
    .jvp = linear_jvp<broadcast_in_dim, BroadcastInDim>,
    .transpose = broadcast_transpose,
    .batch = broadcast_batch,
    .shard = broadcast_shard,
    .expand = by_backends,
};

Types reshape_type(std::span<const Type> in, const Reshape& p) {
  check_operand_count(reshape, in, 1);
  check_shape(reshape, p.shape);
  if (in[0].count() != p.shape.count())
    throw ShapeError(cat("reshape: ", ir::to_string(in[0]), " has ", in[0].count(), " elements, shape ", p.shape,
                         " has ", p.shape.count()));
  return {Type{in[0].dtype, p.shape, false, {}}};
}
// Dimensions that stand alone on both sides pass: equal size, and equal element counts before them.
ShardRule reshape_shard(std::span<const Type> in, const Reshape& p) {
  const Dims& from = in[0].shape;
  Factors f;
  std::vector<int> operand(at(from.rank()), -1), result(at(p.shape.rank()), -1);
  int i = 0, j = 0;
  i64 before_i = 1, before_j = 1;
  while (i < from.rank() && j < p.shape.rank() && before_i > 0 && before_j > 0) {
    if (before_i == before_j && from[i] == p.shape[j] && from[i] > 0) {
      operand[at(i)] = result[at(j)] = f.add();
      before_i *= from[i++];
      before_j *= p.shape[j++];
    } else if (before_i < before_j || (before_i == before_j && from[i] <= p.shape[j])) {
      before_i *= from[i++];
    } else {
      before_j *= p.shape[j++];
    }
  }
  for (std::vector<int>* factors : {&operand, &result})
    for (int& factor : *factors)
      if (factor < 0) factor = f.add(Kind::replicate);
  f.rule.operands = {operand};
  f.rule.results = {result};
  f.rule.localize = local_shape<Reshape>;
  return f.rule;
}
constexpr Rules<Reshape> reshape_rules{
    .name = "reshape",
    .type = reshape_type,
    .jvp = linear_jvp<reshape, Reshape>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Reshape&) -> Arrays {
      return {lax::reshape(ct[0], operands[0].type.shape)};
    },
    .batch =
        [](const BatchArgs& a, const Reshape& p) {
          return all_batched(core::bind(reshape, a.in, Reshape{prepended(a.size, p.shape)}));
        },
    .shard = reshape_shard,
    .expand = by_backends,
};
}  // namespace

constinit const Primitive full = primitive<full_rules>();
constinit const Primitive iota = primitive<iota_rules>();
constinit const Primitive broadcast_in_dim = primitive<broadcast_in_dim_rules>();
constinit const Primitive reshape = primitive<reshape_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array full_scalar(const ir::Scalar& value, const Dims& shape, bool weak) {
  return core::bind1(ops::full, {}, ops::Full{value, shape, weak});
}
Array full(double value, Dtype dtype, const Dims& shape, bool weak) {
  return full_scalar(ir::Scalar::of_double(dtype, value), shape, weak);
}
Array full_int(i64 value, Dtype dtype, const Dims& shape, bool weak) {
  return full_scalar(ir::Scalar::of_int(dtype, value), shape, weak);
}
Array full_like(const Array& x, double value) { return full(value, x.dtype(), x.shape()); }
Array iota(Dtype dtype, const Dims& shape, int axis) {
  return core::bind1(ops::iota, {}, ops::Iota{dtype, shape, axis});
}
Array broadcast_in_dim(const Array& x, const Dims& shape, const std::vector<int>& dims) {
  if (x.shape() == shape && dims == ops::axis_range(0, shape.rank())) return x;
  return core::bind1(ops::broadcast_in_dim, {x}, ops::BroadcastInDim{shape, dims});
}
Array broadcast_to(const Array& x, const Dims& shape) {
  return broadcast_in_dim(x, shape, ops::axis_range(shape.rank() - x.rank(), x.rank()));
}
Array reshape(const Array& x, const Dims& shape) {
  if (x.shape() == shape) return x;
  return core::bind1(ops::reshape, {x}, ops::Reshape{shape});
}
Array expand_dims(const Array& x, int axis) {
  if (axis < 0 || axis > x.rank())
    throw ShapeError(base::cat("expand_dims: axis ", axis, " of ", ir::to_string(core::type_of(x)), " does not exist",
                               base::at(core::current_location())));
  Dims shape = x.shape();
  shape.insert(axis, 1);
  return reshape(x, shape);
}
Array squeeze(const Array& x, int axis) {
  if (axis < 0 || axis >= x.rank() || x.shape()[axis] != 1)
    throw ShapeError(base::cat("squeeze: axis ", axis, " of ", ir::to_string(core::type_of(x)),
                               " is not an axis of size 1", base::at(core::current_location())));
  Dims shape = x.shape();
  shape.erase(axis);
  return reshape(x, shape);
}

}  // namespace uni::lax
