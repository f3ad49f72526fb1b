#include <algorithm>

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
void check_pairs(const char* what, const Type& lhs, const Type& rhs, const std::vector<int>& l,
                 const std::vector<int>& r) {
  if (l.size() != r.size())
    throw ShapeError(cat("dot_general: lhs ", ir::to_string(lhs), " has ", l.size(), " ", what, " axes, rhs ",
                         ir::to_string(rhs), " has ", r.size()));
  for (std::size_t i = 0; i < l.size(); ++i)
    if (lhs.shape[l[i]] != rhs.shape[r[i]])
      throw ShapeError(cat("dot_general: lhs ", ir::to_string(lhs), " and rhs ", ir::to_string(rhs),
                           " disagree on the ", what, " size: ", lhs.shape[l[i]], " (lhs axis ", l[i], ") vs ",
                           rhs.shape[r[i]], " (rhs axis ", r[i], ")"));
}
std::vector<int> both(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Types dot_type(std::span<const Type> in, const DotGeneral& p) {
  check_operand_count(dot_general, in, 2);
  const Type &lhs = in[0], &rhs = in[1];
  check_same_dtype(dot_general, in);
  check_dtype(dot_general, lhs, takes::numbers);
  check_axes(dot_general, both(p.lhs_batch, p.lhs_contract), lhs);
  check_axes(dot_general, both(p.rhs_batch, p.rhs_contract), rhs);
  check_pairs("contracted", lhs, rhs, p.lhs_contract, p.rhs_contract);
  check_pairs("batch", lhs, rhs, p.lhs_batch, p.rhs_batch);
  Dims shape = sizes_at(lhs.shape, p.lhs_batch);
  shape = joined(shape, sizes_at(lhs.shape, other_axes(lhs.shape.rank(), p.lhs_batch, p.lhs_contract)));
  shape = joined(shape, sizes_at(rhs.shape, other_axes(rhs.shape.rank(), p.rhs_batch, p.rhs_contract)));
  check_shape(dot_general, shape);
  return {Type{lhs.dtype, shape, false, {}}};
}
Jvp dot_jvp(std::span<const Array> x, std::span<const Array> t, const DotGeneral& p) {
  Array tangent;
  if (!is_zero(t[0])) tangent = core::bind1(dot_general, {t[0], x[1]}, p);
  if (!is_zero(t[1])) tangent = add_tangents(tangent, core::bind1(dot_general, {x[0], t[1]}, p));
  return {core::bind(dot_general, x, p), {tangent}};
}
// `axes`, reordered by the values of `keys`.
std::vector<int> ordered_by(const std::vector<int>& keys, const std::vector<int>& axes) {
  std::vector<int> order = axis_range(0, static_cast<int>(keys.size())), result;
  std::sort(order.begin(), order.end(), [&](int a, int b) { return keys[at(a)] < keys[at(b)]; });
  for (int k : order) result.push_back(axes[at(k)]);
  return result;
}
// The order of operands is such that the cotangents of a matrix product need no transposition.
Array lhs_cotangent(const Array& ct, const Array& rhs, const Type& lhs, const DotGeneral& p) {
  const int batch = static_cast<int>(p.lhs_batch.size());
  const std::vector<int> lhs_free = other_axes(lhs.shape.rank(), p.lhs_batch, p.lhs_contract);
  const std::vector<int> rhs_free = other_axes(rhs.rank(), p.rhs_batch, p.rhs_contract);
  const std::vector<int> rhs_in_ct =
      axis_range(batch + static_cast<int>(lhs_free.size()), static_cast<int>(rhs_free.size()));
  const Array product = lax::dot_general(ct, rhs, {rhs_in_ct, rhs_free, axis_range(0, batch), p.rhs_batch});
  const std::vector<int> axes = both(both(p.lhs_batch, lhs_free), ordered_by(p.rhs_contract, p.lhs_contract));
  return lax::transpose(product, inverse_permutation(axes));
}
Array rhs_cotangent(const Array& ct, const Array& lhs, const Type& rhs, const DotGeneral& p) {
  const int batch = static_cast<int>(p.lhs_batch.size());
  const std::vector<int> lhs_free = other_axes(lhs.rank(), p.lhs_batch, p.lhs_contract);
  const std::vector<int> rhs_free = other_axes(rhs.shape.rank(), p.rhs_batch, p.rhs_contract);
  const std::vector<int> lhs_in_ct = axis_range(batch, static_cast<int>(lhs_free.size()));
  const Array product = lax::dot_general(lhs, ct, {lhs_free, lhs_in_ct, p.lhs_batch, axis_range(0, batch)});
  const std::vector<int> axes = both(both(p.rhs_batch, ordered_by(p.lhs_contract, p.rhs_contract)), rhs_free);
  return lax::transpose(product, inverse_permutation(axes));
}
Arrays dot_transpose(std::span<const Array> ct, std::span<const Operand> operands, const DotGeneral& p) {
  if (!operands[0].linear()) return {Array(), rhs_cotangent(ct[0], operands[0].value, operands[1].type, p)};
  require_known(dot_general, operands, 1);
  return {lhs_cotangent(ct[0], operands[1].value, operands[0].type, p), Array()};
}
std::vector<int> with_lane_axis(const std::vector<int>& axes) {
  std::vector<int> result = shifted(axes);
  result.insert(result.begin(), 0);
  return result;
}
// Lanes of both operands are a batch dimension; lanes of one are a free dimension, which then moves to the front.
Batch dot_batch(const BatchArgs& a, const DotGeneral& p) {
  const int batch = static_cast<int>(p.lhs_batch.size());
  DotGeneral q = p;
  if (a.batched[0]) {
    q.lhs_contract = shifted(p.lhs_contract);
    q.lhs_batch = shifted(p.lhs_batch);
  }
  if (a.batched[1]) {
    q.rhs_contract = shifted(p.rhs_contract);
    q.rhs_batch = shifted(p.rhs_batch);
  }
  if (a.batched[0] && a.batched[1]) {
    q.lhs_batch = with_lane_axis(p.lhs_batch);
    q.rhs_batch = with_lane_axis(p.rhs_batch);
    return all_batched(core::bind(dot_general, a.in, q));
  }
  const int lhs_free = a.in[0].rank() - batch - static_cast<int>(p.lhs_contract.size());
  const Array out = core::bind(dot_general, a.in, q)[0];
  return all_batched({lax::move_axis(out, a.batched[0] ? batch : batch + lhs_free, 0)});
}
ShardRule dot_shard(std::span<const Type> in, const DotGeneral& p) {
  Factors f;
  std::vector<int> lhs(at(in[0].shape.rank())), rhs(at(in[1].shape.rank())), result;
  for (std::size_t i = 0; i < p.lhs_batch.size(); ++i) {
    lhs[at(p.lhs_batch[i])] = rhs[at(p.rhs_batch[i])] = f.add();
    result.push_back(lhs[at(p.lhs_batch[i])]);
  }
  for (std::size_t i = 0; i < p.lhs_contract.size(); ++i)
    lhs[at(p.lhs_contract[i])] = rhs[at(p.rhs_contract[i])] = f.add(Kind::reduce);
  for (int i : other_axes(in[0].shape.rank(), p.lhs_batch, p.lhs_contract)) result.push_back(lhs[at(i)] = f.add());
  for (int i : other_axes(in[1].shape.rank(), p.rhs_batch, p.rhs_contract)) result.push_back(rhs[at(i)] = f.add());
  f.rule.operands = {lhs, rhs};
  f.rule.results = {result};
  f.rule.fill = {Fill::zero, Fill::zero};
  return f.rule;
}
constexpr Rules<DotGeneral> dot_general_rules{
    .name = "dot_general",
    .type = dot_type,
    .jvp = dot_jvp,
    .transpose = dot_transpose,
    .batch = dot_batch,
    .shard = dot_shard,
    .expand = by_backends,
};
}  // namespace

constinit const Primitive dot_general = primitive<dot_general_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array dot_general(const Array& lhs, const Array& rhs, const ops::DotGeneral& dims) {
  return core::bind1(ops::dot_general, {lhs, rhs}, dims);
}
Array matmul2(const Array& lhs, const Array& rhs) { return dot_general(lhs, rhs, {{1}, {0}, {}, {}}); }

}  // namespace uni::lax
