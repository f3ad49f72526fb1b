#include "api/positions.hpp"

#include <limits>

#include "api/fail.hpp"
#include "ops/elementwise.hpp"

namespace uni::api {

Array as_indices(std::string_view who, const Array& indices) {
  const Dtype dtype = indices.dtype();
  if (!is_integer(dtype)) fail<DtypeError>(base::cat(who, ": an index is an integer, not ", name(dtype)));
  if (dtype == Dtype::i64) return indices;
  if (dtype == Dtype::u64) {
    const Array largest = lax::full_int(std::numeric_limits<i64>::max(), dtype, indices.shape());
    return lax::convert(lax::minimum(indices, largest), Dtype::i64);
  }
  return lax::convert(indices, dtype == Dtype::u32 ? Dtype::i64 : Dtype::i32);
}

Array resolve_negative(const Array& indices, i64 size, OutOfBounds mode) {
  const bool wide = size > std::numeric_limits<std::int32_t>::max();
  const Array i = wide ? lax::convert(indices, Dtype::i64) : indices;
  const Array length = lax::full_int(size, i.dtype(), i.shape()), zero = lax::full_int(0, i.dtype(), i.shape());
  const Array low = mode == OutOfBounds::wrap ? lax::rem(i, lax::full_int(size ? size : 1, i.dtype(), i.shape())) : i;
  return lax::select(lax::lt(low, zero), lax::add(low, length), low);
}

Array index_columns(const Arrays& indices) {
  Dtype dtype = Dtype::i32;
  for (const Array& i : indices)
    if (i.dtype() == Dtype::i64) dtype = Dtype::i64;
  Arrays columns;
  for (const Array& i : indices) columns.push_back(lax::reshape(lax::convert(i, dtype), {i.size(), 1}));
  return columns.size() == 1 ? columns[0] : lax::concatenate(columns, 1);
}

Array coordinate(const Dims& shape, int axis) {
  const bool wide = shape[axis] > std::numeric_limits<std::int32_t>::max();
  return lax::iota(wide ? Dtype::i64 : Dtype::i32, shape, axis);
}

ops::IndexMode index_mode(OutOfBounds mode, OutOfBounds otherwise) {
  const OutOfBounds chosen = mode == OutOfBounds::standard ? otherwise : mode;
  return chosen == OutOfBounds::fill || chosen == OutOfBounds::drop ? ops::IndexMode::fill : ops::IndexMode::clip;
}

void check_not_empty(std::string_view who, const Array& x, int axis, i64 positions) {
  if (x.shape()[axis] == 0 && positions != 0)
    fail<ShapeError>(base::cat(who, ": axis ", axis, " of ", ir::to_string(core::type_of(x)), " has no elements"));
}

}  // namespace uni::api
