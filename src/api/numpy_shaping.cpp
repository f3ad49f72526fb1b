#include <unisono/shaping.hpp>

#include <algorithm>

#include "api/named_axes.hpp"
#include "api/fail.hpp"
#include "api/positions.hpp"
#include "api/promote.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

using namespace api;

namespace {
// The operand as an Array and its type.
struct Operand {
  Operand(std::string_view who, const In& x) : array(as_array(who, x)), type(core::type_of(array)) {}
  Array array;
  ir::Type type;
  int rank() const { return type.shape.rank(); }
};

Dims resolve_shape(const ir::Type& type, const Dims& shape) {
  i64 known = 1;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < -1) fail<ShapeError>(base::cat("reshape: the shape ", shape, " has a negative size"));
    if (shape[i] >= 0) {
      known *= shape[i];
      continue;
    }
    if (open >= 0) fail<ShapeError>(base::cat("reshape: the shape ", shape, " has more than one -1"));
    open = i;
  }
  Dims out = shape;
  const bool fits = open < 0 ? known == type.count() : known != 0 && type.count() % known == 0;
  if (!fits)
    fail<ShapeError>(
        base::cat("reshape: ", ir::to_string(type), " of ", type.count(), " elements does not fit the shape ", shape));
  if (open >= 0) out[open] = type.count() / known;
  return out;
}
}  // namespace

Array reshape(In x, const Dims& shape) {
  const core::At at(x.where());
  const Operand a("reshape", x);
  return lax::reshape(a.array, resolve_shape(a.type, shape));
}

Array ravel(In x) {
  const core::At at(x.where());
  const Operand a("ravel", x);
  return lax::reshape(a.array, {a.type.count()});
}

Array transpose(In x, const Axes& permutation) {
  const core::At at(x.where());
  const Operand a("transpose", x);
  std::vector<int> order = resolve_axes("transpose", permutation, a.type);
  if (permutation.all()) std::reverse(order.begin(), order.end());
  if (static_cast<int>(order.size()) != a.rank())
    fail<ShapeError>(
        base::cat("transpose: ", order.size(), " axes are named of ", ir::to_string(a.type), ", which has ", a.rank()));
  return lax::transpose(a.array, order);
}

Array swapaxes(In x, int axis1, int axis2) {
  const core::At at(x.where());
  const Operand a("swapaxes", x);
  std::vector<int> order = resolve_axes("swapaxes", {}, a.type);
  std::swap(order[static_cast<std::size_t>(resolve_axis("swapaxes", axis1, a.type))],
            order[static_cast<std::size_t>(resolve_axis("swapaxes", axis2, a.type))]);
  return lax::transpose(a.array, order);
}

