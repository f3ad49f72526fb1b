#include "api/limits.hpp"

#include <limits>

#include "api/fail.hpp"

namespace uni::api {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

void refuse_complex(Dtype dtype) {
  if (is_complex(dtype)) fail<DtypeError>(base::cat(name(dtype), " has no order"));
}
}  // namespace

ir::Scalar lowest(Dtype dtype) {
  refuse_complex(dtype);
  if (is_float(dtype)) return ir::Scalar::of_double(dtype, -infinity);
  if (!is_signed(dtype)) return ir::Scalar::of_int(dtype, 0);
  return ir::Scalar::of_int(dtype, std::numeric_limits<i64>::min() >> (64 - 8 * itemsize(dtype)));
}

ir::Scalar highest(Dtype dtype) {
  refuse_complex(dtype);
  if (is_float(dtype)) return ir::Scalar::of_double(dtype, infinity);
  if (is_bool(dtype)) return ir::Scalar::of_int(dtype, 1);
  if (is_unsigned(dtype)) return ir::Scalar::of_int(dtype, -1);
  return ir::Scalar::of_int(dtype, std::numeric_limits<i64>::max() >> (64 - 8 * itemsize(dtype)));
}

ir::Scalar fill_value(Dtype dtype) {
  if (is_inexact(dtype)) return ir::Scalar::of_double(dtype, std::numeric_limits<double>::quiet_NaN());
  if (dtype == Dtype::key) return ir::Scalar::of_int(dtype, 0);
  return is_signed(dtype) ? lowest(dtype) : highest(dtype);
}

}  // namespace uni::api
