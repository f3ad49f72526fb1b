// Making, reshaping and moving elements.
#include <algorithm>

#include "backend/reference/eval.hpp"
#include "ops/structural.hpp"

namespace uni::reference {

namespace {
// out[position] = in[start + the sum of position[d] * step[d]].
void take(const Call& c, i64 start, const Steps& step) {
  walk(c.out[0].shape(), start, step, [&](i64 i, i64 from) { copy_element(c.in[0], from, c.out[0], i); });
}
// Writes a block into `out` at a position.
void put(const Value& block, const Value& out, const std::vector<i64>& position) {
  const Steps step = strides(out.shape());
  i64 start = 0;
  for (std::size_t d = 0; d < step.size(); ++d) start += position[d] * step[d];
  walk(block.shape(), start, step, [&](i64 i, i64 to) { copy_element(block, i, out, to); });
}

void eval_full(const Call& c) {
  const ir::Scalar& v = c.params<ops::Full>().value;
  const std::uint64_t words[2] = {v.low, v.high};
  const auto size = at(itemsize(v.dtype));
  for (i64 i = 0; i < c.out[0].count(); ++i) std::memcpy(c.out[0].data + at(i) * size, words, size);
}
void eval_iota(const Call& c) {
  const int axis = c.params<ops::Iota>().axis;
  with_dtype(c.eqn, c.out[0].type.dtype, [&]<Number T>(T) {
    Steps step(at(c.out[0].shape().rank()), 0);
    step[at(axis)] = 1;
    walk(c.out[0].shape(), 0, step, [&](i64 i, i64 count) {
      if constexpr (ComplexNumber<T>)
        c.out[0].as<T>()[i] = T(static_cast<typename T::value_type>(count));
      else
        c.out[0].as<T>()[i] = T(static_cast<Compute<T>>(count));
    });
  });
}
void eval_broadcast(const Call& c) {
  const auto& dims = c.params<ops::BroadcastInDim>().dims;
  const Dims& shape = c.in[0].shape();
  const Steps from = strides(shape);
  Steps step(at(c.out[0].shape().rank()), 0);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (shape[static_cast<int>(d)] != 1) step[at(dims[d])] = from[d];
  take(c, 0, step);
}
void eval_transpose(const Call& c) {
  const Steps from = strides(c.in[0].shape());
  Steps step;
  for (int d : c.params<ops::Transpose>().permutation) step.push_back(from[at(d)]);
  take(c, 0, step);
}
void eval_slice(const Call& c) {
  const auto& p = c.params<ops::SliceParams>();
  Steps step = strides(c.in[0].shape());
  i64 start = 0;
  for (int d = 0; d < p.start.rank(); ++d) {
    start += p.start[d] * step[at(d)];
    step[at(d)] *= p.stride[d];
  }
  take(c, start, step);
}
void eval_reverse(const Call& c) {
  Steps step = strides(c.in[0].shape());
  i64 start = 0;
  for (int d : c.params<ops::Reverse>().axes) {
    start += (c.in[0].shape()[d] - 1) * step[at(d)];
    step[at(d)] *= -1;
  }
  take(c, start, step);
}
void eval_pad(const Call& c) {
  const auto& p = c.params<ops::Pad>();
  for (i64 i = 0; i < c.out[0].count(); ++i) copy_element(c.in[1], 0, c.out[0], i);
  const Dims& shape = c.out[0].shape();
  const Steps step = strides(shape);
  Odometer o(c.in[0].shape());
  for (i64 i = 0; i < c.in[0].count(); ++i, o.next()) {
    i64 to = 0;
    bool inside = true;
    for (int d = 0; d < shape.rank(); ++d) {
      const i64 k = p.low[d] + o[d] * (p.interior[d] + 1);
      inside = inside && k >= 0 && k < shape[d];
      to += k * step[at(d)];
    }
    if (inside) copy_element(c.in[0], i, c.out[0], to);
  }
}
void eval_concatenate(const Call& c) {
  const int axis = c.params<ops::Concatenate>().axis;
  std::vector<i64> position(at(c.out[0].shape().rank()), 0);
  for (const Value& part : c.in) {
    put(part, c.out[0], position);
    position[at(axis)] += part.shape()[axis];
  }
}

// Starts, moved so that a block of these sizes fits. A start may be u64 and too large for i64.
std::vector<i64> clamped_starts(const Call& c, std::span<const Value> starts, const Dims& shape, const Dims& sizes) {
  std::vector<i64> out;
  for (int d = 0; d < shape.rank(); ++d) {
    const Value& start = starts[at(d)];
    const i64 last = shape[d] - sizes[d];
    with_dtype(c.eqn, start.type.dtype, [&]<Integer T>(T) {
      const T value = *start.as<T>();
      out.push_back(value < T{} ? 0
                                : static_cast<i64>(std::min<std::uint64_t>(value, static_cast<std::uint64_t>(last))));
    });
  }
  return out;
}
void eval_dynamic_slice(const Call& c) {
  const Steps step = strides(c.in[0].shape());
  const auto starts = clamped_starts(c, c.in.subspan(1), c.in[0].shape(), c.out[0].shape());
  i64 start = 0;
  for (std::size_t d = 0; d < step.size(); ++d) start += starts[d] * step[d];
  take(c, start, step);
}
void eval_dynamic_update_slice(const Call& c) {
  copy_all(c.in[0], c.out[0]);
  put(c.in[1], c.out[0], clamped_starts(c, c.in.subspan(2), c.in[0].shape(), c.in[1].shape()));
}

constexpr Evaluator table[] = {{&ops::full, eval_full},
                               {&ops::iota, eval_iota},
                               {&ops::broadcast_in_dim, eval_broadcast},
                               {&ops::reshape, [](const Call& c) { copy_all(c.in[0], c.out[0]); }},
                               {&ops::transpose, eval_transpose},
                               {&ops::slice, eval_slice},
                               {&ops::pad, eval_pad},
                               {&ops::concatenate, eval_concatenate},
                               {&ops::reverse, eval_reverse},
                               {&ops::dynamic_slice, eval_dynamic_slice},
                               {&ops::dynamic_update_slice, eval_dynamic_update_slice}};
}  // namespace

std::span<const Evaluator> structural_evaluators() { return table; }

}  // namespace uni::reference
