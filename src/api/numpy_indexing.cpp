#include <unisono/indexing.hpp>

#include <functional>
#include <limits>

#include "api/named_axes.hpp"
#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/limits.hpp"
#include "api/positions.hpp"
#include "ops/contract.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/reduction.hpp>

namespace uni {

using namespace api;

namespace {
// Gathers along leading axes; `from` names the axis for the error.
Array gather_checked(std::string_view who, const Array& x, const Array& columns, OutOfBounds mode) {
  const ops::IndexMode m = index_mode(mode, OutOfBounds::fill);
  if (m == ops::IndexMode::clip)
    for (int axis = 0; axis < static_cast<int>(columns.shape()[1]); ++axis)
      check_not_empty(who, x, axis, columns.shape()[0]);
  return lax::gather(x, columns, m, fill_value(x.dtype()));
}
}  // namespace

Array take(In x, In indices, const TakeOptions& options) {
  const core::At at(x.where());
  Array a = as_array("take", x);
  if (!options.axis) a = lax::reshape(a, {a.size()});
  const int axis = resolve_axis("take", options.axis.value_or(0), core::type_of(a));
  const Array written = as_indices("take", as_array("take", indices));
  // As in NumPy, clipping takes negative indices to the first entry.
  const bool counted = options.mode != OutOfBounds::clip;
  const Array columns = index_columns({counted ? resolve_negative(written, a.shape()[axis], options.mode) : written});
  const Array front = lax::move_axis(a, axis, 0);
  const Array rows = gather_checked("take", front, columns, options.mode);
  Dims shape = written.shape();
  for (int i = 1; i < front.rank(); ++i) shape.push_back(front.shape()[i]);
  // The index axes stand in front; those that were before `axis` go there.
  std::vector<int> order;
  for (int i = 0; i < axis; ++i) order.push_back(written.rank() + i);
  for (int i = 0; i < written.rank(); ++i) order.push_back(i);
  for (int i = written.rank() + axis; i < shape.rank(); ++i) order.push_back(i);
  return lax::transpose(lax::reshape(rows, shape), order);
}

Array take_along_axis(In x, In indices, int axis, const TakeAlongOptions& options) {
  const core::At at(x.where());
  const Array a = as_array("take_along_axis", x);
  const Array written = as_indices("take_along_axis", as_array("take_along_axis", indices));
  if (a.rank() != written.rank())
    fail<ShapeError>(base::cat("take_along_axis: ", ir::to_string(core::type_of(a)), " and indices ",
                               ir::to_string(core::type_of(written)), " have different ranks"));
  const int along = resolve_axis("take_along_axis", axis, core::type_of(a));
  Dims others = a.shape();
  others[along] = 1;
  const Dims both[] = {others, written.shape()};
  const Dims shape = broadcast_shapes("take_along_axis", both);
  Arrays coordinates;
  for (int i = 0; i < a.rank(); ++i) {
    if (i == along)
      coordinates.push_back(lax::broadcast_to(resolve_negative(written, a.shape()[i], options.mode), shape));
    else
      coordinates.push_back(a.shape()[i] == 1 ? lax::full_int(0, Dtype::i32, shape) : coordinate(shape, i));
  }
  return lax::reshape(gather_checked("take_along_axis", a, index_columns(coordinates), options.mode), shape);
}

Array one_hot(In indices, i64 classes, const OneHotOptions& options) {
  const core::At at(indices.where());
  const Array written = as_indices("one_hot", as_array("one_hot", indices));
  if (classes < 0) fail<ShapeError>(base::cat("one_hot: ", classes, " classes"));
  ir::Type type = core::type_of(written);
  type.shape.push_back(classes);
  const int axis = resolve_axis("one_hot", options.axis, type);
  Dims shape = written.shape();
  shape.insert(axis, classes);
  const Array spread = lax::broadcast_to(lax::expand_dims(written, axis), shape);
  return lax::convert(lax::eq(spread, lax::iota(written.dtype(), shape, axis)), options.dtype);
}

namespace {
// Scalar starts, one per axis, of one dtype.
Arrays window_starts(std::string_view who, const Array& x, const Arrays& starts) {
  if (static_cast<int>(starts.size()) != x.rank())
    fail<ShapeError>(base::cat(who, ": ", starts.size(), " starts for ", ir::to_string(core::type_of(x)),
                               ", which has ", x.rank(), " axes"));
  Dtype dtype = Dtype::i32;
  Arrays out;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i].rank() != 0)
      fail<ShapeError>(
          base::cat(who, ": start ", i, " is ", ir::to_string(core::type_of(starts[i])), ", not a scalar"));
    const Array index = as_indices(who, starts[i]);
    out.push_back(resolve_negative(index, x.shape()[static_cast<int>(i)], OutOfBounds::standard));
    if (out.back().dtype() == Dtype::i64) dtype = Dtype::i64;
  }
  for (Array& start : out) start = lax::convert(start, dtype);
  return out;
}

