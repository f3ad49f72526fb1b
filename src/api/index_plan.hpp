// What x[{...}] means: slices of each axis, new axes, and integer arrays that index several axes at once.
#pragma once
#include <vector>

#include "ir/type.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// A slice of one axis, as lax takes it; `reversed` when the step was negative.
struct AxisSlice {
  i64 start = 0, limit = 0, stride = 1;
  bool reversed = false;
  i64 count() const { return limit > start ? (limit - start + stride - 1) / stride : 0; }
};

struct IndexPlan {
  Dims shape;                     // of the indexed array, with an axis of size 1 for each scalar mask
  std::vector<AxisSlice> slices;  // by axis of it
  bool sliced = false;            // whether any of them is not the whole axis
  // The axes that arrays and integers index together, in order, and the indices, all of one shape; empty when the
  // index is made of slices and integers alone.
  std::vector<int> advanced;
  Arrays indices;
  Dims batch;        // the shape of the indices
  Dims result;       // of the whole expression
  int batch_at = 0;  // where the batch axes stand in the result
  Dims basic_shape;  // after slicing
};

// Throws ShapeError for too many indices, two ellipses, a constant integer out of range, masks that do not fit,
// indices that do not broadcast; DtypeError for index arrays that are neither integers nor bool; TraceError for traced
// masks.
IndexPlan plan_index(const ir::Type& type, const Index& index, OutOfBounds mode);

}  // namespace uni::api
