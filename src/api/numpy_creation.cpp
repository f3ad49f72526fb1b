#include <unisono/creation.hpp>

#include <cmath>

#include "api/fail.hpp"
#include "api/named_axes.hpp"
#include "api/promote.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

using namespace api;

namespace {
using detail::HostScalar;

Array constant_array(std::string_view who, const Dims& shape, HostScalar value, Dtype dtype, bool weak = false) {
  check_shape(who, shape);
  return lax::full_scalar(constant(who, value, dtype), shape, weak);
}

Array like(std::string_view who, const In& x, HostScalar value, const LikeOptions& options) {
  const core::At at(x.where());
  const ValueType own = value_type(x);
  return constant_array(who, options.shape.value_or(shape_of(x)), value, options.dtype.value_or(own.dtype),
                        own.weak && !options.dtype);
}

double as_double(const HostScalar& s) {
  if (s.kind == HostScalar::Kind::real) return s.d;
  return s.kind == HostScalar::Kind::natural ? static_cast<double>(s.u) : static_cast<double>(s.i);
}
bool is_real(const HostScalar& s) { return s.kind == HostScalar::Kind::real; }

// How many values lie from start on before stop; exact for integers.
i64 steps(const HostScalar& start, const HostScalar& stop, const HostScalar& step) {
  const double count = std::ceil((as_double(stop) - as_double(start)) / as_double(step));
  if (!(count < 0x1p40))
    fail<ShapeError>(base::cat("arange: ", as_double(start), " to ", as_double(stop), " by ", as_double(step),
                               " has too many elements"));
  return count > 0 ? static_cast<i64>(count) : 0;
}

// a + (position * b), positions along the last axis.
Array ramp(const Array& start, const Array& step, const Array& position) {
  return lax::add(start, lax::mul(position, step));
}

Array triangle(std::string_view who, const In& x, int offset, bool lower) {
  const core::At at(x.where());
  const Array a = as_array(who, x);
  const Dims& shape = a.shape();
  if (shape.rank() < 2)
    fail<ShapeError>(base::cat(who, ": ", ir::to_string(core::type_of(a)), " has no last two axes"));
  const Array row = lax::iota(Dtype::i32, shape, shape.rank() - 2);
  const Array column = lax::iota(Dtype::i32, shape, shape.rank() - 1);
  const Array diagonal = lax::add(row, lax::full_int(offset, Dtype::i32, shape));
  const Array kept = lower ? lax::le(column, diagonal) : lax::ge(column, diagonal);
  const ir::Type& t = core::type_of(a);
  return lax::select(kept, a, lax::full_scalar(ir::Scalar::of_int(t.dtype, 0), t.shape, t.weak));
}
}  // namespace

Array zeros(const Dims& shape, Dtype dtype, Location where) {
  const core::At at(where);
  return constant_array("zeros", shape, HostScalar::of(0), dtype);
}
Array ones(const Dims& shape, Dtype dtype, Location where) {
  const core::At at(where);
  return constant_array("ones", shape, HostScalar::of(1), dtype);
}

Array full(const Dims& shape, In value, const FullOptions& options) {
  const core::At at(value.where());
  check_shape("full", shape);
  const ValueType own = value_type(value);
  const ValueType type{options.dtype.value_or(own.dtype), own.weak && !options.dtype};
  if (value.is_scalar()) return constant_array("full", shape, value.scalar(), type.dtype, type.weak);
  const Dims both[] = {shape, shape_of(value)};
  if (!(broadcast_shapes("full", both) == shape))
    fail<ShapeError>(base::cat("full: a value of shape ", shape_of(value), " does not broadcast to ", shape));
  return prepare("full", value, type, shape);
}

Array zeros_like(In x, const LikeOptions& options) { return like("zeros_like", x, HostScalar::of(0), options); }
Array ones_like(In x, const LikeOptions& options) { return like("ones_like", x, HostScalar::of(1), options); }
Array full_like(In x, In value, const LikeOptions& options) {
  const core::At at(x.where());
  if (value.is_scalar()) return like("full_like", x, value.scalar(), options);
  return full(options.shape.value_or(shape_of(x)), value, {.dtype = options.dtype.value_or(value_type(x).dtype)});
}

Array arange(HostNumber start_or_stop, HostNumber stop, HostNumber step, const ArangeOptions& options, Location where) {
  const core::At at(where);
  const HostScalar first = stop.given() ? start_or_stop.value() : HostScalar::of(0);
  const HostScalar last = stop.given() ? stop.value() : start_or_stop.value();
  const HostScalar by = step.given() ? step.value() : HostScalar::of(1);
  if (!start_or_stop.given()) fail<ShapeError>("arange: no stop is given");
  for (const HostScalar& s : {first, last, by})
    if (s.kind == HostScalar::Kind::boolean) fail<DtypeError>("arange: takes numbers, not bool");
  if (as_double(by) == 0) fail<ShapeError>("arange: the step is zero");
  const bool real = is_real(first) || is_real(last) || is_real(by);
  const Dtype dtype = options.dtype.value_or(real ? Dtype::f32 : Dtype::i32);
  const Dims shape{steps(first, last, by)};
  if (shape[0] && is_integer(dtype) && !real)  // the last value must fit as well
    constant("arange", HostScalar::of(first.i + (shape[0] - 1) * by.i), dtype);
  const Array position = lax::iota(dtype, shape, 0);
  if (as_double(first) == 0 && as_double(by) == 1) return position;
  return ramp(constant_array("arange", shape, first, dtype), constant_array("arange", shape, by, dtype), position);
}

Array linspace(In start, In stop, i64 count, const LinspaceOptions& options) {
  const core::At at(start.where());
  if (count < 0) fail<ShapeError>(base::cat("linspace: the count ", count, " is negative"));
  ValueType type = to_inexact("linspace", promote("linspace", {start, stop}));
  type.weak = false;
  if (options.dtype && is_inexact(*options.dtype)) type.dtype = *options.dtype;
  Dims shape = broadcast_shapes("linspace", {start, stop});
  shape.insert(0, count);
  check_shape("linspace", shape);
  const Array first = prepare("linspace", start, type, shape), last = prepare("linspace", stop, type, shape);
  const i64 intervals = options.endpoint ? count - 1 : count;
  const Array position = lax::iota(type.dtype, shape, 0);
  const Array fraction =
      intervals > 0 ? lax::div(position, lax::full(static_cast<double>(intervals), type.dtype, shape)) : position;
  const Array one = lax::full(1, type.dtype, shape);
  // Both ends weighted, so that neither end nor the middle is rounded twice.
  Array out = lax::add(lax::mul(first, lax::sub(one, fraction)), lax::mul(last, fraction));
  if (options.endpoint && count > 1) out = lax::select(lax::eq(fraction, one), last, out);
  if (options.dtype && !is_inexact(*options.dtype)) return lax::convert(lax::floor(out), *options.dtype);
  return out;
}

Array eye(i64 rows, const EyeOptions& options, Location where) {
  const core::At at(where);
  const Dims shape{rows, options.columns.value_or(rows)};
  check_shape("eye", shape);
  const Array row = lax::iota(Dtype::i32, shape, 0), column = lax::iota(Dtype::i32, shape, 1);
  const Array diagonal = lax::add(row, lax::full_int(options.offset, Dtype::i32, shape));
  return lax::convert(lax::eq(column, diagonal), options.dtype);
}

Array tril(In x, const TriangleOptions& options) { return triangle("tril", x, options.offset, true); }
Array triu(In x, const TriangleOptions& options) { return triangle("triu", x, options.offset, false); }

}  // namespace uni
