#include <unisono/shaping.hpp>

#include <algorithm>

#include "api/named_axes.hpp"
#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/promote.hpp"
#include "ops/structural.hpp"
#include <unisono/creation.hpp>
#include <unisono/indexing.hpp>
#include <unisono/reduction.hpp>

namespace uni {

using namespace api;

Array flip(In x, const Axes& axis) {
  const core::At at(x.where());
  const Array a = as_array("flip", x);
  const std::vector<int> axes = reduction_axes("flip", axis, core::type_of(a));
  return axes.empty() ? a : lax::reverse(a, axes);
}

namespace {
Array roll_axis(const Array& x, int axis, i64 shift) {
  const i64 size = x.shape()[axis];
  if (size == 0) return x;
  const i64 by = ((shift % size) + size) % size;
  if (by == 0) return x;
  const Array parts[] = {lax::slice_axis(x, axis, size - by, size), lax::slice_axis(x, axis, 0, size - by)};
  return lax::concatenate(parts, axis);
}
}  // namespace

Array roll(In x, const Counts& shift, const RollOptions& options) {
  const core::At at(x.where());
  Array a = as_array("roll", x);
  if (options.axis.all()) {
    if (!shift.single() && shift.values().size() != 1)
      fail<ShapeError>(base::cat("roll: ", shift.values().size(), " shifts and no axes"), "name an axis for each");
    return lax::reshape(roll_axis(lax::reshape(a, {a.size()}), 0, shift.values()[0]), a.shape());
  }
  const std::vector<int> axes = resolve_axes("roll", options.axis, core::type_of(a));
  if (!shift.single() && shift.values().size() != axes.size())
    fail<ShapeError>(base::cat("roll: ", shift.values().size(), " shifts and ", axes.size(), " axes"));
  for (std::size_t i = 0; i < axes.size(); ++i) a = roll_axis(a, axes[i], shift.values()[shift.single() ? 0 : i]);
  return a;
}

namespace {
std::vector<PadWidth> widths_by_axis(const PadWidths& widths, const ir::Type& type) {
  const auto rank = static_cast<std::size_t>(type.shape.rank());
  std::vector<PadWidth> out = widths.all();
  if (widths.same()) out.assign(rank, out[0]);
  if (out.size() != rank)
    fail<ShapeError>(
        base::cat("pad: ", out.size(), " widths for ", ir::to_string(type), ", which has ", rank, " axes"));
  for (const PadWidth& w : out)
    if (w.low < 0 || w.high < 0) fail<ShapeError>(base::cat("pad: the width (", w.low, ", ", w.high, ") is negative"));
  return out;
}

// `count` copies of x, one behind another.
Array tiled(const Array& x, int axis, i64 count) {
  Dims wide = x.shape(), flat = x.shape();
  wide.insert(axis, count);
  flat[axis] *= count;
  std::vector<int> dims;
  for (int d = 0; d < x.rank(); ++d) dims.push_back(d < axis ? d : d + 1);
  return lax::reshape(lax::broadcast_in_dim(x, wide, dims), flat);
}

Array pad_edge(const Array& x, int axis, PadWidth width) {
  const i64 size = x.shape()[axis];
  return lax::concatenate(Arrays{tiled(lax::slice_axis(x, axis, 0, 1), axis, width.low), x,
                                 tiled(lax::slice_axis(x, axis, size - 1, size), axis, width.high)},
                          axis);
}

// The other modes continue x periodically: one period is repeated and cut.
Array pad_axis(const Array& x, int axis, PadWidth width, PadMode mode) {
  const i64 size = x.shape()[axis];
  if (width.low == 0 && width.high == 0) return x;
  if (size == 0)
    fail<ShapeError>(
        base::cat("pad: axis ", axis, " of ", ir::to_string(core::type_of(x)), " has no elements to repeat"));
  Dims shape = x.shape();
  if (__builtin_add_overflow(width.low, size, &shape[axis]) ||
      __builtin_add_overflow(shape[axis], width.high, &shape[axis]))
    fail<ShapeError>(base::cat("pad: the widths (", width.low, ", ", width.high, ") are too large"));
  check_shape("pad", shape);
  if (mode == PadMode::edge) return pad_edge(x, axis, width);
  Array period = x;
  if (mode == PadMode::symmetric)
    period = lax::concatenate(Arrays{x, lax::reverse(x, {axis})}, axis);
  else if (mode == PadMode::reflect && size > 2)
    period = lax::concatenate(Arrays{x, lax::reverse(lax::slice_axis(x, axis, 1, size - 1), {axis})}, axis);
  const i64 length = period.shape()[axis], total = shape[axis], first = (length - width.low % length) % length;
  const Array all = tiled(period, axis, (first + total + length - 1) / length);
  return lax::slice_axis(all, axis, first, first + total);
}
}  // namespace

Array pad(In x, const PadWidths& widths, const PadOptions& options) {
  const core::At at(x.where());
  Array a = as_array("pad", x);
  const ir::Type type = core::type_of(a);
  const std::vector<PadWidth> by_axis = widths_by_axis(widths, type);
  if (options.mode == PadMode::constant) {
    Dims low, high, interior;
    for (const PadWidth& w : by_axis) {
      low.push_back(w.low);
      high.push_back(w.high);
      interior.push_back(0);
    }
    const ir::Scalar value = constant("pad", detail::HostScalar::of(options.value), type.dtype);
    return lax::pad(a, lax::full_scalar(value, {}, type.weak), low, high, interior);
  }
  for (std::size_t axis = 0; axis < by_axis.size(); ++axis)
    a = pad_axis(a, static_cast<int>(axis), by_axis[axis], options.mode);
  return a;
}

namespace {
Array repeat_evenly(const Array& x, int axis, i64 count) {
  if (count < 0) fail<ShapeError>(base::cat("repeat: the count ", count, " is negative"));
  Dims wide = x.shape(), flat = x.shape();
  wide.insert(axis + 1, count);
  flat[axis] *= count;
  return lax::reshape(lax::broadcast_to(lax::expand_dims(x, axis + 1), wide), flat);
}

i64 total_of(const Array& counts) {
  i64 total = 0;
  const runtime::BufferPtr buffer = read("repeat", counts, "pass .total, the size of the result");
  for (i64 i = 0; i < counts.size(); ++i) {
    const i64 count = load(buffer->dtype(), buffer->data() + i * itemsize(buffer->dtype())).i;
    if (count < 0) fail<ShapeError>(base::cat("repeat: count ", i, " is ", count, ", which is negative"));
    total += count;
  }
  return total;
}
}  // namespace

Array repeat(In x, In counts, const RepeatOptions& options) {
  const core::At at(x.where());
  Array a = as_array("repeat", x);
  if (!options.axis) a = lax::reshape(a, {a.size()});
  const int axis = resolve_axis("repeat", options.axis.value_or(0), core::type_of(a));
  if (!is_integer(value_type(counts).dtype))
    fail<DtypeError>(base::cat("repeat: counts are integers, not ", name(value_type(counts).dtype)));
  if (counts.is_scalar() && !options.total) return repeat_evenly(a, axis, counts.scalar().i);
  Array by_element = as_array("repeat", counts);
  const i64 size = a.shape()[axis];
  if (by_element.rank() == 0 || by_element.shape() == Dims{1}) by_element = lax::broadcast_to(by_element, {size});
  if (!(by_element.shape() == Dims{size}))
    fail<ShapeError>(base::cat("repeat: counts of shape ", by_element.shape(), " for axis ", axis, " of ",
                               ir::to_string(core::type_of(a))));
  const i64 total = options.total ? *options.total : total_of(by_element);
  const Array ends = cumsum(by_element, {.axis = 0});
  const Array source = searchsorted(ends, arange(total), {.right = true});
  return take(a, source, {.axis = axis, .mode = OutOfBounds::clip});
}

Array tile(In x, const Counts& counts) {
  const core::At at(x.where());
  Array a = as_array("tile", x);
  std::vector<i64> times = counts.values();
  for (i64 t : times)
    if (t < 0) fail<ShapeError>(base::cat("tile: the count ", t, " is negative"));
  while (static_cast<int>(times.size()) < a.rank()) times.insert(times.begin(), 1);
  while (a.rank() < static_cast<int>(times.size())) a = lax::expand_dims(a, 0);
  Dims wide, split_shape, flat;
  for (int i = 0; i < a.rank(); ++i) {
    const i64 t = times[static_cast<std::size_t>(i)], size = a.shape()[i];
    split_shape.push_back(1);
    split_shape.push_back(size);
    wide.push_back(t);
    wide.push_back(size);
  }
  check_shape("tile", wide);
  for (int i = 0; i < wide.rank(); i += 2) flat.push_back(wide[i] * wide[i + 1]);
  return lax::reshape(lax::broadcast_to(lax::reshape(a, split_shape), wide), flat);
}

}  // namespace uni
