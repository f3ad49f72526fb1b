// What makes, reshapes and moves elements; random keys.
#include <algorithm>

#include "builder.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"

namespace uni::random_programs {

namespace {
ir::Var of_rank(Builder& b, int least, int most = 4) {
  const auto fits = [&](const ir::Type& t) { return t.shape.rank() >= least && t.shape.rank() <= most; };
  const ir::Var v = b.random.chance(15) ? -1 : b.find(fits);
  return v >= 0 ? v : b.input(b.dtype(), b.shape(static_cast<int>(b.random.number(std::max(least, 1), most))));
}

bool full(Builder& b, const ir::Op& op) {
  const Dtype d = b.dtype();
  const ir::Scalar value = is_inexact(d) ? ir::Scalar::of_double(d, 4 * b.random.unit() - 2)
                                         : ir::Scalar::of_int(d, b.random.number(0, is_bool(d) ? 1 : 100));
  const Dims shape = b.shape(static_cast<int>(b.random.number(0, 3)));
  return b.add(op, {}, ops::Full{value, shape, b.random.chance(20)}) >= 0;
}
bool iota(Builder& b, const ir::Op& op) {
  const Dims shape = b.shape(static_cast<int>(b.random.number(1, 3)));
  if (shape.empty()) return false;
  return b.add(op, {}, ops::Iota{b.dtype(), shape, static_cast<int>(b.random.number(0, shape.rank() - 1))}) >= 0;
}
bool broadcast_in_dim(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0, 3);
  ops::BroadcastInDim p;
  const int rank = b.type(x).shape.rank();
  for (int d = 0; d <= rank; ++d) {
    while (p.shape.rank() < 4 && b.random.chance(30)) p.shape.push_back(b.size());
    if (d == rank) break;
    p.dims.push_back(p.shape.rank());
    const i64 size = b.type(x).shape[d];
    p.shape.push_back(size == 1 && b.random.chance(60) ? b.size() : size);
  }
  return b.add(op, {x}, p) >= 0;
}
bool reshape(Builder& b, const ir::Op& op) {
  const ir::Var x = b.any();
  Dims shape = b.type(x).shape;
  for (i64 n = b.random.number(1, 3); n > 0; --n) {
    const int d = static_cast<int>(b.random.number(0, std::max(0, shape.rank() - 1)));
    const i64 part = b.random.number(2, 8);
    if (b.random.chance(25)) {
      shape.insert(static_cast<int>(b.random.number(0, shape.rank())), 1);
    } else if (shape.empty()) {
      continue;
    } else if (shape[d] == 1) {
      shape.erase(d);
    } else if (shape[d] % part == 0 && shape.rank() < 4) {
      shape[d] /= part;
      shape.insert(d, part);
    } else if (d + 1 < shape.rank()) {
      shape[d] *= shape[d + 1];
      shape.erase(d + 1);
    }
  }
  return b.add(op, {x}, ops::Reshape{shape}) >= 0;
}
bool transpose(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  return b.add(op, {x}, ops::Transpose{b.permutation(b.type(x).shape.rank())}) >= 0;
}
bool slice(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  ops::SliceParams p;
  for (i64 size : b.type(x).shape) {
    const bool whole = b.random.chance(40);
    p.start.push_back(whole ? 0 : b.random.number(0, std::min<i64>(size, 3)));
    p.limit.push_back(whole ? size : b.random.number(std::max(p.start[-1], size - 3), size));
    p.stride.push_back(b.random.chance(70) ? 1 : b.random.number(1, 4));
  }
  return b.add(op, {x}, p) >= 0;
}
bool pad(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  ops::Pad p;
  for (int d = 0; d < b.type(x).shape.rank(); ++d) {
    p.low.push_back(b.random.chance(50) ? 0 : b.random.number(-2, 3));
    p.high.push_back(b.random.chance(50) ? 0 : b.random.number(-2, 3));
    p.interior.push_back(b.random.chance(70) ? 0 : b.random.number(0, 2));
  }
  return b.add(op, {x, b.of(b.type(x).dtype, {})}, p) >= 0;
}
bool concatenate(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 1);
  const int axis = static_cast<int>(b.random.number(0, b.type(x).shape.rank() - 1));
  std::vector<ir::Var> parts{x};
  for (i64 n = b.random.number(0, 3); n > 0; --n) {
    Dims shape = b.type(x).shape;
    if (b.random.chance(50)) shape[axis] = b.size();
    parts.push_back(b.of(b.type(x).dtype, shape));
  }
  std::rotate(parts.begin(), parts.begin() + b.random.number(0, static_cast<i64>(parts.size()) - 1), parts.end());
  return b.add(op, parts, ops::Concatenate{axis}) >= 0;
}
bool reverse(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  return b.add(op, {x}, ops::Reverse{b.some_axes(b.type(x).shape.rank())}) >= 0;
}

