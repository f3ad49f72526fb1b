// dynamic_slice, dynamic_update_slice, gather.
#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/elementwise.hpp"
#include "ops/index_rules.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using Kind = ShardRule::Kind;

Dtype index_dtype(const Dims& shape) {
  for (i64 size : shape)
    if (size > std::numeric_limits<std::int32_t>::max()) return Dtype::i64;
  return Dtype::i32;
}
IndexSplit check_indices(const ir::Op& op, const Type& x, const Type& indices, IndexMode mode) {
  if (mode > IndexMode::fill) throw ShapeError(cat(op.name, ": ", static_cast<int>(mode), " is no index mode"));
  if (indices.dtype != Dtype::i32 && indices.dtype != Dtype::i64)
    throw DtypeError(cat(op.name, ": indices ", ir::to_string(indices), " are not i32 or i64"));
  const int batch = indices.shape.rank() - 1;
  if (batch < 0) throw ShapeError(cat(op.name, ": indices ", ir::to_string(indices), " have no component axis"));
  const i64 k = indices.shape[batch];
  if (k > x.shape.rank())
    throw ShapeError(cat(op.name, ": indices ", ir::to_string(indices), " have ", k, " components, operand ",
                         ir::to_string(x), " has ", x.shape.rank(), " axes"));
  IndexSplit s;
  s.components = static_cast<int>(k);
  s.batch = Dims(indices.shape.begin(), indices.shape.end() - 1);
  s.indexed = Dims(x.shape.begin(), x.shape.begin() + k);
  s.rest = Dims(x.shape.begin() + k, x.shape.end());
  for (int i = 0; i < s.components; ++i)
    if (mode == IndexMode::clip && s.indexed[i] == 0 && s.batch.count() > 0)
      throw ShapeError(
          cat(op.name, ": no index is valid for axis ", i, " of ", ir::to_string(x), ", which has size 0"));
  return s;
}
Array with_lane_component(const Array& indices) {
  Dims shape = indices.shape();
  shape[-1] = 1;
  const Arrays parts{lax::iota(indices.dtype(), shape, 0), indices};
  return lax::concatenate(parts, shape.rank() - 1);
}

namespace {
Types check_starts(const ir::Op& op, std::span<const Type> in, std::size_t first, const Dims& sizes) {
  const Type& x = in[0];
  check_entries(op, "sizes", at(sizes.rank()), x);
  check_operand_count(op, in, first + at(x.shape.rank()));
  check_same_dtype(op, in.subspan(first));
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i])
      throw ShapeError(cat(op.name, ": size ", sizes[i], " does not fit axis ", i, " of ", ir::to_string(x)));
    const Type& start = in[first + at(i)];
    if (!is_integer(start.dtype))
      throw DtypeError(cat(op.name, ": start ", i, " is ", ir::to_string(start), ", not an integer"));
    if (start.shape.rank() != 0)
      throw ShapeError(cat(op.name, ": start ", i, " is ", ir::to_string(start), ", not a scalar"));
  }
  return {Type{x.dtype, sizes, false, {}}};
}
// The start, clamped so that the slice fits, as an index.
Array clamped(const Array& start, i64 last, Dtype dtype) {
  const int bits = 8 * itemsize(start.dtype()) - (is_signed(start.dtype()) ? 1 : 0);
  if (bits < 63) last = std::min(last, (i64{1} << bits) - 1);
  const Array low = lax::full_int(0, start.dtype(), start.shape());
  const Array high = lax::full_int(last, start.dtype(), start.shape());
  return lax::convert(lax::minimum(lax::maximum(start, low), high), dtype);
}

// A slice whose starts differ by lane, as a gather or scatter: the axes that are cut move to the front and are indexed,
// the whole ones stay behind.
struct LaneSlices {
  std::vector<int> cut, whole;  // of the unbatched operand
  Array indices;                // [lanes, sizes of the cut axes, components]
};
LaneSlices lane_slices(const BatchArgs& a, std::size_t first, const Dims& shape, const Dims& sizes, bool lane) {
  LaneSlices s;
  for (int i = 0; i < shape.rank(); ++i) (shape[i] == sizes[i] ? s.whole : s.cut).push_back(i);
  const Dims grid = prepended(a.size, sizes_at(sizes, s.cut));
  const Dtype dtype = index_dtype(joined(shape, grid));
  Dims column = grid;
  column.push_back(1);
  Arrays components;
  if (lane) components.push_back(lax::iota(dtype, column, 0));
  for (std::size_t j = 0; j < s.cut.size(); ++j) {
    const int axis = s.cut[j];
    const std::size_t operand = first + at(axis);
    const Array start = clamped(a.in[operand], shape[axis] - sizes[axis], dtype);
    const Array base =
        lax::broadcast_in_dim(start, column, a.batched[operand] ? std::vector<int>{0} : std::vector<int>{});
    components.push_back(lax::add(base, lax::iota(dtype, column, static_cast<int>(j) + 1)));
  }
  s.indices = lax::concatenate(components, grid.rank());
  return s;
}
// [lanes, axes of the operand] with the cut axes first.
std::vector<int> cut_first(const LaneSlices& s, bool lanes) {
  std::vector<int> permutation = shifted(s.cut, lanes ? 1 : 0);
  for (int w : shifted(s.whole, lanes ? 1 : 0)) permutation.push_back(w);
  if (lanes) permutation.insert(permutation.begin(), 0);
  return permutation;
}
bool any_batched(const BatchArgs& a, std::size_t first) {
  for (std::size_t i = first; i < a.batched.size(); ++i)
    if (a.batched[i]) return true;
  return false;
}
Dims lane_shape(const BatchArgs& a, std::size_t operand) {
  Dims shape = a.in[operand].shape();
  if (a.batched[operand]) shape.erase(0);
  return shape;
}
Arrays with_zero_start(std::span<const Array> operands, std::size_t first) {
  Arrays in(operands.begin(), operands.end());
  const Dtype dtype = in.size() > first ? in[first].dtype() : Dtype::i32;
  in.insert(in.begin() + static_cast<std::ptrdiff_t>(first), lax::full_int(0, dtype, {}));
  return in;
}

