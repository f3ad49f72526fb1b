// transpose, slice, pad, concatenate, reverse.
#include <algorithm>

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
Types transpose_type(std::span<const Type> in, const Transpose& p) {
  check_operand_count(transpose, in, 1);
  check_entries(transpose, "permutation", p.permutation.size(), in[0]);
  check_axes(transpose, p.permutation, in[0]);
  return {Type{in[0].dtype, sizes_at(in[0].shape, p.permutation), false, {}}};
}
Batch transpose_batch(const BatchArgs& a, const Transpose& p) {
  std::vector<int> permutation = shifted(p.permutation);
  permutation.insert(permutation.begin(), 0);
  return all_batched(core::bind(transpose, a.in, Transpose{permutation}));
}
constexpr Rules<Transpose> transpose_rules{
    .name = "transpose",
    .type = transpose_type,
    .jvp = linear_jvp<transpose, Transpose>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const Transpose& p) -> Arrays {
      return {lax::transpose(ct[0], inverse_permutation(p.permutation))};
    },
    .batch = transpose_batch,
    .shard = [](std::span<const Type> in, const Transpose& p) -> ShardRule {
      ShardRule rule = same_shape_rule(1, 1, in[0].shape.rank());
      rule.results[0] = p.permutation;
      return rule;
    },
    .expand = by_backends,
};

Types slice_type(std::span<const Type> in, const SliceParams& p) {
  check_operand_count(slice, in, 1);
  const Type& x = in[0];
  check_entries(slice, "start", at(p.start.rank()), x);
  check_entries(slice, "limit", at(p.limit.rank()), x);
  check_entries(slice, "stride", at(p.stride.rank()), x);
  Type out{x.dtype, x.shape, false, {}};
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (p.stride[i] < 1) throw ShapeError(cat("slice: stride ", p.stride[i], " of axis ", i, " is not positive"));
    if (p.start[i] < 0 || p.limit[i] < p.start[i] || p.limit[i] > x.shape[i])
      throw ShapeError(
          cat("slice: range ", p.start[i], ":", p.limit[i], " does not fit axis ", i, " of ", ir::to_string(x)));
    const i64 length = p.limit[i] - p.start[i];
    out.shape[i] = length == 0 ? 0 : (length - 1) / p.stride[i] + 1;
  }
  return {out};
}
Arrays slice_transpose(std::span<const Array> ct, std::span<const Operand> operands, const SliceParams& p) {
  const Type& x = operands[0].type;
  Dims high = x.shape, interior = p.stride;
  for (int i = 0; i < x.shape.rank(); ++i) {
    const i64 n = ct[0].shape()[i];
    high[i] -= p.start[i] + dilated_size(n, p.stride[i]);
    interior[i] -= 1;
  }
  return {lax::pad(ct[0], zeros_of(Type{x.dtype, {}, false, {}}), p.start, high, interior)};
}
constexpr Rules<SliceParams> slice_rules{
    .name = "slice",
    .type = slice_type,
    .jvp = linear_jvp<slice, SliceParams>,
    .transpose = slice_transpose,
    .batch =
        [](const BatchArgs& a, const SliceParams& p) {
          return all_batched(core::bind(
              slice, a.in, SliceParams{prepended(0, p.start), prepended(a.size, p.limit), prepended(1, p.stride)}));
        },
    .shard = [](std::span<const Type> in, const SliceParams& p) -> ShardRule {
      ShardRule rule = moving_rule(in, slice_type(in, p)[0], {});
      rule.localize = [](const Params& params, std::span<const Type> x, std::span<const Type> out) -> Params {
        SliceParams local = params.as<SliceParams>();
        for (int i = 0; i < local.start.rank(); ++i)
          if (x[0].shape[i] == out[0].shape[i]) {
            local.start[i] = 0;
            local.limit[i] = x[0].shape[i];
            local.stride[i] = 1;
          }
        return local;
      };
      return rule;
    },
    .expand = by_backends,
};

