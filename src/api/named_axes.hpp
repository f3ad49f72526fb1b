// Axes and shapes that users name, made non-negative and checked.
#pragma once
#include <string_view>
#include <vector>

#include "ir/type.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// Throws ShapeError "sum: axis 3 of f32[2,3] does not exist".
int resolve_axis(std::string_view who, int axis, const ir::Type& type);
// In the order written; throws for axes named twice.
std::vector<int> resolve_axes(std::string_view who, const Axes& axes, const ir::Type& type);
// Sorted.
std::vector<int> reduction_axes(std::string_view who, const Axes& axes, const ir::Type& type);
// The shape with the axes set to 1.
Dims kept_shape(const Dims& shape, const std::vector<int>& axes);

// Throws ShapeError for negative sizes and for more elements than memory can hold.
void check_shape(std::string_view who, const Dims& shape);

}  // namespace uni::api