Batch dynamic_slice_batch(const BatchArgs& a, const DynamicSlice& p) {
  const Dims shape = lane_shape(a, 0);
  if (shape == p.sizes) return {{a.in[0]}, {a.batched[0]}};
  if (!any_batched(a, 1))
    return all_batched(core::bind(dynamic_slice, with_zero_start(a.in, 1), DynamicSlice{prepended(a.size, p.sizes)}));
  const LaneSlices s = lane_slices(a, 1, shape, p.sizes, a.batched[0]);
  const Array x = lax::transpose(a.in[0], cut_first(s, a.batched[0]));
  return all_batched({lax::transpose(lax::gather(x, s.indices), inverse_permutation(cut_first(s, true)))});
}
ShardRule with_starts(ShardRule rule, std::size_t starts) {
  for (std::size_t i = 0; i < starts; ++i) rule.operands.emplace_back();
  return rule;
}
constexpr Rules<DynamicSlice> dynamic_slice_rules{
    .name = "dynamic_slice",
    .type = [](std::span<const Type> in, const DynamicSlice& p) -> Types {
      if (in.empty()) check_operand_count(dynamic_slice, in, 1);
      Types out = check_starts(dynamic_slice, in, 1, p.sizes);
      out[0].weak = in[0].weak;
      return out;
    },
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const DynamicSlice& p) { return linear_in_first_jvp(dynamic_slice, x, t, p); },
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const DynamicSlice&) -> Arrays {
      Arrays starts, out(operands.size());
      for (std::size_t i = 1; i < operands.size(); ++i) starts.push_back(operands[i].value);
      out[0] = lax::dynamic_update_slice(zeros_of(operands[0].type), ct[0], starts);
      return out;
    },
    .batch = dynamic_slice_batch,
    .shard = [](std::span<const Type> in, const DynamicSlice& p) -> ShardRule {
      ShardRule rule = with_starts(moving_rule(in.first(1), Type{in[0].dtype, p.sizes, false, {}}, {}), in.size() - 1);
      rule.localize = [](const Params&, std::span<const Type>, std::span<const Type> out) -> Params {
        return DynamicSlice{out[0].shape};
      };
      return rule;
    },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Jvp dynamic_update_slice_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams& p) {
  Jvp result{core::bind(dynamic_update_slice, x, p), {Array()}};
  if (is_zero(t[0]) && is_zero(t[1])) return result;
  Arrays tangents(x.begin(), x.end());
  for (std::size_t i = 0; i < 2; ++i) tangents[i] = instantiate(t[i], core::type_of(x[i]));
  result.tangent = core::bind(dynamic_update_slice, tangents, p);
  return result;
}
Arrays dynamic_update_slice_transpose(std::span<const Array> ct, std::span<const Operand> operands, const NoParams&) {
  Arrays starts, out(operands.size());
  for (std::size_t i = 2; i < operands.size(); ++i) starts.push_back(operands[i].value);
  const Type& update = operands[1].type;
  if (operands[0].linear()) out[0] = lax::dynamic_update_slice(ct[0], zeros_of(update), starts);
  if (operands[1].linear()) out[1] = lax::dynamic_slice(ct[0], starts, update.shape);
  return out;
}
Batch dynamic_update_slice_batch(const BatchArgs& a, const NoParams& p) {
  const Dims shape = lane_shape(a, 0), sizes = lane_shape(a, 1);
  if (shape == sizes) return {{a.in[1]}, {a.batched[1]}};
  const Array x = with_batch(a, 0), update = with_batch(a, 1);
  if (!any_batched(a, 2)) {
    Arrays in = with_zero_start(a.in, 2);
    in[0] = x;
    in[1] = update;
    return all_batched(core::bind(dynamic_update_slice, in, p));
  }
  const LaneSlices s = lane_slices(a, 2, shape, sizes, true);
  const std::vector<int> permutation = cut_first(s, true);
  const Array updated = lax::scatter(lax::transpose(x, permutation), s.indices, lax::transpose(update, permutation),
                                     Combine::set, IndexMode::clip);
  return all_batched({lax::transpose(updated, inverse_permutation(permutation))});
}
constexpr Rules<NoParams> dynamic_update_slice_rules{
    .name = "dynamic_update_slice",
    .type = [](std::span<const Type> in, const NoParams&) -> Types {
      if (in.size() < 2) check_operand_count(dynamic_update_slice, in, 2);
      check_same_dtype(dynamic_update_slice, in.first(2));
      if (in[0].shape.rank() != in[1].shape.rank())
        throw ShapeError(cat("dynamic_update_slice: operand ", ir::to_string(in[0]), " and update ",
                             ir::to_string(in[1]), " have different ranks"));
      check_starts(dynamic_update_slice, in, 2, in[1].shape);
      return {Type{in[0].dtype, in[0].shape, in[0].weak && in[1].weak, {}}};
    },
    .jvp = dynamic_update_slice_jvp,
    .transpose = dynamic_update_slice_transpose,
    .batch = dynamic_update_slice_batch,
    .shard = [](std::span<const Type> in,
                const NoParams&) { return with_starts(moving_rule(in.first(2), in[0], {}), in.size() - 2); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Types gather_type(std::span<const Type> in, const Gather& p) {
  check_operand_count(gather, in, 2);
  const IndexSplit s = check_indices(gather, in[0], in[1], p.mode);
  if (p.fill.dtype != in[0].dtype)
    throw DtypeError(cat("gather: the fill value is ", p.fill.dtype, ", the operand ", ir::to_string(in[0])));
  return {Type{in[0].dtype, joined(s.batch, s.rest), in[0].weak, {}}};
}
Gather with_zero_fill(const Gather& p) { return {p.mode, Scalar{p.fill.dtype, 0, 0}}; }
Jvp gather_jvp(std::span<const Array> x, std::span<const Array> t, const Gather& p) {
  const Array out = core::bind(gather, x, p)[0];
  if (is_zero(t[0])) return {{out}, {Array()}};
  return {{out}, {core::bind1(gather, {t[0], x[1]}, with_zero_fill(p))}};
}
Batch gather_batch(const BatchArgs& a, const Gather& p) {
  const Array &x = a.in[0], &indices = a.in[1];
  if (!a.batched[0]) return all_batched(core::bind(gather, a.in, p));
  if (a.batched[1]) return all_batched({core::bind1(gather, {x, with_lane_component(indices)}, p)});
  // The lanes ride along as the first of the dimensions that are not indexed.
  const int components = static_cast<int>(indices.shape(-1));
  const Array out = core::bind1(gather, {lax::move_axis(x, 0, components), indices}, p);
  return all_batched({lax::move_axis(out, indices.rank() - 1, 0)});
}
ShardRule gather_shard(std::span<const Type> in, const Gather&) {
  const int k = static_cast<int>(in[1].shape[-1]);
  Factors f;
  std::vector<int> x = f.add(k, Kind::replicate);
  const std::vector<int> rest = f.add(in[0].shape.rank() - k, Kind::pass);
  std::vector<int> result = f.add(in[1].shape.rank() - 1, Kind::pass);
  std::vector<int> indices = result;
  indices.push_back(f.add(Kind::replicate));
  x.insert(x.end(), rest.begin(), rest.end());
  result.insert(result.end(), rest.begin(), rest.end());
  f.rule.operands = {x, indices};
  f.rule.results = {result};
  return f.rule;
}
constexpr Rules<Gather> gather_rules{
    .name = "gather",
    .type = gather_type,
    .jvp = gather_jvp,
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Gather& p) -> Arrays {
      return {lax::scatter(zeros_of(operands[0].type), operands[1].value, ct[0], Combine::add, p.mode), Array()};
    },
    .batch = gather_batch,
    .shard = gather_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive dynamic_slice = primitive<dynamic_slice_rules>();
constinit const Primitive dynamic_update_slice = primitive<dynamic_update_slice_rules>();
constinit const Primitive gather = primitive<gather_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array dynamic_slice(const Array& x, std::span<const Array> starts, const Dims& sizes) {
  Arrays in{x};
  in.insert(in.end(), starts.begin(), starts.end());
  return core::bind(ops::dynamic_slice, in, ops::DynamicSlice{sizes})[0];
}
Array dynamic_update_slice(const Array& x, const Array& update, std::span<const Array> starts) {
  Arrays in{x, update};
  in.insert(in.end(), starts.begin(), starts.end());
  return core::bind(ops::dynamic_update_slice, in)[0];
}
Array gather(const Array& x, const Array& indices, ops::IndexMode mode, const ir::Scalar& fill) {
  return core::bind1(ops::gather, {x, indices}, ops::Gather{mode, fill});
}
Array gather(const Array& x, const Array& indices) {
  return gather(x, indices, ops::IndexMode::clip, ir::Scalar{x.dtype(), 0, 0});
}

}  // namespace uni::lax
