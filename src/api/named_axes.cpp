#include "api/named_axes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "api/fail.hpp"

namespace uni::api {

int resolve_axis(std::string_view who, int axis, const ir::Type& type) {
  const int rank = type.shape.rank();
  if (axis < -rank || axis >= rank)
    fail<ShapeError>(base::cat(who, ": axis ", axis, " of ", ir::to_string(type), " does not exist"));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> resolve_axes(std::string_view who, const Axes& axes, const ir::Type& type) {
  std::vector<int> out;
  if (axes.all()) {
    out.resize(static_cast<std::size_t>(type.shape.rank()));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  for (int axis : axes.vector()) {
    const int resolved = resolve_axis(who, axis, type);
    if (std::find(out.begin(), out.end(), resolved) != out.end())
      fail<ShapeError>(base::cat(who, ": axis ", resolved, " of ", ir::to_string(type), " is named twice"));
    out.push_back(resolved);
  }
  return out;
}

std::vector<int> reduction_axes(std::string_view who, const Axes& axes, const ir::Type& type) {
  std::vector<int> out = resolve_axes(who, axes, type);
  std::sort(out.begin(), out.end());
  return out;
}

Dims kept_shape(const Dims& shape, const std::vector<int>& axes) {
  Dims out = shape;
  for (int axis : axes) out[axis] = 1;
  return out;
}

void check_shape(std::string_view who, const Dims& shape) {
  i64 count = 1;
  for (i64 size : shape) {
    if (size < 0) fail<ShapeError>(base::cat(who, ": the shape ", shape, " has a negative size"));
    if (size && count > std::numeric_limits<i64>::max() / 16 / size)
      fail<ShapeError>(base::cat(who, ": the shape ", shape, " has too many elements"));
    count *= size ? size : 1;
  }
}

}  // namespace uni::api
