// in_axes and out_axes, as vmap and pmap read them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/node.hpp"
#include <unisono/detail/tree_type.hpp>
#include <unisono/transform.hpp>

namespace uni::api {

struct MappedLeaf {
  Array value;
  AxisSpec axis;  // counted from the front
  std::string path;
};
struct MappedArguments {
  std::vector<MappedLeaf> leaves;
  i64 size = 0;
};
// Throws ShapeError when sizes differ, an axis is out of range, or nothing is mapped and no size was given.
MappedArguments map_arguments(std::string_view who, const std::vector<detail::TreeRef>& args,
                              const std::vector<AxisSpec>& in_axes, std::optional<i64> axis_size);
// One axis per result leaf. `leaves` counts the leaves of each top-level result.
std::vector<AxisSpec> result_axes(std::string_view who, const std::vector<AxisSpec>& out_axes,
                                  const std::vector<std::size_t>& leaves);
int wrapped_axis(std::string_view who, int axis, int rank, const Array& value);

}  // namespace uni::api
