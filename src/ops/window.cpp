// Reductions over sliding windows.
#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
Dims window_shape(const ir::Op& op, const Type& x, const Window& p) {
  check_entries(op, "size", at(p.size.rank()), x);
  check_entries(op, "stride", at(p.stride.rank()), x);
  check_entries(op, "low", at(p.low.rank()), x);
  check_entries(op, "high", at(p.high.rank()), x);
  Dims shape = x.shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (p.size[i] < 1 || p.stride[i] < 1)
      throw ShapeError(
          cat(op.name, ": size ", p.size[i], " and stride ", p.stride[i], " of axis ", i, " should be at least 1"));
    if (p.low[i] < 0 || p.high[i] < 0)
      throw ShapeError(cat(op.name, ": padding ", p.low[i], ", ", p.high[i], " of axis ", i, " is negative"));
    const i64 room = padded_size(shape[i], p.low[i], p.high[i]) - p.size[i];
    shape[i] = room < 0 ? 0 : room / p.stride[i] + 1;
  }
  check_shape(op, shape);
  return shape;
}
Window with_lanes(const Window& p) {
  return {prepended(1, p.size), prepended(1, p.stride), prepended(0, p.low), prepended(0, p.high)};
}
template <const auto& Op>
Batch window_batch(const BatchArgs& a, const Window& p) {
  return batch_pointwise(Op, a, with_lanes(p));
}
ShardRule window_shard(std::span<const Type> in, const Type& out, const Window& p) {
  std::vector<int> windowed;
  for (int i = 0; i < out.shape.rank(); ++i)
    if (p.size[i] != 1 || p.stride[i] != 1 || p.low[i] != 0 || p.high[i] != 0) windowed.push_back(i);
  return moving_rule(in, out, windowed);
}

Types sum_type(std::span<const Type> in, const Window& p) {
  check_operand_count(reduce_window_sum, in, 1);
  check_dtype(reduce_window_sum, in[0], takes::numbers);
  return {Type{in[0].dtype, window_shape(reduce_window_sum, in[0], p), false, {}}};
}
Types max_type(std::span<const Type> in, const Window& p) {
  check_operand_count(reduce_window_max, in, 1);
  check_dtype(reduce_window_max, in[0], takes::ordered);
  return {Type{in[0].dtype, window_shape(reduce_window_max, in[0], p), false, {}}};
}
// Windows side by side: each element takes its window's cotangent.
Array spread_windows(const Array& ct, const Dims& shape, const Window& p) {
  const int rank = shape.rank();
  Dims wide, merged, low = p.low, high = p.high;
  std::vector<int> dims;
  bool covered = true;  // all of x, and nothing else
  for (int i = 0; i < rank; ++i) {
    dims.push_back(wide.rank());
    wide.push_back(ct.shape()[i]);
    if (p.size[i] > 1) wide.push_back(p.size[i]);
    merged.push_back(ct.shape()[i] * p.size[i]);
    low[i] = -p.low[i];
    high[i] = shape[i] + p.low[i] - merged[i];
    covered = covered && low[i] == 0 && high[i] == 0;
  }
  const Array x = lax::reshape(lax::broadcast_in_dim(ct, wide, dims), merged);
  return covered ? x : lax::pad(x, zeros_of(Type{ct.dtype(), {}, false, {}}), low, high, repeated(0, rank));
}
// Every element collects the windows that cover it.
Arrays sum_transpose(std::span<const Array> ct, std::span<const Operand> operands, const Window& p) {
  const Dims& shape = operands[0].type.shape;
  const int rank = shape.rank();
  if (p.size == p.stride) return {spread_windows(ct[0], shape, p)};
  Dims low = p.low, high = p.high, interior = p.stride;
  for (int i = 0; i < rank; ++i) {
    low[i] = p.size[i] - 1 - p.low[i];
    high[i] = shape[i] + p.size[i] - 1 - low[i] - dilated_size(ct[0].shape()[i], p.stride[i]);
    interior[i] -= 1;
  }
  const Array spread = lax::pad(ct[0], zeros_of(Type{ct[0].dtype(), {}, false, {}}), low, high, interior);
  const Dims none = repeated(0, rank);
  return {lax::reduce_window_sum(spread, Window{p.size, repeated(1, rank), none, none})};
}
constexpr Rules<Window> reduce_window_sum_rules{
    .name = "reduce_window_sum",
    .type = sum_type,
    .jvp = linear_jvp<reduce_window_sum, Window>,
    .transpose = sum_transpose,
    .batch = window_batch<reduce_window_sum>,
    .shard = [](std::span<const Type> in, const Window& p) { return window_shard(in, sum_type(in, p)[0], p); },
    .expand = by_backends,
};