Types pad_type(std::span<const Type> in, const Pad& p) {
  check_operand_count(pad, in, 2);
  const Type& x = in[0];
  check_same_dtype(pad, in);
  if (in[1].shape.rank() != 0) throw ShapeError(cat("pad: the value ", ir::to_string(in[1]), " is not a scalar"));
  check_entries(pad, "low", at(p.low.rank()), x);
  check_entries(pad, "high", at(p.high.rank()), x);
  check_entries(pad, "interior", at(p.interior.rank()), x);
  Type out{x.dtype, x.shape, false, {}};
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (p.interior[i] < 0 || p.interior[i] >= huge_size)
      throw ShapeError(cat("pad: interior padding ", p.interior[i], " of axis ", i, " is negative or too large"));
    out.shape[i] = padded_size(dilated_size(x.shape[i], p.interior[i] + 1), p.low[i], p.high[i]);
    if (out.shape[i] < 0)
      throw ShapeError(cat("pad: low ", p.low[i], " and high ", p.high[i], " crop more than axis ", i, " of ",
                           ir::to_string(x), " has"));
  }
  check_shape(pad, out.shape);
  return {out};
}
// True where the result holds an element of x.
Array pad_mask(const Dims& shape, const Pad& p) {
  return lax::pad(lax::full_int(1, Dtype::b8, shape), lax::full_int(0, Dtype::b8, {}), p.low, p.high, p.interior);
}
Arrays pad_transpose(std::span<const Array> ct, std::span<const Operand> operands, const Pad& p) {
  const Dims& shape = operands[0].type.shape;
  const int rank = shape.rank();
  Arrays out(2);
  if (operands[0].linear()) {
    Dims low = p.low, high = p.high, stride = p.interior;
    for (i64& v : low) v = -v;
    for (i64& v : high) v = -v;
    for (i64& v : stride) v += 1;
    const Array zero = zeros_of(Type{ct[0].dtype(), {}, false, {}});
    const Array core = lax::pad(ct[0], zero, low, high, repeated(0, rank));
    out[0] = lax::slice(core, repeated(0, rank), core.shape(), stride);
  }
  if (operands[1].linear()) {
    const Array outside = lax::select(pad_mask(shape, p), lax::full_like(ct[0], 0), ct[0]);
    out[1] = lax::reduce_sum(outside, axis_range(0, rank));
  }
  return out;
}
Batch pad_batch(const BatchArgs& a, const Pad& p) {
  const Pad q{prepended(0, p.low), prepended(0, p.high), prepended(0, p.interior)};
  if (!a.batched[1]) return all_batched(core::bind(pad, a.in, q));
  const Array x = with_batch(a, 0);
  const Array padded = core::bind1(pad, {x, lax::full_scalar(Scalar{x.dtype(), 0, 0}, {})}, q);
  const Array value = lax::broadcast_in_dim(a.in[1], padded.shape(), {0});
  return all_batched({lax::select(pad_mask(x.shape(), q), padded, value)});
}
constexpr Rules<Pad> pad_rules{
    .name = "pad",
    .type = pad_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const Pad& p) { return jointly_linear_jvp(pad, x, t, p); },
    .transpose = pad_transpose,
    .batch = pad_batch,
    .shard = [](std::span<const Type> in, const Pad& p) -> ShardRule {
      std::vector<int> padded;
      for (int i = 0; i < in[0].shape.rank(); ++i)
        if (p.low[i] != 0 || p.high[i] != 0 || p.interior[i] != 0) padded.push_back(i);
      ShardRule rule = moving_rule(in.first(1), pad_type(in, p)[0], padded);
      rule.operands.emplace_back();
      return rule;
    },
    .expand = by_backends,
};

