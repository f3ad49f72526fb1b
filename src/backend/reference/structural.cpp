// Making, reshaping and moving elements.
#include <algorithm>

#include "backend/reference/eval.hpp"
#include "ops/structural.hpp"

namespace uni::reference {

namespace {
void eval_full(const Call& c) {
  const ir::Scalar& v = c.params<ops::Full>().value;
  const auto size = static_cast<std::size_t>(itemsize(v.dtype));
  unsigned char bytes[16];
  std::memcpy(bytes, &v.low, 8);
  std::memcpy(bytes + 8, &v.high, 8);
  for (i64 i = 0; i < c.out[0].count(); ++i) std::memcpy(c.out[0].data + static_cast<std::size_t>(i) * size, bytes, size);
}
void eval_iota(const Call& c) {
  const int axis = c.params<ops::Iota>().axis;
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_number<T>) {
      Odometer o(c.out[0].type.shape);
      for (i64 i = 0; i < c.out[0].count(); ++i, o.next()) {
        if constexpr (is_cplx<T>)
          c.out[0].as<T>()[i] = T(static_cast<typename complex_part<T>::type>(o[axis]));
        else
          c.out[0].as<T>()[i] = T(static_cast<Compute<T>>(o[axis]));
      }
    }
  });
}
void eval_broadcast(const Call& c) {
  const auto& p = c.params<ops::BroadcastInDim>();
  const Dims& shape = c.in[0].type.shape;
  const std::vector<i64> step = strides(shape);
  move_elements(c.in[0], c.out[0], [&](const Odometer& o) {
    i64 at = 0;
    for (int d = 0; d < shape.rank(); ++d)
      if (shape[d] != 1) at += o[p.dims[static_cast<std::size_t>(d)]] * step[static_cast<std::size_t>(d)];
    return at;
  });
}
void eval_reshape(const Call& c) {
  std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(c.out[0].type.bytes()));
}
void eval_transpose(const Call& c) {
  const auto& p = c.params<ops::Transpose>();
  const std::vector<i64> step = strides(c.in[0].type.shape);
  move_elements(c.in[0], c.out[0], [&](const Odometer& o) {
    i64 at = 0;
    for (std::size_t d = 0; d < p.permutation.size(); ++d)
      at += o[static_cast<int>(d)] * step[static_cast<std::size_t>(p.permutation[d])];
    return at;
  });
}
void eval_slice(const Call& c) {
  const auto& p = c.params<ops::SliceParams>();
  const std::vector<i64> step = strides(c.in[0].type.shape);
  move_elements(c.in[0], c.out[0], [&](const Odometer& o) {
    i64 at = 0;
    for (int d = 0; d < p.start.rank(); ++d)
      at += (p.start[d] + o[d] * p.stride[d]) * step[static_cast<std::size_t>(d)];
    return at;
  });
}
void eval_pad(const Call& c) {
  const auto& p = c.params<ops::Pad>();
  const auto size = static_cast<std::size_t>(itemsize(c.out[0].type.dtype));
  for (i64 i = 0; i < c.out[0].count(); ++i)
    std::memcpy(c.out[0].data + static_cast<std::size_t>(i) * size, c.in[1].data, size);
  const std::vector<i64> step = strides(c.out[0].type.shape);
  Odometer o(c.in[0].type.shape);
  for (i64 i = 0; i < c.in[0].count(); ++i, o.next()) {
    i64 at = 0;
    bool inside = true;
    for (int d = 0; d < p.low.rank(); ++d) {
      const i64 k = p.low[d] + o[d] * (p.interior[d] + 1);
      inside = inside && k >= 0 && k < c.out[0].type.shape[d];
      at += k * step[static_cast<std::size_t>(d)];
    }
    if (inside)
      std::memcpy(c.out[0].data + static_cast<std::size_t>(at) * size, c.in[0].data + static_cast<std::size_t>(i) * size, size);
  }
}
// Writes a block into out at an offset.
void put(const Value& block, const Value& out, const std::vector<i64>& start) {
  const auto size = static_cast<std::size_t>(itemsize(out.type.dtype));
  const std::vector<i64> step = strides(out.type.shape);
  Odometer o(block.type.shape);
  for (i64 i = 0; i < block.count(); ++i, o.next()) {
    i64 at = 0;
    for (std::size_t d = 0; d < start.size(); ++d) at += (start[d] + o[static_cast<int>(d)]) * step[d];
    std::memcpy(out.data + static_cast<std::size_t>(at) * size, block.data + static_cast<std::size_t>(i) * size, size);
  }
}
void eval_concatenate(const Call& c) {
  const int axis = c.params<ops::Concatenate>().axis;
  std::vector<i64> start(static_cast<std::size_t>(c.out[0].type.shape.rank()), 0);
  for (const Value& part : c.in) {
    put(part, c.out[0], start);
    start[static_cast<std::size_t>(axis)] += part.type.shape[axis];
  }
}
void eval_reverse(const Call& c) {
  const auto& p = c.params<ops::Reverse>();
  const Dims& shape = c.in[0].type.shape;
  const std::vector<i64> step = strides(shape);
  move_elements(c.in[0], c.out[0], [&](const Odometer& o) {
    i64 at = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      const bool back = std::find(p.axes.begin(), p.axes.end(), d) != p.axes.end();
      at += (back ? shape[d] - 1 - o[d] : o[d]) * step[static_cast<std::size_t>(d)];
    }
    return at;
  });
}
i64 scalar(const Value& v) {
  i64 out = 0;
  with_dtype(v.type.dtype, [&]<class T>(T) {
    if constexpr (is_int<T>) {
      const T value = *v.as<T>();
      out = std::is_unsigned_v<T> && static_cast<std::uint64_t>(value) > (std::uint64_t{1} << 62) ? i64{1} << 62
                                                                                                 : static_cast<i64>(value);
    }
  });
  return out;
}
std::vector<i64> clamped_starts(std::span<const Value> starts, const Dims& shape, const Dims& sizes) {
  std::vector<i64> out;
  for (int d = 0; d < shape.rank(); ++d)
    out.push_back(std::clamp<i64>(scalar(starts[static_cast<std::size_t>(d)]), 0, shape[d] - sizes[d]));
  return out;
}
void eval_dynamic_slice(const Call& c) {
  const Dims& shape = c.in[0].type.shape;
  const std::vector<i64> start = clamped_starts(c.in.subspan(1), shape, c.out[0].type.shape);
  const std::vector<i64> step = strides(shape);
  move_elements(c.in[0], c.out[0], [&](const Odometer& o) {
    i64 at = 0;
    for (std::size_t d = 0; d < start.size(); ++d) at += (start[d] + o[static_cast<int>(d)]) * step[d];
    return at;
  });
}
void eval_dynamic_update_slice(const Call& c) {
  eval_reshape(c);  // a copy
  put(c.in[1], c.out[0], clamped_starts(c.in.subspan(2), c.in[0].type.shape, c.in[1].type.shape));
}

constexpr Evaluator table[] = {{&ops::full, eval_full},
                               {&ops::iota, eval_iota},
                               {&ops::broadcast_in_dim, eval_broadcast},
                               {&ops::reshape, eval_reshape},
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