void check_window(std::string_view who, const Array& x, const Dims& sizes) {
  bool fits = sizes.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = sizes[i] >= 0 && sizes[i] <= x.shape()[i];
  if (!fits)
    fail<ShapeError>(base::cat(who, ": a window of ", sizes, " does not fit ", ir::to_string(core::type_of(x))));
}
}  // namespace

Array dynamic_slice(In x, const Arrays& starts, const Dims& sizes) {
  const core::At at(x.where());
  const Array a = as_array("dynamic_slice", x);
  const Arrays from = window_starts("dynamic_slice", a, starts);
  check_window("dynamic_slice", a, sizes);
  return lax::dynamic_slice(a, from, sizes);
}

Array dynamic_update_slice(In x, In update, const Arrays& starts) {
  const core::At at(x.where());
  const Array a = as_array("dynamic_update_slice", x);
  const Arrays from = window_starts("dynamic_update_slice", a, starts);
  check_window("dynamic_update_slice", a, shape_of(update));
  const Array part = as_type("dynamic_update_slice", update, value_type(a));
  return lax::dynamic_update_slice(a, part, from);
}

namespace {
Array segment(std::string_view who, const In& data, const In& ids, i64 segments, ops::Combine combine,
              const std::function<ir::Scalar(Dtype)>& neutral) {
  const core::At at(data.where());
  const Array values = as_array(who, data);
  const Array index = as_indices(who, as_array(who, ids));
  if (segments < 0) fail<ShapeError>(base::cat(who, ": ", segments, " segments"));
  bool leading = index.rank() <= values.rank();
  for (int i = 0; leading && i < index.rank(); ++i) leading = index.shape()[i] == values.shape()[i];
  if (!leading)
    fail<ShapeError>(base::cat(who, ": ids ", ir::to_string(core::type_of(index)), " do not match the leading axes of ",
                               ir::to_string(core::type_of(values))));
  Dims rows{index.size()}, shape{segments};
  for (int i = index.rank(); i < values.rank(); ++i) {
    rows.push_back(values.shape()[i]);
    shape.push_back(values.shape()[i]);
  }
  const Array start = lax::full_scalar(neutral(values.dtype()), shape, values.weak());
  return lax::scatter(start, index_columns({index}), lax::reshape(values, rows), combine, ops::IndexMode::fill);
}
}  // namespace

Array segment_sum(In data, In ids, i64 segments) {
  return segment("segment_sum", data, ids, segments, ops::Combine::add,
                 [](Dtype d) { return ir::Scalar::of_int(d, 0); });
}
Array segment_prod(In data, In ids, i64 segments) {
  return segment("segment_prod", data, ids, segments, ops::Combine::mul,
                 [](Dtype d) { return ir::Scalar::of_int(d, 1); });
}
Array segment_max(In data, In ids, i64 segments) {
  return segment("segment_max", data, ids, segments, ops::Combine::max, lowest);
}
Array segment_min(In data, In ids, i64 segments) {
  return segment("segment_min", data, ids, segments, ops::Combine::min, highest);
}

