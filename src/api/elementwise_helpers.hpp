// What the element-wise public functions share.
#pragma once
#include "api/promote.hpp"
#include "core/trace.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::api {

using Unary = Array (*)(const Array&);
using Binary = Array (*)(const Array&, const Array&);

// f on operands of the common dtype and shape.
Array binary(std::string_view who, const In& x, const In& y, Binary f);
// The same with the common inexact dtype.
Array inexact_binary(std::string_view who, const In& x, const In& y, Binary f);
// f on the operand with an inexact dtype.
Array inexact_unary(std::string_view who, const In& x, Unary f);
// f on the truth values of the operands.
Array logical_binary(std::string_view who, const In& x, const In& y, Binary f);
// The operand as bool: whether it is not zero.
Array truth(std::string_view who, const In& x);
// A constant like x: dtype, shape and weakness.
Array constant_like(const Array& x, double value);
// Throws DtypeError for a bool operand: "negative: bool has no negative", with what to use instead.
void refuse_bool(std::string_view who, const In& x, std::string_view instead);

}  // namespace uni::api
