// Rows that reduce or contract: reductions, windows, dot products, convolution.
#pragma once
#include <optional>

#include "ops/rules.hpp"

namespace uni::ops {

struct Reduce {
  std::vector<int> axes;  // sorted, distinct; removed from the result
};
// sum and prod: numbers, accumulated at least in f32 (16-bit floats) and rounded once; integers wrap. max, min: NaN
// wins; ordered dtypes and bool. Empty reductions give the neutral element (lowest and highest for max and min).
extern const Primitive reduce_sum, reduce_prod, reduce_max, reduce_min;
extern const Primitive reduce_and, reduce_or;  // bool
struct ArgReduce {
  int axis = 0;
  Dtype dtype = Dtype::i32;
};
extern const Primitive argmax, argmin;  // first of ties; the first NaN wins

struct Cumulative {
  int axis = 0;
  bool reverse = false;
};
extern const Primitive cumsum, cumprod;  // numbers, accumulated at least in f32
extern const Primitive cummax, cummin;   // NaN wins from where it stands; ordered dtypes and bool
extern const Primitive cumlogsumexp;     // log(cumsum(exp(x))) without overflow; floats

struct Window {  // one entry per dimension
  Dims size, stride, low, high;
};
extern const Primitive reduce_window_sum;  // padding counts as 0
extern const Primitive reduce_window_max;  // padding counts as the lowest value
// Linear in the first operand, transposes of each other, deciding by the second one, x: in each window the first
// maximal element is chosen. gather: (t like x, x) -> one t per window. scatter: (ct per window, x) -> like x, summed.
extern const Primitive window_gather_max, window_scatter_max;

struct DotGeneral {  // result: batch dimensions, lhs free ones, rhs free ones
  std::vector<int> lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
extern const Primitive dot_general;  // numbers; 16-bit floats accumulate in f32 and round once

// x [N, spatial..., C], kernel [spatial..., C / groups, O] -> [N, spatial..., O]; no kernel flip (cross-correlation).
struct Conv {
  Dims stride, low, high;  // padding may be negative
  Dims input_dilation, kernel_dilation;
  i64 groups = 1;        // features: input feature group g meets output features of group g
  i64 batch_groups = 1;  // N is split into groups, group g makes output feature group g; N shrinks
};
extern const Primitive conv;  // floats and complex

std::span<const Primitive* const> contract_rows();

}  // namespace uni::ops

namespace uni::lax {

Array reduce_sum(const Array& x, const std::vector<int>& axes);  // x itself for no axes; likewise below
Array reduce_prod(const Array& x, const std::vector<int>& axes);
Array reduce_max(const Array& x, const std::vector<int>& axes);
Array reduce_min(const Array& x, const std::vector<int>& axes);
Array reduce_and(const Array& x, const std::vector<int>& axes);
Array reduce_or(const Array& x, const std::vector<int>& axes);
Array argmax(const Array& x, int axis, Dtype dtype = Dtype::i32);
Array argmin(const Array& x, int axis, Dtype dtype = Dtype::i32);
Array cumsum(const Array& x, int axis, bool reverse = false);
Array cumprod(const Array& x, int axis, bool reverse = false);
Array cummax(const Array& x, int axis, bool reverse = false);
Array cummin(const Array& x, int axis, bool reverse = false);
Array cumlogsumexp(const Array& x, int axis, bool reverse = false);
Array reduce_window_sum(const Array& x, const ops::Window& window);
Array reduce_window_max(const Array& x, const ops::Window& window);
Array dot_general(const Array& lhs, const Array& rhs, const ops::DotGeneral& dims);
Array matmul2(const Array& lhs, const Array& rhs);  // [m, k] x [k, n]
Array conv(const Array& x, const Array& kernel, const ops::Conv& params);

}  // namespace uni::lax