constexpr Rules<Window> reduce_window_max_rules{
    .name = "reduce_window_max",
    .type = max_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const Window& p) -> Jvp {
      return {core::bind(reduce_window_max, x, p),
              {is_zero(t[0]) ? Array() : core::bind1(window_gather_max, {t[0], x[0]}, p)}};
    },
    .transpose = not_linear_row,
    .batch = window_batch<reduce_window_max>,
    .shard = [](std::span<const Type> in, const Window& p) { return window_shard(in, max_type(in, p)[0], p); },
    .expand = by_backends,
};

// `selected` has one entry per element of x or per window.
Types select_type(const ir::Op& op, std::span<const Type> in, const Window& p, bool gathers) {
  check_operand_count(op, in, 2);
  check_same_dtype(op, in);
  check_dtype(op, in[1], gathers ? takes::ordered : takes::reals);  // scattered ones are summed
  const Dims windows = window_shape(op, in[1], p);
  const Dims& expected = gathers ? in[1].shape : windows;
  if (in[0].shape != expected)
    throw ShapeError(cat(op.name, ": operand ", ir::to_string(in[0]), " should have shape ", expected, " for ",
                         ir::to_string(in[1])));
  return {Type{in[0].dtype, gathers ? windows : in[1].shape, false, {}}};
}
constexpr Rules<Window> window_gather_max_rules{
    .name = "window_gather_max",
    .type = [](std::span<const Type> in, const Window& p) { return select_type(window_gather_max, in, p, true); },
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const Window& p) { return linear_in_first_jvp(window_gather_max, x, t, p); },
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Window& p) -> Arrays {
      require_known(window_gather_max, operands, 1);
      return {core::bind1(window_scatter_max, {ct[0], operands[1].value}, p), Array()};
    },
    .batch = window_batch<window_gather_max>,
    .shard = [](std::span<const Type> in,
                const Window& p) { return window_shard(in, select_type(window_gather_max, in, p, true)[0], p); },
    .expand = by_backends,
};
constexpr Rules<Window> window_scatter_max_rules{
    .name = "window_scatter_max",
    .type = [](std::span<const Type> in, const Window& p) { return select_type(window_scatter_max, in, p, false); },
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const Window& p) { return linear_in_first_jvp(window_scatter_max, x, t, p); },
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Window& p) -> Arrays {
      require_known(window_scatter_max, operands, 1);
      return {core::bind1(window_gather_max, {ct[0], operands[1].value}, p), Array()};
    },
    .batch = window_batch<window_scatter_max>,
    .shard = [](std::span<const Type> in,
                const Window& p) { return window_shard(in, select_type(window_scatter_max, in, p, false)[0], p); },
    .expand = by_backends,
};
}  // namespace

constinit const Primitive reduce_window_sum = primitive<reduce_window_sum_rules>();
constinit const Primitive reduce_window_max = primitive<reduce_window_max_rules>();
constinit const Primitive window_gather_max = primitive<window_gather_max_rules>();
constinit const Primitive window_scatter_max = primitive<window_scatter_max_rules>();

}  // namespace uni::ops

namespace uni::lax {

Array reduce_window_sum(const Array& x, const ops::Window& window) {
  return core::bind1(ops::reduce_window_sum, {x}, window);
}
Array reduce_window_max(const Array& x, const ops::Window& window) {
  return core::bind1(ops::reduce_window_max, {x}, window);
}

}  // namespace uni::lax
