// Values of any dtype on the host, for the checks of rows.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include "core/node.hpp"
#include "row_contract.hpp"

namespace uni::contract {

using Value = std::complex<long double>;  // holds the elements of every dtype exactly
using Values = std::vector<Value>;

Values read(const Array& a);
Array make(Dtype dtype, const Dims& shape, const Values& values);
// Element values drawn for lane `lane` of a sample's operand.
Array draw(const OperandSpec& spec, std::uint64_t seed, int lane = 0);
// Directions and cotangents: both signs, away from zero.
Array draw_direction(const core::Type& type, std::uint64_t seed);
Array stack(const std::vector<Array>& lanes, const core::Type& lane_type);
// Elements [start, start + size) of every dimension; beyond the end of `a`, `fill`.
Array block(const Array& a, const std::vector<i64>& start, const Dims& size, Value fill = 0);

// a + scale * b, computed on the host.
Array axpy(const Array& a, const Array& b, long double scale);
// Re(sum a b).
long double dot(const Array& a, const Array& b);
// Relative tolerance fit for the dtype; 0 for integers, bool and keys.
long double tolerance(Dtype dtype);
// The first place where the values differ by more than `tol` times (1 + size); NaN equals NaN.
std::optional<std::string> difference(const Values& got, const Values& want, long double tol);
std::optional<std::string> difference(const Array& got, const Array& want, long double tol);

}  // namespace uni::contract
