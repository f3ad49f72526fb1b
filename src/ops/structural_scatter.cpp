// scatter and its derivatives.
#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/elementwise.hpp"
#include "ops/index_rules.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using Kind = ShardRule::Kind;

namespace {
Types scatter_type(std::span<const Type> in, const Scatter& p) {
  check_operand_count(scatter, in, 3);
  const Type &x = in[0], &updates = in[2];
  if (p.combine > Combine::max) throw ShapeError(cat("scatter: ", static_cast<int>(p.combine), " is no combination"));
  const IndexSplit s = check_indices(scatter, x, in[1], p.mode);
  if (x.dtype != updates.dtype)
    throw DtypeError(
        cat("scatter: operand ", ir::to_string(x), " and updates ", ir::to_string(updates), " have different dtypes"));
  const Dims expected = joined(s.batch, s.rest);
  if (updates.shape != expected)
    throw ShapeError(cat("scatter: updates ", ir::to_string(updates), " should have shape ", expected, " for operand ",
                         ir::to_string(x), " and indices ", ir::to_string(in[1])));
  if (p.combine == Combine::add || p.combine == Combine::mul) check_dtype(scatter, x, takes::numbers);
  if (p.combine == Combine::min || p.combine == Combine::max) check_dtype(scatter, x, takes::ordered);
  return {Type{x.dtype, x.shape, x.weak && updates.weak, {}}};
}

Array gather_like(const Array& x, const Array& indices, const Scatter& p) {
  return lax::gather(x, indices, p.mode, Scalar{x.dtype(), 0, 0});
}
IndexSplit split(const Array& x, const Array& indices, const Scatter& p) {
  return check_indices(scatter, core::type_of(x), core::type_of(indices), p.mode);
}
Array as_number(const Array& mask, Dtype dtype) { return lax::convert(mask, dtype); }

// Which element of x each update goes to, as one number; -1 where the update is dropped. [updates]
Array target_numbers(const Array& indices, const IndexSplit& s, IndexMode mode) {
  const Dims count{s.batch.count()};
  const Array flat = lax::convert(lax::reshape(indices, {count[0], s.components}), Dtype::i64);
  const Array zero = lax::full_int(0, Dtype::i64, count);
  Array number = zero, inside = lax::full_int(1, Dtype::b8, count);
  for (int i = 0; i < s.components; ++i) {
    const Array component = lax::squeeze(lax::slice_axis(flat, 1, i, i + 1), 1);
    const Array last = lax::full_int(s.indexed[i] - 1, Dtype::i64, count);
    const Array near = lax::maximum(lax::minimum(component, last), zero);
    inside = lax::bit_and(inside, lax::eq(near, component));
    number = lax::add(lax::mul(number, lax::full_int(s.indexed[i], Dtype::i64, count)), near);
  }
  return mode == IndexMode::clip ? number : lax::select(inside, number, lax::full_int(-1, Dtype::i64, count));
}
// Rows moved `by` places down; what comes in at the top is `fill`.
Array moved_down(const Array& x, i64 by, const Array& fill) {
  Dims low = repeated(0, x.rank()), high = low;
  low[0] = by;
  high[0] = -by;
  return lax::pad(x, fill, low, high, repeated(0, x.rank()));
}
Array same_as_above(const Array& numbers, i64 by, const Dims& shape) {
  const Array above = moved_down(numbers, by, lax::full_int(-2, Dtype::i64, {}));
  return lax::broadcast_in_dim(lax::eq(numbers, above), shape, {0});
}
// Product of the rows above with the same number (numbers are sorted): a scan in log steps, a polynomial, so that it
// is right at zeros and in every derivative.
Array product_above(const Array& rows, const Array& numbers) {
  const Array one = lax::full(1, rows.dtype(), {});
  const i64 count = rows.shape(0);
  Array product = rows;
  for (i64 by = 1; by < count; by *= 2) {
    const Array longer = lax::mul(product, moved_down(product, by, one));
    product = lax::select(same_as_above(numbers, by, rows.shape()), longer, product);
  }
  if (count == 0) return rows;
  return lax::select(same_as_above(numbers, 1, rows.shape()), moved_down(product, 1, one), lax::full_like(rows, 1));
}
// For each update the product of the other updates that go to the same element.
Array product_of_others(const Array& indices, const Array& updates, const IndexSplit& s, IndexMode mode) {
  const i64 count = s.batch.count();
  const Array rows = lax::reshape(updates, prepended(count, s.rest));
  const Arrays operands{target_numbers(indices, s, mode), lax::iota(index_dtype({count}), {count}, 0)};
  const Arrays sorted = lax::sort(operands, 0, 1);
  const Array order = lax::expand_dims(sorted[1], 1);
  const Array in_order = lax::gather(rows, order);
  const Array below = lax::reverse(product_above(lax::reverse(in_order, {0}), lax::reverse(sorted[0], {0})), {0});
  const Array others = lax::mul(product_above(in_order, sorted[0]), below);
  const Array back = lax::scatter(lax::full_like(rows, 0), order, others, Combine::set, IndexMode::clip);
  return lax::reshape(back, updates.shape());
}

Array mul_tangent(std::span<const Array> x, std::span<const Array> t, const Scatter& p) {
  Array tangent = is_zero(t[0]) ? Array() : core::bind1(scatter, {t[0], x[1], x[2]}, p);
  if (is_zero(t[2])) return tangent;
  const Array others = product_of_others(x[1], x[2], split(x[0], x[1], p), p.mode);
  const Array coefficient = lax::mul(gather_like(x[0], x[1], p), others);
  const Array start = is_zero(tangent) ? zeros_of(core::type_of(x[0])) : tangent;
  return lax::scatter(start, x[1], lax::mul(t[2], coefficient), Combine::add, p.mode);
}
// The element and the updates that equal the result share equally.
Array extremum_tangent(const Array& out, std::span<const Array> x, std::span<const Array> t, const Scatter& p) {
  const Dtype dtype = out.dtype();
  const Array touched = lax::scatter(lax::full_int(0, Dtype::b8, out.shape()), x[1],
                                     lax::full_int(1, Dtype::b8, x[2].shape()), Combine::set, p.mode);
  const Array kept = as_number(lax::bit_or(lax::logical_not(touched), lax::eq(x[0], out)), dtype);
  const Array chosen = as_number(lax::eq(x[2], gather_like(out, x[1], p)), dtype);
  const Array count = lax::scatter(kept, x[1], chosen, Combine::add, p.mode);
  const Array one = lax::full_like(count, 1);
  const Array share = lax::select(lax::eq(count, lax::full_like(count, 0)), one, count);
  Array sum = is_zero(t[0]) ? zeros_of(core::type_of(out)) : lax::mul(t[0], kept);
  if (!is_zero(t[2])) sum = lax::scatter(sum, x[1], lax::mul(t[2], chosen), Combine::add, p.mode);
  return lax::div(sum, share);
}
Jvp scatter_jvp(std::span<const Array> x, std::span<const Array> t, const Scatter& p) {
  const Array out = core::bind(scatter, x, p)[0];
  if (is_zero(t[0]) && is_zero(t[2])) return {{out}, {Array()}};
  if (p.combine == Combine::mul) return {{out}, {mul_tangent(x, t, p)}};
  if (p.combine == Combine::min || p.combine == Combine::max) return {{out}, {extremum_tangent(out, x, t, p)}};
  if (p.combine == Combine::add && is_zero(t[2])) return {{out}, {t[0]}};
  const Array tx = instantiate(t[0], core::type_of(x[0])), tu = instantiate(t[2], core::type_of(x[2]));
  return {{out}, {core::bind1(scatter, {tx, x[1], tu}, p)}};
}

// Of the updates to one element only the last one is in the result; each writes its number, and it has won where that
// number is still there.
Array winners(const Array& indices, const IndexSplit& s, IndexMode mode) {
  const i64 count = s.batch.count();
  const Dtype dtype = index_dtype({count});
  const Array numbers = lax::reshape(lax::iota(dtype, {count}, 0), s.batch);
  const Array none = lax::full_int(-1, dtype, s.indexed);
  const Array written = lax::scatter(none, indices, numbers, Combine::set, mode);
  const Array back = lax::gather(written, indices, mode, Scalar::of_int(dtype, -1));
  return lax::broadcast_in_dim(lax::eq(back, numbers), joined(s.batch, s.rest), axis_range(0, s.batch.rank()));
}
Arrays scatter_transpose(std::span<const Array> ct, std::span<const Operand> operands, const Scatter& p) {
  const Array& indices = operands[1].value;
  const bool set = p.combine == Combine::set, add = p.combine == Combine::add;
  Arrays out(3);
  if (!set && !add) require_known(scatter, operands, 2);
  if (!set && !add && p.combine != Combine::mul) require_known(scatter, operands, 0);
  if (operands[0].linear()) {
    out[0] = ct[0];
    if (set) out[0] = lax::scatter(ct[0], indices, zeros_of(operands[2].type), p.combine, p.mode);
    if (p.combine == Combine::mul) out[0] = lax::scatter(ct[0], indices, operands[2].value, p.combine, p.mode);
  }
  if (operands[2].linear()) {
    out[2] = gather_like(ct[0], indices, p);
    if (set) {
      const Array won = winners(indices, split(ct[0], indices, p), p.mode);
      out[2] = lax::select(won, out[2], lax::full_like(out[2], 0));
    }
  }
  return out;
}

Batch scatter_batch(const BatchArgs& a, const Scatter& p) {
  const Array x = with_batch(a, 0), updates = with_batch(a, 2), &indices = a.in[1];
  if (a.batched[1]) return all_batched({core::bind1(scatter, {x, with_lane_component(indices), updates}, p)});
  // The lanes ride along as the first of the dimensions that are not indexed.
  const int components = static_cast<int>(indices.shape(-1));
  const Array out = core::bind1(
      scatter, {lax::move_axis(x, 0, components), indices, lax::move_axis(updates, 0, indices.rank() - 1)}, p);
  return all_batched({lax::move_axis(out, components, 0)});
}
ShardRule scatter_shard(std::span<const Type> in, const Scatter&) {
  const int k = static_cast<int>(in[1].shape[-1]);
  Factors f;
  std::vector<int> x = f.add(k, Kind::replicate);
  const std::vector<int> rest = f.add(in[0].shape.rank() - k, Kind::pass);
  std::vector<int> updates = f.add(in[1].shape.rank() - 1, Kind::replicate);
  std::vector<int> indices = updates;
  indices.push_back(f.add(Kind::replicate));
  x.insert(x.end(), rest.begin(), rest.end());
  updates.insert(updates.end(), rest.begin(), rest.end());
  f.rule.operands = {x, indices, updates};
  f.rule.results = {x};
  return f.rule;
}
constexpr Rules<Scatter> scatter_rules{
    .name = "scatter",
    .type = scatter_type,
    .jvp = scatter_jvp,
    .transpose = scatter_transpose,
    .batch = scatter_batch,
    .shard = scatter_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive scatter = primitive<scatter_rules>();

std::span<const Primitive* const> structural_rows() {
  static constexpr const Primitive* rows[] = {
      &full,    &iota,          &broadcast_in_dim,     &reshape, &transpose, &slice, &pad,  &concatenate,
      &reverse, &dynamic_slice, &dynamic_update_slice, &gather,  &scatter,   &sort,  &top_k};
  return rows;
}

}  // namespace uni::ops

namespace uni::lax {

Array scatter(const Array& x, const Array& indices, const Array& updates, ops::Combine combine, ops::IndexMode mode) {
  return core::bind1(ops::scatter, {x, indices, updates}, ops::Scatter{combine, mode});
}

}  // namespace uni::lax
