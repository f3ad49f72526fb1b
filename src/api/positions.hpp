// Indices made ready for gather and scatter.
#pragma once
#include <string_view>
#include <vector>

#include "ops/structural.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// Integers of i32 or i64. Throws DtypeError for any other dtype.
Array as_indices(std::string_view who, const Array& indices);
// Negative indices counted from the end, once (all of them modulo the size in mode wrap).
Array resolve_negative(const Array& indices, i64 size, OutOfBounds mode);
// One index array per leading axis, all of one shape, as [batch, axes].
Array index_columns(const Arrays& indices);
// The coordinate along `axis` of every element of `shape`.
Array coordinate(const Dims& shape, int axis);
// How a mode treats what is still out of range. `standard` stands for `otherwise`.
ops::IndexMode index_mode(OutOfBounds mode, OutOfBounds otherwise);
// Throws ShapeError when positions are read or clipped along an axis without elements.
void check_not_empty(std::string_view who, const Array& x, int axis, i64 positions);

}  // namespace uni::api
