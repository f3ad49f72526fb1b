#include "ops/random.hpp"

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/makers.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
// The dimensions of the key pass through; those of the drawn shape are whole on every device, because the bits of an
// element depend on its global index.
ShardRule draw_shard(const Type& key, const Dims& shape) {
  ShardRule rule = shard_pointwise(std::span(&key, 1));
  for (int d = 0; d < shape.rank(); ++d) {
    rule.results[0].push_back(key.shape.rank() + d);
    rule.kinds.push_back(ShardRule::Kind::replicate);
  }
  return rule;
}

Dims drawn_shape(const Primitive& op, std::span<const Type> in, const Dims& shape) {
  check_operand_count(op, in, 1);
  check_dtype(op, in[0], Takes::key);
  const Dims all = joined(in[0].shape, shape);
  check_shape(op, all);
  return all;
}

// Of one operand whose leading dimensions are a batch already.
template <const Primitive& Op, class P>
Batch leading_batch(const BatchArgs& args, const P& p) {
  return all_batched(core::bind(Op, args.in, Params(p)));
}

Types random_bits_type(std::span<const Type> in, const RandomBits& p) {
  const Dims shape = drawn_shape(random_bits, in, p.shape);
  switch (p.width) {
    case 8:
      return {{Dtype::u8, shape, false, {}}};
    case 16:
      return {{Dtype::u16, shape, false, {}}};
    case 32:
      return {{Dtype::u32, shape, false, {}}};
    case 64:
      return {{Dtype::u64, shape, false, {}}};
    default:
      throw DtypeError(cat("random_bits: width is 8, 16, 32 or 64, not ", p.width));
  }
}
constexpr Rules<RandomBits> random_bits_rules{
    .name = "random_bits",
    .type = random_bits_type,
    .jvp = no_tangents,
    .transpose = no_tangents,
    .batch = leading_batch<random_bits, RandomBits>,
    .shard = [](std::span<const Type> in, const RandomBits& p) { return draw_shard(in[0], p.shape); },
    .expand = by_backends};

constexpr Rules<RandomSplit> random_split_rules{
    .name = "random_split",
    .type = [](std::span<const Type> in, const RandomSplit& p) -> Types {
      return {{Dtype::key, drawn_shape(random_split, in, p.shape), false, {}}};
    },
    .jvp = no_tangents,
    .transpose = no_tangents,
    .batch = leading_batch<random_split, RandomSplit>,
    .shard = [](std::span<const Type> in, const RandomSplit& p) { return draw_shard(in[0], p.shape); },
    .expand = by_backends};

Types random_fold_in_type(std::span<const Type> in, const NoParams&) {
  check_operand_count(random_fold_in, in, 2);
  check_dtype(random_fold_in, in[0], Takes::key);
  if (in[1].dtype != Dtype::u32) throw DtypeError(cat("random_fold_in: the data is u32, not ", ir::to_string(in[1])));
  check_same_shape(random_fold_in, in);
  return {{Dtype::key, in[0].shape, false, {}}};
}
constexpr Rules<NoParams> random_fold_in_rules{.name = "random_fold_in",
                                               .type = random_fold_in_type,
                                               .jvp = no_tangents,
                                               .transpose = no_tangents,
                                               .batch = pointwise_batch<random_fold_in>,
                                               .shard = pointwise_shard<>,
                                               .expand = by_backends};

Types key_wrap_type(std::span<const Type> in, const NoParams&) {
  check_operand_count(key_wrap, in, 1);
  if (in[0].dtype != Dtype::u32) throw DtypeError(cat("key_wrap: takes u32, not ", ir::to_string(in[0])));
  Dims shape = in[0].shape;
  if (shape.rank() == 0 || shape[-1] != 2)
    throw ShapeError(cat("key_wrap: ", ir::to_string(in[0]), " has no last dimension of the two words of a key"));
  shape.erase(-1);
  return {{Dtype::key, shape, false, {}}};
}
// The two words of a key lie on one device.
ShardRule words_shard(const Type& key, bool wrap) {
  ShardRule rule = shard_pointwise(std::span(&key, 1));
  (wrap ? rule.operands : rule.results)[0].push_back(key.shape.rank());
  rule.kinds.push_back(ShardRule::Kind::replicate);
  return rule;
}
constexpr Rules<NoParams> key_wrap_rules{
    .name = "key_wrap",
    .type = key_wrap_type,
    .jvp = no_tangents,
    .transpose = no_tangents,
    .batch = leading_batch<key_wrap, NoParams>,
    .shard = [](std::span<const Type> in, const NoParams& p) { return words_shard(key_wrap_type(in, p)[0], true); },
    .expand = by_backends};

constexpr Rules<NoParams> key_unwrap_rules{
    .name = "key_unwrap",
    .type = [](std::span<const Type> in, const NoParams&) -> Types {
      return {{Dtype::u32, drawn_shape(key_unwrap, in, {2}), false, {}}};
    },
    .jvp = no_tangents,
    .transpose = no_tangents,
    .batch = leading_batch<key_unwrap, NoParams>,
    .shard = [](std::span<const Type> in, const NoParams&) { return words_shard(in[0], false); },
    .expand = by_backends};
}  // namespace

constinit const Primitive random_bits = primitive<random_bits_rules>();
constinit const Primitive random_split = primitive<random_split_rules>();
constinit const Primitive random_fold_in = primitive<random_fold_in_rules>();
constinit const Primitive key_wrap = primitive<key_wrap_rules>();
constinit const Primitive key_unwrap = primitive<key_unwrap_rules>();

std::span<const Primitive* const> random_rows() {
  static constexpr const Primitive* rows[] = {&random_bits, &random_split, &random_fold_in, &key_wrap, &key_unwrap};
  return rows;
}

}  // namespace uni::ops

namespace uni::lax {

Array random_bits(const Array& key, int width, const Dims& shape) {
  return core::bind1(ops::random_bits, {key}, ops::RandomBits{width, shape});
}
Array random_split(const Array& key, const Dims& shape) {
  return core::bind1(ops::random_split, {key}, ops::RandomSplit{shape});
}
Array random_fold_in(const Array& key, const Array& data) { return core::bind1(ops::random_fold_in, {key, data}); }
Array key_wrap(const Array& words) { return core::bind1(ops::key_wrap, {words}); }
Array key_unwrap(const Array& key) { return core::bind1(ops::key_unwrap, {key}); }

}  // namespace uni::lax
