// Rows that make, reshape and move elements.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

struct Full {  // a constant
  Scalar value;
  Dims shape;
  bool weak = false;
};
struct Iota {
  Dtype dtype = Dtype::i32;  // integer, float or complex
  Dims shape;
  int axis = 0;
};
struct BroadcastInDim {  // operand dimension i becomes result dimension dims[i]; sizes equal or 1
  Dims shape;
  std::vector<int> dims;  // strictly increasing
};
struct Reshape {
  Dims shape;
};
struct Transpose {
  std::vector<int> permutation;  // result axis i is operand axis permutation[i]
};
struct SliceParams {
  Dims start, limit, stride;  // 0 <= start <= limit <= size, stride >= 1
};
struct Pad {  // operands: x, scalar value. Interior first, then negative low and high crop
  Dims low, high, interior;
};
struct Concatenate {
  int axis = 0;
};
struct Reverse {
  std::vector<int> axes;
};
struct DynamicSlice {  // operands: x, one scalar integer start per axis; starts clamp so that the slice fits
  Dims sizes;
};
extern const Primitive full, iota, broadcast_in_dim, reshape, transpose, slice, pad, concatenate, reverse;
extern const Primitive dynamic_slice;
extern const Primitive dynamic_update_slice;  // NoParams; operands: x, update, one scalar integer start per axis

// gather: x[d0..dk-1, rest], indices i32 or i64 [batch, k] -> [batch, rest]: indexes the k leading axes; negative
// indices do not wrap here.
enum class IndexMode : std::uint8_t { clip, fill };  // fill: reads give the fill value, updates are dropped
struct Gather {
  IndexMode mode = IndexMode::clip;
  Scalar fill;  // of x's dtype; read where an index is out of range in mode fill
};
extern const Primitive gather;
// scatter: x[d0..dk-1, rest], indices [batch, k], updates [batch, rest] -> x updated, in row-major order of the batch
// (so that for `set` the last one wins). clip: out-of-range indices go to the edge.
enum class Combine : std::uint8_t { set, add, mul, min, max };
struct Scatter {
  Combine combine = Combine::add;
  IndexMode mode = IndexMode::fill;
};
extern const Primitive scatter;
struct Sort {  // sorts all operands along axis by the first `keys` of them, stably; NaN last, -0 equals 0
  int axis = 0;
  int keys = 1;
};
extern const Primitive sort;
struct TopK {
  i64 k = 0;
};
// x -> the k largest along the last axis in falling order, and where they stand (i32); ordered as sort does, NaN first,
// and the first of equal ones first.
extern const Primitive top_k;

std::span<const Primitive* const> structural_rows();

}  // namespace uni::ops

namespace uni::lax {

Array full(double value, Dtype dtype, const Dims& shape, bool weak = false);
Array full_int(i64 value, Dtype dtype, const Dims& shape, bool weak = false);
Array full_scalar(const ir::Scalar& value, const Dims& shape, bool weak = false);
Array full_like(const Array& x, double value);  // dtype and shape of x
Array iota(Dtype dtype, const Dims& shape, int axis);
Array broadcast_in_dim(const Array& x, const Dims& shape, const std::vector<int>& dims);
// The operand's dimensions are the last ones of the result (NumPy's broadcasting); x itself when nothing changes.
Array broadcast_to(const Array& x, const Dims& shape);
Array reshape(const Array& x, const Dims& shape);
Array expand_dims(const Array& x, int axis);
Array squeeze(const Array& x, int axis);
Array transpose(const Array& x, const std::vector<int>& permutation);
Array move_axis(const Array& x, int from, int to);
Array slice(const Array& x, const Dims& start, const Dims& limit, const Dims& stride);
Array slice_axis(const Array& x, int axis, i64 start, i64 limit);
Array pad(const Array& x, const Array& value, const Dims& low, const Dims& high, const Dims& interior);
Array concatenate(std::span<const Array> parts, int axis);
Array reverse(const Array& x, const std::vector<int>& axes);
Array dynamic_slice(const Array& x, std::span<const Array> starts, const Dims& sizes);
Array dynamic_update_slice(const Array& x, const Array& update, std::span<const Array> starts);
Array gather(const Array& x, const Array& indices, ops::IndexMode mode, const ir::Scalar& fill);
Array gather(const Array& x, const Array& indices);  // clip
Array scatter(const Array& x, const Array& indices, const Array& updates, ops::Combine combine, ops::IndexMode mode);
Arrays sort(std::span<const Array> operands, int axis, int keys);
Arrays top_k(const Array& x, i64 k);

}  // namespace uni::lax
