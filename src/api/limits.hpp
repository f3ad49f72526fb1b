// Values at the ends of a dtype.
#pragma once
#include "ir/codec.hpp"

namespace uni::api {

ir::Scalar lowest(Dtype dtype);   // -inf of floats, false of bool
ir::Scalar highest(Dtype dtype);  // inf of floats, true of bool
// What a read out of range gives in mode fill: NaN, the lowest signed integer, the highest unsigned one, true.
ir::Scalar fill_value(Dtype dtype);

}  // namespace uni::api
