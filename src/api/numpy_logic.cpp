#include <unisono/elementwise.hpp>

#include <cmath>
#include <limits>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "ops/contract.hpp"

namespace uni {

namespace api {

Array truth(std::string_view who, const In& x) {
  if (value_type(x).dtype == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no truth value"));
  return lax::convert(as_array(who, x), Dtype::b8);
}

Array logical_binary(std::string_view who, const In& x, const In& y, Binary f) {
  const core::At at(x.where());
  const Dims shape = broadcast_shapes(who, {x, y});
  return f(lax::broadcast_to(truth(who, x), shape), lax::broadcast_to(truth(who, y), shape));
}

namespace {
std::vector<int> all_axes(const Array& x) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}

Array infinity_like(const Array& x) { return constant_like(x, std::numeric_limits<double>::infinity()); }
Array constant_bool(const Array& x, bool value) { return lax::full_int(value ? 1 : 0, Dtype::b8, x.shape()); }

// f on floats; on complex numbers f of the parts, joined; `otherwise` for integers and bool.
Array classify(std::string_view who, const In& x, Unary f, Binary join, bool otherwise) {
  const core::At at(x.where());
  const Array a = as_array(who, x);
  if (is_complex(a.dtype())) return join(f(lax::real(a)), f(lax::imag(a)));
  if (is_float(a.dtype())) return f(a);
  if (a.dtype() == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no numeric value"));
  return constant_bool(a, otherwise);
}

Array close_values(const Array& x, const Array& y, const CloseOptions& options) {
  const Array difference = lax::abs(lax::sub(x, y)), size = lax::abs(y);
  const Array bound = lax::add(constant_like(size, options.atol), lax::mul(constant_like(size, options.rtol), size));
  // A finite bound: infinities are close only to themselves.
  const Array within = lax::bit_and(lax::le(difference, bound), lax::is_finite(bound));
  const Array close = lax::bit_or(within, lax::eq(x, y));
  if (!options.equal_nan) return close;
  return lax::bit_or(close, lax::bit_and(lax::ne(x, x), lax::ne(y, y)));
}

Array replace_specials(const Array& x, const NanToNumOptions& options) {
  const Array infinity = infinity_like(x);
  const Array largest = [&] {
    if (x.dtype() == Dtype::f16) return constant_like(x, 65504);
    if (x.dtype() == Dtype::bf16) return constant_like(x, 0x1.fep127);
    if (x.dtype() == Dtype::f32) return constant_like(x, std::numeric_limits<float>::max());
    return constant_like(x, std::numeric_limits<double>::max());
  }();
  const Array high = options.posinf ? constant_like(x, *options.posinf) : largest;
  const Array low = options.neginf ? constant_like(x, *options.neginf) : lax::neg(largest);
  Array out = lax::select(lax::ne(x, x), constant_like(x, options.nan), x);
  out = lax::select(lax::eq(x, infinity), high, out);
  return lax::select(lax::eq(x, lax::neg(infinity)), low, out);
}
}  // namespace
}  // namespace api

using namespace api;

Array logical_and(In x, In y) { return logical_binary("logical_and", x, y, lax::bit_and); }
Array logical_or(In x, In y) { return logical_binary("logical_or", x, y, lax::bit_or); }
Array logical_xor(In x, In y) { return logical_binary("logical_xor", x, y, lax::bit_xor); }
Array logical_not(In x) {
  const core::At at(x.where());
  return lax::logical_not(truth("logical_not", x));
}

Array isnan(In x) {
  return classify(
      "isnan", x, [](const Array& a) { return lax::ne(a, a); }, lax::bit_or, false);
}
Array isinf(In x) {
  return classify(
      "isinf", x, [](const Array& a) { return lax::eq(lax::abs(a), infinity_like(a)); }, lax::bit_or, false);
}
Array isfinite(In x) { return classify("isfinite", x, lax::is_finite, lax::bit_and, true); }

Array isclose(In x, In y, const CloseOptions& options) {
  const core::At at(x.where());
  const ValueType type = to_inexact("isclose", promote("isclose", {x, y}));
  const Dims shape = broadcast_shapes("isclose", {x, y});
  return close_values(prepare("isclose", x, type, shape), prepare("isclose", y, type, shape), options);
}
Array allclose(In x, In y, const CloseOptions& options) {
  const core::At at(x.where());
  const Array close = isclose(x, y, options);
  return lax::reduce_and(close, all_axes(close));
}
Array array_equal(In x, In y) {
  const core::At at(x.where());
  if (!(shape_of(x) == shape_of(y))) return lax::full_int(0, Dtype::b8, {});
  const Array same = equal(x, y);
  return lax::reduce_and(same, all_axes(same));
}

Array where(In condition, In x, In y) {
  const core::At at(condition.where());
  const ValueType type = promote("where", {x, y});
  const Dims shape = broadcast_shapes("where", {condition, x, y});
  return lax::select(lax::broadcast_to(truth("where", condition), shape), prepare("where", x, type, shape),
                     prepare("where", y, type, shape));
}

Array clip(In x, In low, In high) {
  const core::At at(x.where());
  const ValueType type = promote("clip", {x, low, high});
  const Dims shape = broadcast_shapes("clip", {x, low, high});
  const Array raised = lax::maximum(prepare("clip", x, type, shape), prepare("clip", low, type, shape));
  return lax::minimum(raised, prepare("clip", high, type, shape));
}

Array astype(In x, Dtype dtype) {
  const core::At at(x.where());
  if (x.is_scalar()) return lax::full_scalar(constant("astype", x.scalar(), dtype), {});
  const Dtype own = value_type(x).dtype;
  if ((own == Dtype::key) != (dtype == Dtype::key))
    fail<DtypeError>(base::cat("astype: ", name(own), " cannot become ", name(dtype)));
  return lax::convert(x.array(), dtype);
}

Array bitcast(In x, Dtype dtype) {
  const core::At at(x.where());
  return lax::bitcast(as_array("bitcast", x), dtype);
}

Array stop_gradient(In x) {
  const core::At at(x.where());
  return lax::stop_gradient(as_array("stop_gradient", x));
}

Array nan_to_num(In x, const NanToNumOptions& options) {
  const core::At at(x.where());
  const Array a = as_array("nan_to_num", x);
  if (is_complex(a.dtype()))
    return lax::complex(replace_specials(lax::real(a), options), replace_specials(lax::imag(a), options));
  return is_float(a.dtype()) ? replace_specials(a, options) : a;
}

}  // namespace uni
