// Running sums.
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

namespace {
constexpr Rules<Cumulative> cumsum_rules{
    .name = "cumsum",
    .type = [](std::span<const Type> in, const Cumulative& p) -> Types {
      check_operand_count(cumsum, in, 1);
      check_axis(cumsum, p.axis, in[0]);
      check_dtype(cumsum, in[0], takes::numbers);
      return {Type{in[0].dtype, in[0].shape, false, {}}};
    },
    .jvp = linear_jvp<cumsum, Cumulative>,
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const Cumulative& p) -> Arrays {
      return core::bind(cumsum, ct, Cumulative{p.axis, !p.reverse});
    },
    .batch =
        [](const BatchArgs& a, const Cumulative& p) {
          return all_batched(core::bind(cumsum, a.in, Cumulative{p.axis + 1, p.reverse}));
        },
    .shard = [](std::span<const Type> in,
                const Cumulative& p) { return same_shape_rule(1, 1, in[0].shape.rank(), {p.axis}); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive cumsum = primitive<cumsum_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array cumsum(const Array& x, int axis, bool reverse) {
  return core::bind1(ops::cumsum, {x}, ops::Cumulative{axis, reverse});
}

}  // namespace uni::lax
