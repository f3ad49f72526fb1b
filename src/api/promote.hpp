// Dtype promotion with weak scalars, NumPy broadcasting, and operands made ready for the strict lax functions.
#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include "ir/codec.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// What promotion looks at: a dtype, and whether it yields to a strong one.
struct ValueType {
  Dtype dtype = Dtype::f32;
  bool weak = false;
  bool operator==(const ValueType&) const = default;
};
// Of an operand. A scalar has the 32-bit default of its kind, weak unless it is a bool.
ValueType value_type(const In& x);
ValueType value_type(const Array& x);
// The least upper bound in the lattice of dtypes. Throws DtypeError when one is a key and the other is not.
ValueType promote(std::string_view who, ValueType a, ValueType b);
ValueType promote(std::string_view who, std::initializer_list<In> operands);
// Integers and bool become f32, 64-bit integers f64; inexact types stay.
ValueType to_inexact(std::string_view who, ValueType type);

// The constant of that dtype. Throws DtypeError naming `who` for an integer, or a real that goes to an integer, that
// does not fit.
ir::Scalar constant(std::string_view who, detail::HostScalar value, Dtype dtype);

const Dims& shape_of(const In& x);  // () of a scalar
// Throws ShapeError "add: shapes (2, 3) and (4,) do not broadcast".
Dims broadcast_shapes(std::string_view who, std::span<const Dims> shapes);
Dims broadcast_shapes(std::string_view who, std::initializer_list<In> operands);

// The operand as an Array of its own dtype; a scalar becomes a constant of rank 0.
Array as_array(std::string_view who, const In& x);
// The operand as an Array of this dtype, its shape unchanged.
Array as_type(std::string_view who, const In& x, ValueType type);
// The operand as an Array of this dtype and shape.
Array prepare(std::string_view who, const In& x, ValueType type, const Dims& shape);
// The operand with an inexact dtype.
Array as_inexact(std::string_view who, const In& x);

}  // namespace uni::api
