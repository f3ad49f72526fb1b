// What products share.
#pragma once
#include <string_view>

#include "ops/contract.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// dot_general, for bool too.
Array contract(const Array& x, const Array& y, const ops::DotGeneral& dims);
// Both operands with the common dtype.
struct Factors {
  Array x, y;
};
Factors factors(std::string_view who, const In& x, const In& y);
// Throws ShapeError "matmul: lhs f32[128,784] and rhs f32[512,10] disagree on the contracted size: ...".
void check_contracted(std::string_view who, const Array& x, int x_axis, const Array& y, int y_axis);

}  // namespace uni::api