Types concatenate_type(std::span<const Type> in, const Concatenate& p) {
  if (in.empty()) throw ShapeError("concatenate: takes at least one operand, got 0");
  check_axis(concatenate, p.axis, in[0]);
  check_same_dtype(concatenate, in);
  Type out{in[0].dtype, in[0].shape, false, {}};
  for (std::size_t k = 1; k < in.size(); ++k) {
    if (in[k].shape.rank() != out.shape.rank())
      throw ShapeError(
          cat("concatenate: operands ", ir::to_string(in[0]), " and ", ir::to_string(in[k]), " have different ranks"));
    for (int i = 0; i < out.shape.rank(); ++i)
      if (i != p.axis && in[k].shape[i] != out.shape[i])
        throw ShapeError(cat("concatenate: operands ", ir::to_string(in[0]), " and ", ir::to_string(in[k]),
                             " disagree on axis ", i, ": ", out.shape[i], " vs ", in[k].shape[i]));
    out.shape[p.axis] += in[k].shape[p.axis];
  }
  check_shape(concatenate, out.shape);
  return {out};
}
Arrays concatenate_transpose(std::span<const Array> ct, std::span<const Operand> operands, const Concatenate& p) {
  Arrays out;
  i64 start = 0;
  for (const Operand& o : operands) {
    const i64 limit = start + o.type.shape[p.axis];
    out.push_back(o.linear() ? lax::slice_axis(ct[0], p.axis, start, limit) : Array());
    start = limit;
  }
  return out;
}
constexpr Rules<Concatenate> concatenate_rules{
    .name = "concatenate",
    .type = concatenate_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const Concatenate& p) { return jointly_linear_jvp(concatenate, x, t, p); },
    .transpose = concatenate_transpose,
    .batch = [](const BatchArgs& a,
                const Concatenate& p) { return batch_pointwise(concatenate, a, Concatenate{p.axis + 1}); },
    .shard = [](std::span<const Type> in,
                const Concatenate& p) { return moving_rule(in, concatenate_type(in, p)[0], {}); },
    .expand = by_backends,
};

constexpr Rules<Reverse> reverse_rules{
    .name = "reverse",
    .type = [](std::span<const Type> in, const Reverse& p) -> Types {
      check_operand_count(reverse, in, 1);
      check_axes(reverse, p.axes, in[0]);
      return {Type{in[0].dtype, in[0].shape, false, {}}};
    },
    .jvp = linear_jvp<reverse, Reverse>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const Reverse& p) -> Arrays {
      return {lax::reverse(ct[0], p.axes)};
    },
    .batch = [](const BatchArgs& a,
                const Reverse& p) { return all_batched(core::bind(reverse, a.in, Reverse{shifted(p.axes)})); },
    .shard = [](std::span<const Type> in, const Reverse& p) { return moving_rule(in, in[0], p.axes); },
    .expand = by_backends,
};
}  // namespace

constinit const Primitive transpose = primitive<transpose_rules>();
constinit const Primitive slice = primitive<slice_rules>();
constinit const Primitive pad = primitive<pad_rules>();
constinit const Primitive concatenate = primitive<concatenate_rules>();
constinit const Primitive reverse = primitive<reverse_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array transpose(const Array& x, const std::vector<int>& permutation) {
  if (permutation == ops::axis_range(0, x.rank())) return x;
  return core::bind1(ops::transpose, {x}, ops::Transpose{permutation});
}
Array move_axis(const Array& x, int from, int to) {
  ops::check_axis(ops::transpose, from, core::type_of(x));
  ops::check_axis(ops::transpose, to, core::type_of(x));
  std::vector<int> permutation = ops::other_axes(x.rank(), {from});
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}
Array slice(const Array& x, const Dims& start, const Dims& limit, const Dims& stride) {
  if (limit == x.shape() && start == ops::repeated(0, x.rank()) && stride == ops::repeated(1, x.rank())) return x;
  return core::bind1(ops::slice, {x}, ops::SliceParams{start, limit, stride});
}
Array slice_axis(const Array& x, int axis, i64 start, i64 limit) {
  ops::check_axis(ops::slice, axis, core::type_of(x));
  Dims starts = ops::repeated(0, x.rank()), limits = x.shape();
  starts[axis] = start;
  limits[axis] = limit;
  return slice(x, starts, limits, ops::repeated(1, x.rank()));
}
Array pad(const Array& x, const Array& value, const Dims& low, const Dims& high, const Dims& interior) {
  return core::bind1(ops::pad, {x, value}, ops::Pad{low, high, interior});
}
Array concatenate(std::span<const Array> parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return core::bind(ops::concatenate, parts, ops::Concatenate{axis})[0];
}
Array reverse(const Array& x, const std::vector<int>& axes) {
  if (axes.empty()) return x;
  return core::bind1(ops::reverse, {x}, ops::Reverse{axes});
}

}  // namespace uni::lax
