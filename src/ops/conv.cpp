// Convolution. Layouts: x [N, spatial, C], kernel [spatial, C / groups, O], result [N, spatial, O].
#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using Kind = ShardRule::Kind;
using Fill = ShardRule::Fill;

namespace {
int spatial_rank(const Conv& p) { return p.stride.rank(); }
i64 room(i64 x, i64 kernel, const Conv& p, int i) {
  return padded_size(dilated_size(x, p.input_dilation[i]), p.low[i], p.high[i]) -
         dilated_size(kernel, p.kernel_dilation[i]);
}
void check_conv_params(const Type& x, const Type& kernel, const Conv& p) {
  const int n = spatial_rank(p);
  if (x.shape.rank() != n + 2 || kernel.shape.rank() != n + 2)
    throw ShapeError(cat("conv: operand ", ir::to_string(x), " and kernel ", ir::to_string(kernel),
                         " should have rank ", n + 2, " for ", n, " strides"));
  for (const Dims* field : {&p.low, &p.high, &p.input_dilation, &p.kernel_dilation})
    if (field->rank() != n)
      throw ShapeError(
          cat("conv: padding and dilation should have ", n, " entries, as stride has, got ", field->rank()));
  for (int i = 0; i < n; ++i) {
    if (p.stride[i] < 1 || p.input_dilation[i] < 1 || p.kernel_dilation[i] < 1)
      throw ShapeError(cat("conv: stride ", p.stride[i], ", input dilation ", p.input_dilation[i],
                           " and kernel dilation ", p.kernel_dilation[i], " of spatial axis ", i,
                           " should be at least 1"));
    if (kernel.shape[i] < 1)
      throw ShapeError(cat("conv: kernel ", ir::to_string(kernel), " has size 0 on spatial axis ", i));
  }
  if (p.groups < 1 || p.batch_groups < 1 || (p.groups > 1 && p.batch_groups > 1))
    throw ShapeError(cat("conv: groups ", p.groups, " and batch_groups ", p.batch_groups,
                         " should be at least 1, and one of them 1"));
}
Types conv_type(std::span<const Type> in, const Conv& p) {
  check_operand_count(conv, in, 2);
  const Type &x = in[0], &kernel = in[1];
  check_same_dtype(conv, in);
  check_dtype(conv, x, takes::inexact);
  check_conv_params(x, kernel, p);
  const i64 features = x.shape[-1], out_features = kernel.shape[-1];
  if (features % p.groups != 0 || kernel.shape[-2] != features / p.groups)
    throw ShapeError(cat("conv: operand ", ir::to_string(x), " has ", features, " features in ", p.groups,
                         " groups, kernel ", ir::to_string(kernel), " takes ", kernel.shape[-2], " per group"));
  if (out_features % (p.groups * p.batch_groups) != 0)
    throw ShapeError(cat("conv: kernel ", ir::to_string(kernel), " gives ", out_features, " features, which ",
                         p.groups * p.batch_groups, " groups do not divide"));
  if (x.shape[0] % p.batch_groups != 0)
    throw ShapeError(cat("conv: operand ", ir::to_string(x), " has batch size ", x.shape[0], ", which ", p.batch_groups,
                         " batch groups do not divide"));
  Dims shape{x.shape[0] / p.batch_groups};
  for (int i = 0; i < spatial_rank(p); ++i) {
    const i64 r = room(x.shape[i + 1], kernel.shape[i], p, i);
    shape.push_back(r < 0 ? 0 : r / p.stride[i] + 1);
  }
  shape.push_back(out_features);
  check_shape(conv, shape);
  return {Type{x.dtype, shape, false, {}}};
}
Jvp conv_jvp(std::span<const Array> x, std::span<const Array> t, const Conv& p) {
  Array tangent;
  if (!is_zero(t[0])) tangent = core::bind1(conv, {t[0], x[1]}, p);
  if (!is_zero(t[1])) tangent = add_tangents(tangent, core::bind1(conv, {x[0], t[1]}, p));
  return {core::bind(conv, x, p), {tangent}};
}

// The parameters of a transposed convolution, but for groups and padding.
Conv transposed(const Conv& p, const Dims& stride, const Dims& input_dilation, const Dims& kernel_dilation) {
  Conv q = p;
  q.stride = stride;
  q.input_dilation = input_dilation;
  q.kernel_dilation = kernel_dilation;
  return q;
}

// The flipped kernel with its features exchanged, over the output spread by the stride.
Array input_cotangent(const Array& ct, const Array& kernel, const Type& x, const Conv& p) {
  const int n = spatial_rank(p);
  const i64 groups = p.groups * p.batch_groups;
  Array k = split_dim(kernel, n + 1, groups);          // [k, C / groups, groups, O / groups]
  k = lax::move_axis(k, n, n + 2);                     // [k, groups, O / groups, C / groups]
  k = merge_dims(lax::move_axis(k, n, n + 1), n + 1);  // [k, O / groups, C]
  k = lax::reverse(k, axis_range(0, n));
  Conv q = transposed(p, p.input_dilation, p.stride, p.kernel_dilation);
  q.groups = groups;
  q.batch_groups = 1;
  for (int i = 0; i < n; ++i) {
    const i64 width = dilated_size(kernel.shape(i), p.kernel_dilation[i]);
    q.low[i] = width - 1 - p.low[i];
    q.high[i] = dilated_size(x.shape[i + 1], p.input_dilation[i]) + width - 1 -
                dilated_size(ct.shape(i + 1), p.stride[i]) - q.low[i];
  }
  const Array out = lax::conv(ct, k, q);
  if (p.batch_groups == 1) return out;
  return merge_dims(lax::move_axis(split_dim(out, n + 1, p.batch_groups), n + 1, 0), 0);
}
// x with batch and features exchanged, convolved with ct as the kernel.
Array kernel_cotangent(const Array& ct, const Array& x, const Type& kernel, const Conv& p) {
  const int n = spatial_rank(p);
  if (ct.size() == 0) return zeros_of(kernel);
  Conv q = transposed(p, p.kernel_dilation, p.input_dilation, p.stride);
  q.groups = p.batch_groups;
  q.batch_groups = p.groups;
  for (int i = 0; i < n; ++i)
    q.high[i] = dilated_size(kernel.shape[i], p.kernel_dilation[i]) + dilated_size(ct.shape(i + 1), p.stride[i]) - 1 -
                dilated_size(x.shape(i + 1), p.input_dilation[i]) - p.low[i];
  std::vector<int> exchange = axis_range(0, n + 2);
  std::swap(exchange.front(), exchange.back());
  const Array out = lax::conv(lax::transpose(x, exchange), lax::move_axis(ct, 0, n), q);  // [C / groups, k, O]
  return lax::move_axis(out, 0, n);
}
Arrays conv_transpose(std::span<const Array> ct, std::span<const Operand> operands, const Conv& p) {
  if (operands[0].linear()) {
    require_known(conv, operands, 1);
    return {input_cotangent(ct[0], operands[1].value, operands[0].type, p), Array()};
  }
  return {Array(), kernel_cotangent(ct[0], operands[0].value, operands[1].type, p)};
}

// Lanes of the input fold into its batch, inside the batch groups.
Array batched_input(const BatchArgs& a, const Conv& p) {
  const i64 inner = p.batch_groups;
  Array x = split_dim(a.in[0], 1, inner);                     // [lanes, groups, N / groups, ...]
  x = merge_dims(merge_dims(lax::move_axis(x, 0, 1), 0), 0);  // [groups * lanes * N / groups, ...]
  return split_dim(lax::conv(x, a.in[1], p), 0, a.size);
}
// Lanes of the kernel fold into the output features, inside the groups.
Array batched_kernel(const BatchArgs& a, const Conv& p) {
  const int n = spatial_rank(p);
  const i64 groups = p.groups * p.batch_groups;
  Array k = split_dim(a.in[1], n + 2, groups);  // [lanes, k, C / groups, groups, O / groups]
  k = merge_dims(merge_dims(lax::move_axis(k, 0, n + 2), n + 1), n + 1);
  Array out = split_dim(lax::conv(a.in[0], k, p), n + 1, groups);  // [N, ..., groups, lanes * O / groups]
  out = split_dim(out, n + 2, a.size);
  return merge_dims(lax::move_axis(out, n + 2, 0), n + 2);
}
// Lanes of both are groups of their own.
Array batched_both(const BatchArgs& a, const Conv& p) {
  const int n = spatial_rank(p);
  const Array k = merge_dims(lax::move_axis(a.in[1], 0, n + 1), n + 1);  // [k, C / groups, lanes * O]
  Conv q = p;
  Array x;
  if (p.batch_groups > 1) {
    q.batch_groups *= a.size;
    x = merge_dims(a.in[0], 0);
  } else {
    q.groups *= a.size;
    x = merge_dims(lax::move_axis(a.in[0], 0, n + 1), n + 1);
  }
  return lax::move_axis(split_dim(lax::conv(x, k, q), n + 1, a.size), n + 1, 0);
}
Batch conv_batch(const BatchArgs& a, const Conv& p) {
  if (a.size == 0) {
    Types types = core::types_of(a.in);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (a.batched[i]) types[i].shape.erase(0);
    Type out = conv_type(types, p)[0];
    out.shape.insert(0, 0);
    return all_batched({zeros_of(out)});
  }
  if (!a.batched[1]) return all_batched({batched_input(a, p)});
  return all_batched({a.batched[0] ? batched_both(a, p) : batched_kernel(a, p)});
}

ShardRule conv_shard(std::span<const Type> in, const Conv& p) {
  const int n = spatial_rank(p);
  const Type out = conv_type(in, p)[0];
  Factors f;
  std::vector<int> x, kernel, result;
  const int batch = f.add(p.batch_groups == 1 ? Kind::pass : Kind::replicate);
  x.push_back(batch);
  result.push_back(p.batch_groups == 1 ? batch : f.add(Kind::replicate));
  for (int i = 0; i < n; ++i) {
    const bool pointwise =
        in[1].shape[i] == 1 && p.stride[i] == 1 && p.low[i] == 0 && p.high[i] == 0 && p.input_dilation[i] == 1;
    const bool same_size = in[0].shape[i + 1] == out.shape[i + 1];
    x.push_back(f.add(pointwise ? Kind::pass : same_size ? Kind::permute : Kind::replicate));
    result.push_back(same_size ? x.back() : f.add(Kind::replicate));
    kernel.push_back(f.add(Kind::replicate));
  }
  const bool grouped = p.groups > 1;
  x.push_back(f.add(grouped ? Kind::replicate : Kind::reduce));
  kernel.push_back(grouped ? f.add(Kind::replicate) : x.back());
  kernel.push_back(f.add(grouped || p.batch_groups > 1 ? Kind::replicate : Kind::pass));
  result.push_back(kernel.back());
  f.rule.operands = {x, kernel};
  f.rule.results = {result};
  if (!grouped) f.rule.fill = {Fill::zero, Fill::zero};
  return f.rule;
}
constexpr Rules<Conv> conv_rules{
    .name = "conv",
    .type = conv_type,
    .jvp = conv_jvp,
    .transpose = conv_transpose,
    .batch = conv_batch,
    .shard = conv_shard,
    .expand = by_backends,
};
}  // namespace

constinit const Primitive conv = primitive<conv_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array conv(const Array& x, const Array& kernel, const ops::Conv& params) {
  return core::bind1(ops::conv, {x, kernel}, params);
}

}  // namespace uni::lax
