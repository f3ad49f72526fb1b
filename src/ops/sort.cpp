#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
Types sort_type(std::span<const Type> in, const Sort& p) {
  if (in.empty()) throw ShapeError("sort: takes at least one operand, got 0");
  if (p.keys < 1 || at(p.keys) > in.size())
    throw ShapeError(cat("sort: ", p.keys, " keys for ", in.size(), " operands"));
  check_axis(sort, p.axis, in[0]);
  Types out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].shape != in[0].shape)
      throw ShapeError(
          cat("sort: operands ", ir::to_string(in[0]), " and ", ir::to_string(in[i]), " have different shapes"));
    if (i < at(p.keys)) check_dtype(sort, in[i], takes::ordered);
    out.push_back(Type{in[i].dtype, in[i].shape, in[i].weak, {}});
  }
  return out;
}

// Index components that pick, along `axis`, the entries named by `order` (of x's shape).
Array along_axis(const Array& order, int axis) {
  Dims column = order.shape();
  column.push_back(1);
  Arrays components;
  for (int i = 0; i < order.rank(); ++i)
    components.push_back(i == axis ? lax::reshape(order, column) : lax::iota(order.dtype(), column, i));
  return lax::concatenate(components, order.rank());
}
// Tangents follow the sorting permutation.
Jvp sort_jvp(std::span<const Array> x, std::span<const Array> t, const Sort& p) {
  Arrays operands(x.begin(), x.end());
  operands.push_back(lax::iota(Dtype::i32, x[0].shape(), p.axis));
  Arrays out = core::bind(sort, operands, p);
  const Array order = std::move(out.back());
  out.pop_back();
  Arrays tangents;
  Array indices;
  for (const Array& tangent : t) {
    if (is_zero(tangent)) {
      tangents.emplace_back();
      continue;
    }
    if (!indices.defined()) indices = along_axis(order, p.axis);
    tangents.push_back(lax::gather(tangent, indices));
  }
  return {std::move(out), std::move(tangents)};
}
constexpr Rules<Sort> sort_rules{
    .name = "sort",
    .type = sort_type,
    .jvp = sort_jvp,
    .transpose = not_linear_row,
    .batch =
        [](const BatchArgs& a, const Sort& p) {
          return batch_pointwise(sort, a, Sort{p.axis + 1, p.keys});
        },
    .shard = [](std::span<const Type> in,
                const Sort& p) { return same_shape_rule(in.size(), in.size(), in[0].shape.rank(), {p.axis}); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Types top_k_type(std::span<const Type> in, const TopK& p) {
  check_operand_count(top_k, in, 1);
  check_dtype(top_k, in[0], takes::ordered);
  if (in[0].shape.empty()) throw ShapeError(cat("top_k: ", ir::to_string(in[0]), " has no axis"));
  if (p.k < 0 || p.k > in[0].shape[-1])
    throw ShapeError(cat("top_k: ", p.k, " of the ", in[0].shape[-1], " elements of ", ir::to_string(in[0])));
  Dims shape = in[0].shape;
  shape[-1] = p.k;
  return {Type{in[0].dtype, shape, in[0].weak, {}}, Type{Dtype::i32, shape, false, {}}};
}
ShardRule top_k_shard(std::span<const Type> in, const TopK&) {
  const int last = in[0].shape.rank() - 1;
  ShardRule rule = same_shape_rule(1, 2, last + 1, {last});
  rule.kinds.push_back(ShardRule::Kind::replicate);
  for (std::vector<int>& result : rule.results) result[at(last)] = last + 1;
  return rule;
}
constexpr Rules<TopK> top_k_rules{
    .name = "top_k",
    .type = top_k_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const TopK& p) -> Jvp {
      Arrays out = core::bind(top_k, x, p);
      if (is_zero(t[0])) return {std::move(out), Arrays(2)};
      Array tangent = lax::gather(t[0], along_axis(out[1], x[0].rank() - 1));
      return {std::move(out), {std::move(tangent), Array()}};
    },
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const TopK& p) { return all_batched(core::bind(top_k, a.in, p)); },
    .shard = top_k_shard,
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive top_k = primitive<top_k_rules>();
constinit const Primitive sort = primitive<sort_rules>();

}  // namespace uni::ops

namespace uni::lax {

Arrays sort(std::span<const Array> operands, int axis, int keys) {
  return core::bind(ops::sort, operands, ops::Sort{axis, keys});
}
Arrays top_k(const Array& x, i64 k) {
  const Array operands[] = {x};
  return core::bind(ops::top_k, operands, ops::TopK{k});
}

}  // namespace uni::lax
