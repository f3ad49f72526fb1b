// What gather and scatter share.
#pragma once
#include "ops/structural.hpp"

namespace uni::ops {

// i32, or i64 where a size needs it.
Dtype index_dtype(const Dims& shape);
// How operand and indices of gather and scatter divide; checks them.
struct IndexSplit {
  int components = 0;         // k
  Dims batch, indexed, rest;  // sizes
};
IndexSplit check_indices(const ir::Op& op, const Type& x, const Type& indices, IndexMode mode);
// [lanes, batch, k] -> [lanes, batch, k + 1]: the lane's number is the first component.
Array with_lane_component(const Array& indices);

}  // namespace uni::ops
