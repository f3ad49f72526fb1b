// What the samplers share.
#pragma once
#include <string_view>

#include <unisono/random.hpp>

namespace uni::api {

// The one key. Throws ShapeError for several of them.
const Array& single_key(std::string_view who, const Key& key);
void require_float(std::string_view who, Dtype dtype);
// Uniform in [0, 1) with all random bits that the dtype's fraction holds.
Array unit_uniform(const Array& key, Dtype dtype, const Dims& shape);
// Uniform in [low, high); the bounds are arrays of the dtype and shape.
Array uniform_between(const Array& key, const Array& low, const Array& high);
// The same for constants, rounded to the dtype.
Array uniform_constant(const Array& key, Dtype dtype, const Dims& shape, double low, double high);
// -log(-log(u)).
Array gumbel_values(const Array& key, Dtype dtype, const Dims& shape);

}  // namespace uni::api
