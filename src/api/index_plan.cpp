#include "api/index_plan.hpp"

#include <algorithm>

#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/positions.hpp"
#include "api/promote.hpp"
#include "ops/structural.hpp"
#include <unisono/indexing.hpp>

namespace uni::api {

namespace {
// One entry of the index after masks are integers and the ellipsis is spelled out.
struct Entry {
  enum class Kind : std::uint8_t { slice, integer, array, newaxis, gap };  // gap: an ellipsis that stands for no axis
  Kind kind;
  Slice slice = {};
  i64 integer = 0;
  Array array = {};
};

struct Expanded {
  std::vector<Entry> entries;
  Dims shape;
};

Array positions_of(const std::vector<i64>& values) {
  std::vector<std::int32_t> narrow(values.begin(), values.end());
  return from_host(narrow.data(), Dtype::i32, {static_cast<i64>(values.size())});
}

// The positions where the mask is true, one array per axis.
Arrays mask_positions(const Array& mask) {
  const runtime::BufferPtr buffer =
      read("index", mask, "use where(mask, x, y), or x.at(mask).set(value) with one value for all");
  const Dims& shape = mask.shape();
  std::vector<std::vector<i64>> found(static_cast<std::size_t>(shape.rank()));
  for (i64 flat = 0; flat < shape.count(); ++flat) {
    if (buffer->data()[flat] == std::byte{0}) continue;
    i64 rest = flat;
    for (int axis = shape.rank(); axis-- > 0;) {
      found[static_cast<std::size_t>(axis)].push_back(rest % shape[axis]);
      rest /= shape[axis];
    }
  }
  Arrays out;
  for (const std::vector<i64>& each : found) out.push_back(positions_of(each));
  return out;
}

int axes_taken(const IndexItem& item) {
  switch (item.kind()) {
    case IndexItem::Kind::newaxis:
    case IndexItem::Kind::ellipsis:
      return 0;
    case IndexItem::Kind::array:
      return is_bool(item.array().dtype()) ? item.array().rank() : 1;
    default:
      return 1;
  }
}

std::string describe(const ir::Type& type) { return ir::to_string(type); }

// Axes that the ellipsis stands for.
int count_open_axes(const ir::Type& type, const Index& index) {
  int taken = 0, ellipses = 0;
  for (const IndexItem& item : index.items()) {
    taken += axes_taken(item);
    ellipses += item.kind() == IndexItem::Kind::ellipsis ? 1 : 0;
  }
  if (taken > type.shape.rank())
    fail<ShapeError>(
        base::cat("index: ", taken, " indices for ", describe(type), ", which has ", type.shape.rank(), " axes"));
  if (ellipses > 1) fail<ShapeError>("index: more than one ellipsis");
  return type.shape.rank() - taken;
}

// Adds the entries of an index array that starts at axis `axis` of the original type; gives the axes it takes.
int expand_array(const ir::Type& type, const Array& array, int axis, Expanded& out) {
  if (!is_bool(array.dtype())) {
    out.entries.push_back({.kind = Entry::Kind::array, .array = as_indices("index", array)});
    out.shape.push_back(type.shape[axis]);
    return 1;
  }
  for (int i = 0; i < array.rank(); ++i) {
    if (array.shape()[i] != type.shape[axis + i])
      fail<ShapeError>(
          base::cat("index: a mask of shape ", array.shape(), " does not fit axis ", axis + i, " of ", describe(type)));
    out.shape.push_back(type.shape[axis + i]);
  }
  if (array.rank() == 0) {  // an axis of size 1, taken or not
    const bool taken = array.item<bool>(core::current_location());
    out.entries.push_back({.kind = Entry::Kind::array, .array = positions_of(std::vector<i64>(taken ? 1 : 0, 0))});
    out.shape.push_back(1);
    return 0;
  }
  for (Array& position : mask_positions(array))
    out.entries.push_back({.kind = Entry::Kind::array, .array = std::move(position)});
  return array.rank();
}

Expanded expand(const ir::Type& type, const Index& index) {
  const int open = count_open_axes(type, index);
  Expanded out;
  int axis = 0;
  const auto whole_axes = [&](int count) {
    for (int i = 0; i < count; ++i, ++axis) {
      out.entries.push_back({.kind = Entry::Kind::slice});
      out.shape.push_back(type.shape[axis]);
    }
  };
  bool ellipsis_seen = false;
  for (const IndexItem& item : index.items()) {
    switch (item.kind()) {
      case IndexItem::Kind::ellipsis:
        ellipsis_seen = true;
        if (open == 0) out.entries.push_back({.kind = Entry::Kind::gap});
        whole_axes(open);
        break;
      case IndexItem::Kind::newaxis:
        out.entries.push_back({.kind = Entry::Kind::newaxis});
        break;
      case IndexItem::Kind::array:
        axis += expand_array(type, item.array(), axis, out);
        break;
      case IndexItem::Kind::integer:
        out.entries.push_back({.kind = Entry::Kind::integer, .integer = item.integer()});
        out.shape.push_back(type.shape[axis++]);
        break;
      case IndexItem::Kind::slice:
        out.entries.push_back({.kind = Entry::Kind::slice, .slice = item.slice()});
        out.shape.push_back(type.shape[axis++]);
        break;
    }
  }
  if (!ellipsis_seen) whole_axes(open);
  return out;
}

// Python's rules for slices.
AxisSlice resolve_slice(const Slice& s, i64 size) {
  const i64 step = s.step.value_or(1);
  if (step == 0) fail<ShapeError>("index: a slice of step 0");
  const auto bound = [&](const std::optional<i64>& given, i64 otherwise, i64 low, i64 high) {
    if (!given) return otherwise;
    return std::clamp(*given < 0 ? *given + size : *given, low, high);
  };
  if (step > 0) {
    const i64 start = bound(s.start, 0, 0, size);
    return {start, std::max(bound(s.stop, size, 0, size), start), std::min(step, std::max<i64>(size, 1)), false};
  }
  // From `first` down to above `last`: the same elements upwards, then reversed.
  const i64 first = bound(s.start, size - 1, -1, size - 1), last = bound(s.stop, -1, -1, size - 1);
  const i64 stride = std::min(-(step + 1), std::max<i64>(size, 1) - 1) + 1;
  if (first <= last) return {0, 0, 1, false};
  const i64 count = (first - last + stride - 1) / stride;
  return {first - (count - 1) * stride, first + 1, stride, true};
}

i64 resolve_integer(i64 i, i64 size, int axis, const Dims& shape) {
  if (i < -size || i >= size)
    fail<ShapeError>(
        base::cat("index: ", i, " is out of range for axis ", axis, " of size ", size, " of shape ", shape));
  return i < 0 ? i + size : i;
}

// All index arrays (and integers among them) as arrays of one shape.
void finish_indices(IndexPlan& plan, OutOfBounds mode) {
  std::vector<Dims> shapes;
  for (const Array& i : plan.indices) shapes.push_back(i.shape());
  plan.batch = broadcast_shapes("index", shapes);
  for (std::size_t k = 0; k < plan.indices.size(); ++k) {
    const i64 size = plan.shape[plan.advanced[k]];
    plan.indices[k] = lax::broadcast_to(resolve_negative(plan.indices[k], size, mode), plan.batch);
  }
}
}  // namespace

IndexPlan plan_index(const ir::Type& type, const Index& index, OutOfBounds mode) {
  const Expanded e = expand(type, index);
  IndexPlan plan;
  plan.shape = e.shape;
  bool arrays = false;
  for (const Entry& entry : e.entries) arrays = arrays || entry.kind == Entry::Kind::array;
  int axis = 0;
  bool apart = false, closed = false;  // whether something stands between advanced entries
  Dims result;
  for (const Entry& entry : e.entries) {
    const bool consumes = entry.kind != Entry::Kind::newaxis && entry.kind != Entry::Kind::gap;
    const i64 size = consumes ? e.shape[axis] : 1;
    AxisSlice slice{0, size, 1, false};
    const bool advanced = entry.kind == Entry::Kind::array || (arrays && entry.kind == Entry::Kind::integer);
    if (advanced) {
      if (plan.advanced.empty()) plan.batch_at = result.rank();
      apart = apart || closed;
      const bool constant = entry.kind == Entry::Kind::integer;
      plan.indices.push_back(
          constant ? lax::full_int(resolve_integer(entry.integer, size, axis, e.shape), Dtype::i32, {}) : entry.array);
      plan.advanced.push_back(axis);
    } else {
      closed = !plan.advanced.empty();
      if (entry.kind == Entry::Kind::integer) {
        const i64 i = resolve_integer(entry.integer, size, axis, e.shape);
        slice = {i, i + 1, 1, false};
      } else if (entry.kind == Entry::Kind::slice) {
        slice = resolve_slice(entry.slice, size);
      }
      if (entry.kind == Entry::Kind::slice) result.push_back(slice.count());
      if (entry.kind == Entry::Kind::newaxis) result.push_back(1);
    }
    if (!consumes) continue;
    plan.sliced = plan.sliced || slice.start != 0 || slice.limit != size || slice.stride != 1 || slice.reversed;
    plan.basic_shape.push_back(slice.count());
    plan.slices.push_back(slice);
    ++axis;
  }
  plan.result = result;
  if (plan.advanced.empty()) return plan;
  if (apart) plan.batch_at = 0;
  finish_indices(plan, mode);
  for (int i = 0; i < plan.batch.rank(); ++i) plan.result.insert(plan.batch_at + i, plan.batch[i]);
  return plan;
}

}  // namespace uni::api