constexpr Dtype index_dtypes[] = {Dtype::i32, Dtype::i32, Dtype::i64};
std::vector<ir::Var> with_starts(Builder& b, std::vector<ir::Var> operands, int rank) {
  const Dtype d = b.random.chance(20) ? Dtype::u8 : b.random.of(index_dtypes);
  for (int k = 0; k < rank; ++k) operands.push_back(b.of(d, {}));
  return operands;
}
Dims smaller(Builder& b, const Dims& shape) {
  Dims out;
  for (i64 size : shape) out.push_back(b.random.chance(40) ? size : b.random.number(0, size));
  return out;
}
bool dynamic_slice(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  const Dims sizes = smaller(b, b.type(x).shape);
  return b.add(op, with_starts(b, {x}, sizes.rank()), ops::DynamicSlice{sizes}) >= 0;
}
bool dynamic_update_slice(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 0);
  const Dims shape = b.type(x).shape;
  const ir::Var update = b.of(b.type(x).dtype, smaller(b, shape));
  return b.add(op, with_starts(b, {x, update}, shape.rank())) >= 0;
}

struct Indexed {
  ir::Var x, indices;
  Dims picked;  // [batch, rest]
};
Indexed indexed(Builder& b) {
  Indexed out{of_rank(b, 0), -1, b.shape(static_cast<int>(b.random.number(0, 2)))};
  const Dims shape = b.type(out.x).shape;
  const int k = static_cast<int>(b.random.number(0, std::min(shape.rank(), 2)));
  Dims indices = out.picked;
  indices.push_back(k);
  for (int d = k; d < shape.rank(); ++d) out.picked.push_back(shape[d]);
  out.indices = b.of(b.random.of(index_dtypes), indices);
  return out;
}
bool gather(Builder& b, const ir::Op& op) {
  const Indexed i = indexed(b);
  const Dtype d = b.type(i.x).dtype;
  const auto mode = static_cast<ops::IndexMode>(b.random.number(0, 1));
  return b.add(op, {i.x, i.indices}, ops::Gather{mode, ir::Scalar::of_int(d, b.random.number(0, 1))}) >= 0;
}
bool scatter(Builder& b, const ir::Op& op) {
  const Indexed i = indexed(b);
  const ops::Scatter p{static_cast<ops::Combine>(b.random.number(0, 4)),
                       static_cast<ops::IndexMode>(b.random.number(0, 1))};
  const Dtype d = b.type(i.x).dtype;
  if (!b.accepts(op, {b.type(i.x), b.type(i.indices), {d, i.picked, false, {}}}, p)) return false;
  return b.add(op, {i.x, i.indices, b.of(d, i.picked)}, p) >= 0;
}
bool sort(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 1);
  std::vector<ir::Var> operands{x};
  for (i64 n = b.random.number(0, 2); n > 0; --n) operands.push_back(b.of(b.dtype(), b.type(x).shape));
  const int axis = static_cast<int>(b.random.number(0, b.type(x).shape.rank() - 1));
  return b.add(op, operands,
               ops::Sort{axis, static_cast<int>(b.random.number(1, static_cast<i64>(operands.size())))}) >= 0;
}
bool top_k(Builder& b, const ir::Op& op) {
  const ir::Var x = of_rank(b, 1);
  return b.add(op, {x}, ops::TopK{b.random.number(0, b.type(x).shape[-1])}) >= 0;
}

ir::Var keys(Builder& b) { return b.of(Dtype::key, b.shape(static_cast<int>(b.random.number(0, 2)))); }
bool random_bits(Builder& b, const ir::Op& op) {
  constexpr int widths[] = {8, 16, 32, 64};
  return b.add(op, {keys(b)}, ops::RandomBits{b.random.of(widths), b.shape(static_cast<int>(b.random.number(0, 2)))}) >=
         0;
}
bool random_split(Builder& b, const ir::Op& op) {
  return b.add(op, {keys(b)}, ops::RandomSplit{b.shape(static_cast<int>(b.random.number(0, 2)))}) >= 0;
}
bool random_fold_in(Builder& b, const ir::Op& op) {
  const ir::Var k = keys(b);
  return b.add(op, {k, b.of(Dtype::u32, b.type(k).shape)}) >= 0;
}
bool key_wrap(Builder& b, const ir::Op& op) {
  Dims shape = b.shape(static_cast<int>(b.random.number(0, 2)));
  shape.push_back(2);
  return b.add(op, {b.of(Dtype::u32, shape)}) >= 0;
}
bool key_unwrap(Builder& b, const ir::Op& op) { return b.add(op, {keys(b)}) >= 0; }
}  // namespace

const std::vector<Drawer>& structural_drawers() {
  static const std::vector<Drawer> all = {{&ops::full, full},
                                          {&ops::iota, iota},
                                          {&ops::broadcast_in_dim, broadcast_in_dim},
                                          {&ops::reshape, reshape},
                                          {&ops::transpose, transpose},
                                          {&ops::slice, slice},
                                          {&ops::pad, pad},
                                          {&ops::concatenate, concatenate},
                                          {&ops::reverse, reverse},
                                          {&ops::dynamic_slice, dynamic_slice},
                                          {&ops::dynamic_update_slice, dynamic_update_slice},
                                          {&ops::gather, gather},
                                          {&ops::scatter, scatter},
                                          {&ops::sort, sort},
                                          {&ops::top_k, top_k}};
  return all;
}
const std::vector<Drawer>& random_drawers() {
  static const std::vector<Drawer> all = {{&ops::random_bits, random_bits},
                                          {&ops::random_split, random_split},
                                          {&ops::random_fold_in, random_fold_in},
                                          {&ops::key_wrap, key_wrap},
                                          {&ops::key_unwrap, key_unwrap}};
  return all;
}

}  // namespace uni::random_programs
