// Reading and writing by position. (Indexing with [] and .at(): array.hpp.) Negative indices count from the end, once;
// what an index beyond that does is the mode's answer.
#pragma once
#include <unisono/array.hpp>

namespace uni {

struct TakeOptions {
  std::optional<int> axis = {};  // none: of all elements in row-major order
  // standard is fill: NaN, the lowest signed, the highest unsigned integer, true. clip takes negative indices to 0.
  OutOfBounds mode = OutOfBounds::standard;
};
// The elements of x at the indices along one axis; the axis is replaced by the shape of `indices`.
Array take(In x, In indices, const TakeOptions& options = {});
struct TakeAlongOptions {
  OutOfBounds mode = OutOfBounds::standard;  // fill, as take
};
// For each position of `indices` the element of x at that index along the axis; other axes broadcast. What argsort
// gives sorts x.
Array take_along_axis(In x, In indices, int axis, const TakeAlongOptions& options = {});

struct OneHotOptions {
  int axis = -1;  // where the new axis stands in the result
  Dtype dtype = Dtype::f32;
};
// 1 at the class of each index along a new axis of size `classes`, 0 elsewhere; all 0 for an index out of range.
Array one_hot(In indices, i64 classes, const OneHotOptions& options = {});

// A window of the given sizes that starts at one scalar index per axis. The start moves so that the window fits.
Array dynamic_slice(In x, const Arrays& starts, const Dims& sizes);
// x with the window that starts there replaced by `update`.
Array dynamic_update_slice(In x, In update, const Arrays& starts);

// Combines the leading entries of `data` by segment: result row s holds those with ids == s. `ids` has the leading axes
// of `data`. Ids out of range, negative ones too, are left out. Empty segments: 0, 1, lowest, highest value.
Array segment_sum(In data, In ids, i64 segments);
Array segment_prod(In data, In ids, i64 segments);
Array segment_max(In data, In ids, i64 segments);
Array segment_min(In data, In ids, i64 segments);

struct NonzeroOptions {
  std::optional<i64> size = {};  // how many positions the result holds; needed inside traced code
  i64 fill = 0;                  // the index of missing positions
};
// The positions of elements that are not zero, in row-major order: one i32 array per axis.
Arrays nonzero(In x, const NonzeroOptions& options = {});

// The position along each axis of the elements at these row-major indices; indices out of range go to the nearest end.
Arrays unravel_index(In indices, const Dims& shape);

struct SearchOptions {
  Flag right = false;  // behind equal elements rather than before them
};
// Where each value would have to be inserted into the sorted array of rank 1 to keep it sorted: i32. NaN is the
// largest.
Array searchsorted(In sorted, In values, const SearchOptions& options = {});

}  // namespace uni
