// Sorting along an axis: stable, NaN last (first when descending), -0 equal to 0.
#pragma once
#include <unisono/array.hpp>

namespace uni {

struct SortOptions {
  int axis = -1;
  Flag descending = false;
};
// Throws ShapeError for a scalar or an axis that does not exist, DtypeError for complex numbers and keys.
Array sort(In x, const SortOptions& options = {});
// The indices (i32) that sort x: take_along_axis(x, argsort(x), -1) is sort(x). Equal elements keep their order.
Array argsort(In x, const SortOptions& options = {});

struct TopK {
  Array values, indices;
};
// The k largest elements along the last axis in falling order, and where they stand; the first of equal ones comes
// first. Throws ShapeError when there are fewer.
TopK top_k(In x, i64 k);

}  // namespace uni