Array moveaxis(In x, const Axes& source, const Axes& destination) {
  const core::At at(x.where());
  const Operand a("moveaxis", x);
  const std::vector<int> from = resolve_axes("moveaxis", source, a.type);
  const std::vector<int> to = resolve_axes("moveaxis", destination, a.type);
  if (from.size() != to.size())
    fail<ShapeError>(base::cat("moveaxis: ", from.size(), " source axes and ", to.size(), " destinations"));
  std::vector<int> order(static_cast<std::size_t>(a.rank()), -1);
  for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
  int next = 0;
  for (int& slot : order) {
    if (slot >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    slot = next++;
  }
  return lax::transpose(a.array, order);
}

Array matrix_transpose(In x) {
  const core::At at(x.where());
  const Operand a("matrix_transpose", x);
  if (a.rank() < 2) fail<ShapeError>(base::cat("matrix_transpose: ", ir::to_string(a.type), " has no last two axes"));
  return swapaxes(In(a.array, x.where()), -1, -2);
}

Array expand_dims(In x, const Axes& axis) {
  const core::At at(x.where());
  const Operand a("expand_dims", x);
  if (axis.all()) fail<ShapeError>("expand_dims: no axis is named");
  ir::Type result = a.type;
  for (std::size_t i = 0; i < axis.vector().size(); ++i) result.shape.push_back(1);
  const std::vector<int> added = reduction_axes("expand_dims", axis, result);
  Dims shape = a.type.shape;
  for (int position : added) shape.insert(position, 1);
  return lax::reshape(a.array, shape);
}

Array squeeze(In x, const Axes& axis) {
  const core::At at(x.where());
  const Operand a("squeeze", x);
  const std::vector<int> named = reduction_axes("squeeze", axis, a.type);
  Dims shape;
  for (int i = 0; i < a.rank(); ++i) {
    const bool drop = std::find(named.begin(), named.end(), i) != named.end();
    if (drop && a.type.shape[i] == 1) continue;
    if (drop && !axis.all())
      fail<ShapeError>(base::cat("squeeze: axis ", i, " of ", ir::to_string(a.type), " has size ", a.type.shape[i]));
    shape.push_back(a.type.shape[i]);
  }
  return lax::reshape(a.array, shape);
}

Array broadcast_to(In x, const Dims& shape) {
  const core::At at(x.where());
  const Operand a("broadcast_to", x);
  bool fits = shape.rank() >= a.rank();
  for (int i = 1; fits && i <= a.rank(); ++i) fits = a.type.shape[-i] == shape[-i] || a.type.shape[-i] == 1;
  for (i64 size : shape) fits = fits && size >= 0;
  if (!fits) fail<ShapeError>(base::cat("broadcast_to: shape ", a.type.shape, " does not broadcast to ", shape));
  check_shape("broadcast_to", shape);
  return lax::broadcast_to(a.array, shape);
}

Array diagonal(In x, const DiagonalOptions& options) {
  const core::At at(x.where());
  const Operand a("diagonal", x);
  const std::vector<int> axes = resolve_axes("diagonal", {options.axis1, options.axis2}, a.type);
  const i64 rows = a.type.shape[axes[0]], columns = a.type.shape[axes[1]], offset = options.offset;
  const i64 first_row = std::max<i64>(-offset, 0), first_column = std::max<i64>(offset, 0);
  const i64 length = std::max<i64>(std::min(rows - first_row, columns - first_column), 0);
  const Array front = moveaxis(In(a.array, x.where()), Axes(axes), {0, 1});
  const Array step = lax::iota(Dtype::i32, {length}, 0);
  const Array columns_of = index_columns({lax::add(step, lax::full_int(first_row, Dtype::i32, {length})),
                                          lax::add(step, lax::full_int(first_column, Dtype::i32, {length}))});
  const Array along = lax::gather(front, columns_of);
  return lax::move_axis(along, 0, along.rank() - 1);
}

Array diag(In x, const DiagOptions& options) {
  const core::At at(x.where());
  const Operand a("diag", x);
  if (a.rank() == 2) return diagonal(In(a.array, x.where()), {.offset = options.offset});
  if (a.rank() != 1) fail<ShapeError>(base::cat("diag: ", ir::to_string(a.type), " is neither of rank 1 nor 2"));
  const i64 distance = options.offset < 0 ? -i64{options.offset} : options.offset;
  const i64 size = a.type.shape[0] + distance;
  const Array spread =
      lax::broadcast_to(lax::pad(a.array, lax::full_scalar(ir::Scalar::of_int(a.type.dtype, 0), {}, a.type.weak),
                                 {options.offset > 0 ? distance : 0}, {options.offset > 0 ? 0 : distance}, {0}),
                        {size, size});
  // Element (i, j) is taken from column j, and stands where j - i is the offset.
  const Array row = lax::iota(Dtype::i32, {size, size}, 0), column = lax::iota(Dtype::i32, {size, size}, 1);
  const Array on = lax::eq(column, lax::add(row, lax::full_int(options.offset, Dtype::i32, {size, size})));
  return lax::select(on, spread, lax::full_scalar(ir::Scalar::of_int(a.type.dtype, 0), {size, size}, a.type.weak));
}

namespace {
// All parts with their common dtype.
Arrays promoted(std::string_view who, const Arrays& parts) {
  if (parts.empty()) fail<ShapeError>(base::cat(who, ": needs at least one array"));
  ValueType type = value_type(parts[0]);
  for (const Array& part : parts) type = promote(who, type, value_type(part));
  Arrays out;
  for (const Array& part : parts) out.push_back(as_type(who, In(part, core::current_location()), type));
  return out;
}
}  // namespace

Array concatenate(const Arrays& parts, const JoinOptions& options, Location where) {
  const core::At at(where);
  const Arrays same = promoted("concatenate", parts);
  const ir::Type& first = core::type_of(same[0]);
  const int axis = resolve_axis("concatenate", options.axis, first);
  for (std::size_t i = 1; i < same.size(); ++i) {
    const ir::Type& t = core::type_of(same[i]);
    bool fits = t.shape.rank() == first.shape.rank();
    for (int d = 0; fits && d < t.shape.rank(); ++d) fits = d == axis || t.shape[d] == first.shape[d];
    if (!fits)
      fail<ShapeError>(base::cat("concatenate: ", ir::to_string(first), " and ", ir::to_string(t), " (part ", i,
                                 ") differ outside axis ", axis));
  }
  return same.size() == 1 ? same[0] : lax::concatenate(same, axis);
}

Array stack(const Arrays& parts, const JoinOptions& options, Location where) {
  const core::At at(where);
  Arrays same = promoted("stack", parts);
  const ir::Type first = core::type_of(same[0]);
  ir::Type result = first;
  result.shape.push_back(static_cast<i64>(same.size()));
  const int axis = resolve_axis("stack", options.axis, result);
  for (std::size_t i = 0; i < same.size(); ++i) {
    const ir::Type& t = core::type_of(same[i]);
    if (!(t.shape == first.shape))
      fail<ShapeError>(base::cat("stack: ", ir::to_string(first), " and ", ir::to_string(t), " (part ", i,
                                 ") have different shapes"));
    same[i] = lax::expand_dims(same[i], axis);
  }
  return same.size() == 1 ? same[0] : lax::concatenate(same, axis);
}

namespace {
std::vector<i64> cut_positions(const ir::Type& type, int axis, const Counts& sections, bool uneven) {
  const i64 size = type.shape[axis];
  std::vector<i64> cuts{0};
  if (!sections.single()) {
    for (i64 cut : sections.values()) cuts.push_back(std::clamp(cut < 0 ? cut + size : cut, cuts.back(), size));
    cuts.push_back(size);
    return cuts;
  }
  const i64 count = sections.values()[0];
  if (count <= 0) fail<ShapeError>(base::cat("split: ", count, " parts"));
  if (size % count != 0 && !uneven)
    fail<ShapeError>(
        base::cat("split: axis ", axis, " of ", ir::to_string(type), " does not divide into ", count, " equal parts"),
        "pass .uneven = true");
  for (i64 i = 0; i < count; ++i) cuts.push_back(cuts.back() + size / count + (i < size % count ? 1 : 0));
  return cuts;
}
}  // namespace

Arrays split(In x, const Counts& sections, const SplitOptions& options) {
  const core::At at(x.where());
  const Operand a("split", x);
  const int axis = resolve_axis("split", options.axis, a.type);
  const std::vector<i64> cuts = cut_positions(a.type, axis, sections, options.uneven);
  Arrays out;
  for (std::size_t i = 1; i < cuts.size(); ++i) out.push_back(lax::slice_axis(a.array, axis, cuts[i - 1], cuts[i]));
  return out;
}

}  // namespace uni