namespace {
// The row-major positions of the first `size` true elements; positions beyond are the number of elements.
Array flat_positions(const Array& flags, i64 size) {
  const Array running = cumsum(lax::reshape(flags, {flags.size()}), {.axis = 0});
  const Array wanted = lax::add(lax::iota(Dtype::i32, {size}, 0), lax::full_int(1, Dtype::i32, {size}));
  return searchsorted(running, wanted);
}
}  // namespace

Arrays nonzero(In x, const NonzeroOptions& options) {
  const core::At at(x.where());
  const Array flags = truth("nonzero", x);
  if (flags.rank() == 0) fail<ShapeError>("nonzero: a scalar has no positions", "reshape it to (1,)");
  i64 size = options.size.value_or(0);
  if (size < 0) fail<ShapeError>(base::cat("nonzero: the size ", size, " is negative"));
  if (!options.size) {
    const runtime::BufferPtr values = read("nonzero", flags, "pass .size, or use where");
    for (i64 i = 0; i < flags.size(); ++i) size += load(Dtype::b8, values->data() + i).i;
  }
  const Array flat = flat_positions(flags, size);
  const Array missing = lax::ge(flat, lax::full_int(flags.size(), Dtype::i32, {size}));
  Arrays out;
  i64 below = flags.size();
  for (i64 length : flags.shape()) {
    below = length ? below / length : 0;
    const Array quotient = lax::div(flat, lax::full_int(below ? below : 1, Dtype::i32, {size}));
    const Array index = lax::rem(quotient, lax::full_int(length ? length : 1, Dtype::i32, {size}));
    out.push_back(lax::select(missing, lax::full_int(options.fill, Dtype::i32, {size}), index));
  }
  return out;
}

Arrays unravel_index(In indices, const Dims& shape) {
  const core::At at(indices.where());
  check_shape("unravel_index", shape);
  const i64 count = shape.count();
  const Array written = as_indices("unravel_index", as_array("unravel_index", indices));
  const Array counted = resolve_negative(written, count, OutOfBounds::standard);
  const auto constant_of = [&](i64 value) { return lax::full_int(value, counted.dtype(), counted.shape()); };
  Array rest = lax::clamp(constant_of(0), counted, constant_of(count ? count - 1 : 0));
  Arrays out(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0;) {
    const Array size = constant_of(shape[axis] ? shape[axis] : 1);
    out[static_cast<std::size_t>(axis)] = lax::rem(rest, size);
    rest = lax::div(rest, size);
  }
  return out;
}

namespace {
// a < b where NaN is above everything.
Array before(const Array& a, const Array& b) {
  const Array less = lax::lt(a, b);
  if (!is_float(a.dtype())) return less;
  return lax::bit_or(less, lax::bit_and(lax::eq(a, a), lax::ne(b, b)));
}
}  // namespace

Array searchsorted(In sorted, In values, const SearchOptions& options) {
  const core::At at(sorted.where());
  const ValueType type = promote("searchsorted", {sorted, values});
  const Array haystack = as_type("searchsorted", sorted, type), wanted = as_type("searchsorted", values, type);
  if (haystack.rank() != 1)
    fail<ShapeError>(base::cat("searchsorted: ", ir::to_string(core::type_of(haystack)), " is not of rank 1"));
  const i64 size = haystack.size();
  const Dims& shape = wanted.shape();
  Array low = lax::full_int(0, Dtype::i32, shape), high = lax::full_int(size, Dtype::i32, shape);
  const Array one = lax::full_int(1, Dtype::i32, shape), two = lax::full_int(2, Dtype::i32, shape);
  // Bisection; after each step the interval has at most half the elements.
  for (i64 left = size; left > 0; left /= 2) {
    const Array middle = lax::add(low, lax::div(lax::sub(high, low), two));
    const Array element = lax::reshape(lax::gather(haystack, index_columns({middle})), shape);
    const Array open = lax::lt(low, high);
    const Array behind = options.right ? lax::logical_not(before(wanted, element)) : before(element, wanted);
    low = lax::select(lax::bit_and(open, behind), lax::add(middle, one), low);
    high = lax::select(lax::bit_and(open, lax::logical_not(behind)), middle, high);
  }
  return low;
}

}  // namespace uni
