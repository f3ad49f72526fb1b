#include <unisono/activations.hpp>

#include <cmath>
#include <numbers>
#include <utility>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "api/named_axes.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/reduction.hpp>
#include <unisono/shaping.hpp>
#include <unisono/transform.hpp>

namespace uni::nn {

using namespace api;

namespace {
Array constant(const Array& x, double value) { return lax::full_like(x, value); }

// Value(x) with the derivative 1 where Inside(x) holds, and 0 elsewhere: also at the ends and at NaN.
template <Array (*Value)(const Array&), Array (*Inside)(const Array&)>
Array gated(std::string_view who, const In& x) {
  const core::At at(x.where());
  static const auto f = custom_jvp(Value, [](const Array& a, const Array& t) {
    return std::pair{Value(a), lax::select(Inside(a), t, constant(t, 0))};
  });
  const Array a = as_array(who, x);
  return f(is_bool(a.dtype()) ? lax::convert(a, Dtype::i32) : a);
}
Array positive_part(const Array& x) { return lax::maximum(x, constant(x, 0)); }
Array is_positive(const Array& x) { return lax::gt(x, constant(x, 0)); }
Array up_to_six(const Array& x) { return lax::minimum(positive_part(x), constant(x, 6)); }
Array is_up_to_six(const Array& x) { return lax::bit_and(is_positive(x), lax::lt(x, constant(x, 6))); }
}  // namespace

Array relu(In x) { return gated<positive_part, is_positive>("relu", x); }
Array relu6(In x) {
  const core::At at(x.where());
  return gated<up_to_six, is_up_to_six>("relu6", as_inexact("relu6", x));
}

Array leaky_relu(In x, const LeakyReluOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("leaky_relu", x);
  return where(a >= 0, a, options.negative_slope * a);
}

Array elu(In x, const EluOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("elu", x), above = a > 0;
  // Positive x would overflow in expm1, and infinity times zero is a NaN derivative.
  return where(above, a, options.alpha * expm1(where(above, 0., a)));
}
Array celu(In x, const EluOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("celu", x);
  return maximum(a, 0.) + options.alpha * expm1(minimum(a, 0.) / options.alpha);
}
Array selu(In x) {
  const core::At at(x.where());
  return 1.0507009873554804934193349852946 * elu(as_inexact("selu", x), {.alpha = 1.6732632423543772848170429916717});
}

Array gelu(In x, const GeluOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("gelu", x);
  if (!options.approximate) return 0.5 * a * erfc(-std::sqrt(0.5) * a);
  const Array inner = std::sqrt(2 / std::numbers::pi) * (a + 0.044715 * power(a, 3));
  return a * (0.5 * (1. + tanh(inner)));
}

Array silu(In x) {
  const core::At at(x.where());
  const Array a = as_inexact("silu", x);
  return a * sigmoid(a);
}
Array softplus(In x) {
  const core::At at(x.where());
  return logaddexp(as_inexact("softplus", x), 0.);
}
Array log_sigmoid(In x) {
  const core::At at(x.where());
  return -softplus(-as_inexact("log_sigmoid", x));
}
Array mish(In x) {
  const core::At at(x.where());
  const Array a = as_inexact("mish", x);
  return a * tanh(softplus(a));
}
Array squareplus(In x, const SquareplusOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("squareplus", x);
  return (a + sqrt(square(a) + options.b)) / 2.;
}
Array soft_sign(In x) {
  const core::At at(x.where());
  const Array a = as_inexact("soft_sign", x);
  return a / (abs(a) + 1.);
}

Array hard_tanh(In x) {
  const core::At at(x.where());
  const Array a = as_array("hard_tanh", x);
  return where(a > 1, 1, where(a < -1, -1, a));
}
Array hard_sigmoid(In x) {
  const core::At at(x.where());
  return relu6(as_inexact("hard_sigmoid", x) + 3.) / 6.;
}
Array hard_silu(In x) {
  const core::At at(x.where());
  const Array a = as_inexact("hard_silu", x);
  return a * hard_sigmoid(a);
}
Array sparse_plus(In x) {
  const core::At at(x.where());
  const Array a = as_inexact("sparse_plus", x);
  return where(a <= -1., 0., where(a >= 1., a, square(a + 1.) / 4.));
}
Array sparse_sigmoid(In x) {
  const core::At at(x.where());
  return 0.5 * clip(as_inexact("sparse_sigmoid", x) + 1., 0., 2.);
}

Array log1mexp(In x) {
  const core::At at(x.where());
  // Mächler, "Accurately computing log(1 - exp(-|a|))": each form cancels on the other side of log 2.
  static const auto value = [](const Array& a) {
    return where(a < std::numbers::ln2, log(-expm1(-a)), log1p(-exp(-a)));
  };
  static const auto f = custom_jvp(value, [](const Array& a, const Array& t) {
    return std::pair{value(a), t / expm1(a)};
  });
  return f(as_inexact("log1mexp", x));
}

Array glu(In x, const GluOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("glu", x);
  const int axis = resolve_axis("glu", options.axis, core::type_of(a));
  const i64 size = a.shape()[axis];
  if (size % 2)
    fail<ShapeError>(base::cat("glu: axis ", axis, " of ", ir::to_string(core::type_of(a)),
                               " cannot be halved, its size ", size, " is odd"));
  return lax::slice_axis(a, axis, 0, size / 2) * sigmoid(lax::slice_axis(a, axis, size / 2, size));
}

Array standardize(In x, const StandardizeOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("standardize", x);
  const SumOptions same{.axis = options.axis, .keepdims = true, .where = options.where};
  const Array center = options.mean.defined() ? options.mean : mean(a, same);
  const Array distance = a - center;
  const Array spread = options.variance.defined() ? options.variance : mean(square(distance), same);
  return distance * rsqrt(spread + options.epsilon);
}

Array logmeanexp(In x, const LogMeanExpOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("logmeanexp", x);
  const Array chosen = options.where.defined() ? options.where : Array(true);
  const Array count = sum(broadcast_to(astype(truth("logmeanexp", chosen), a.dtype()), a.shape()),
                          {.axis = options.axis, .keepdims = options.keepdims});
  const Array total = logsumexp(a, {.axis = options.axis, .keepdims = options.keepdims, .where = options.where});
  return total - log(count);
}

}  // namespace uni::nn
