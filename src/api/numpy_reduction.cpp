#include <unisono/reduction.hpp>

#include <limits>

#include "api/named_axes.hpp"
#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "ops/contract.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/shaping.hpp>

namespace uni {

using namespace api;

namespace {
using Reducer = Array (*)(const Array&, const std::vector<int>&);

// An operand and what is reduced of it.
struct Reduction {
  Reduction(std::string_view who, const In& x, const Axes& named, Flag keep)
      : array(as_array(who, x)), axes(reduction_axes(who, named, core::type_of(array))), keepdims(keep) {
    if (array.dtype() == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no numeric value"));
    kept = kept_shape(array.shape(), axes);
    for (int axis : axes) count *= array.shape()[axis];
  }
  // The result, strong also of a weak operand.
  Array finish(const Array& reduced) const {
    const Array strong = lax::convert(reduced, reduced.dtype());
    return keepdims ? lax::reshape(strong, kept) : strong;
  }
  // A reduced value, repeated to the operand's shape.
  Array spread(const Array& reduced) const { return lax::broadcast_to(lax::reshape(reduced, kept), array.shape()); }

  Array array;
  std::vector<int> axes;
  Dims kept;
  bool keepdims;
  i64 count = 1;
};

Dtype widened(Dtype dtype) {
  switch (dtype) {
    case Dtype::b8:
    case Dtype::i8:
    case Dtype::i16:
      return Dtype::i32;
    case Dtype::u8:
    case Dtype::u16:
      return Dtype::u32;
    default:
      return dtype;
  }
}

Array mask_of(std::string_view who, const Array& where, const Dims& shape) {
  const Dims both[] = {shape, where.shape()};
  if (!(broadcast_shapes(who, both) == shape))
    fail<ShapeError>(base::cat(who, ": .where of shape ", where.shape(), " does not broadcast to ", shape));
  return lax::broadcast_to(truth(who, where), shape);
}

Array masked(std::string_view who, const Array& x, const Array& where, double otherwise) {
  return where.defined() ? lax::select(mask_of(who, where, x.shape()), x, constant_like(x, otherwise)) : x;
}

Array total(std::string_view who, const In& x, const SumOptions& options, Reducer reduce, double neutral) {
  const core::At at(x.where());
  const Reduction r(who, x, options.axis, options.keepdims);
  const Array wide = lax::convert(r.array, options.dtype.value_or(widened(r.array.dtype())));
  return r.finish(reduce(masked(who, wide, options.where, neutral), r.axes));
}

// 16-bit floats are computed in f32, so that neither the sum nor the squares leave their range.
Array accumulating(const Array& x) {
  const Dtype dtype = x.dtype();
  return dtype == Dtype::f16 || dtype == Dtype::bf16 ? lax::convert(x, Dtype::f32, x.weak()) : x;
}

Array divided(const Array& x, double divisor) { return lax::div(x, constant_like(x, divisor)); }

// The variance in the accumulation type.
Array variance(const Reduction& r, double ddof) {
  const Array x = accumulating(r.array);
  const Array center = divided(lax::reduce_sum(x, r.axes), static_cast<double>(r.count));
  const Array distance = lax::sub(x, r.spread(center));
  Array squares = lax::mul(distance, distance);
  if (is_complex(x.dtype())) squares = lax::real(lax::mul(distance, lax::conj(distance)));
  return divided(lax::reduce_sum(squares, r.axes), static_cast<double>(r.count) - ddof);
}

Array extreme(std::string_view who, const In& x, const ExtremeOptions& options, Reducer reduce, Binary pick) {
  const core::At at(x.where());
  const Reduction r(who, x, options.axis, options.keepdims);
  const ir::Type& t = core::type_of(r.array);
  if (r.count == 0 && !options.initial)
    fail<ShapeError>(base::cat(who, ": ", ir::to_string(t), " has no elements to choose from"), "pass .initial");
  const Array reduced = reduce(r.array, r.axes);
  if (!options.initial) return r.finish(reduced);
  const ir::Scalar initial = constant(who, detail::HostScalar::of(*options.initial), t.dtype);
  const Array first = lax::full_scalar(initial, reduced.shape(), reduced.weak());
  // The neutral elements of an empty reduction may be representable values.
  return r.finish(r.count == 0 ? first : pick(reduced, first));
}

Array arg_extreme(std::string_view who, const In& x, const ArgReduceOptions& options,
                  Array (*find)(const Array&, int, Dtype)) {
  const core::At at(x.where());
  Array a = as_array(who, x);
  const ir::Type type = core::type_of(a);
  const int axis = options.axis ? resolve_axis(who, *options.axis, type) : 0;
  if ((options.axis ? type.shape[axis] : type.count()) == 0)
    fail<ShapeError>(base::cat(who, ": ", ir::to_string(type), " has no elements to choose from"));
  if (is_bool(type.dtype)) a = lax::convert(a, Dtype::i32);
  if (!options.axis) a = lax::reshape(a, {type.count()});
  const Array found = find(a, axis, Dtype::i32);
  if (!options.keepdims) return found;
  std::vector<int> axes{axis};
  if (!options.axis) axes = resolve_axes(who, {}, type);
  return lax::reshape(found, kept_shape(type.shape, axes));
}
}  // namespace

Array sum(In x, const SumOptions& options) { return total("sum", x, options, lax::reduce_sum, 0); }
Array prod(In x, const SumOptions& options) { return total("prod", x, options, lax::reduce_prod, 1); }

Array mean(In x, const SumOptions& options) {
  const core::At at(x.where());
  Reduction r("mean", x, options.axis, options.keepdims);
  const ValueType type = options.dtype ? ValueType{*options.dtype, false} : to_inexact("mean", value_type(r.array));
  const Array wide = accumulating(lax::convert(r.array, type.dtype, type.weak));
  const Array sum = lax::reduce_sum(masked("mean", wide, options.where, 0), r.axes);
  if (!options.where.defined())
    return r.finish(lax::convert(divided(sum, static_cast<double>(r.count)), type.dtype, type.weak));
  const Array mask = mask_of("mean", options.where, r.array.shape());
  const Array count = lax::reduce_sum(lax::convert(mask, sum.dtype(), sum.weak()), r.axes);
  return r.finish(lax::convert(lax::div(sum, count), type.dtype, type.weak));
}

Array var(In x, const VarOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("var", x);
  const Reduction r("var", a, options.axis, options.keepdims);
  return r.finish(lax::convert(variance(r, options.ddof), real_part(a.dtype()), a.weak()));
}

Array std(In x, const VarOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("std", x);
  const Reduction r("std", a, options.axis, options.keepdims);
  const Array v = variance(r, options.ddof);
  // The root of a zero variance has the derivative zero, not NaN.
  const Array zero = lax::eq(v, constant_like(v, 0));
  const Array root = lax::sqrt(lax::select(zero, constant_like(v, 1), v));
  return r.finish(lax::convert(lax::select(zero, constant_like(v, 0), root), real_part(a.dtype()), a.weak()));
}

Array trace(In x, const TraceOptions& options) {
  const core::At at(x.where());
  const DiagonalOptions same{.offset = options.offset, .axis1 = options.axis1, .axis2 = options.axis2};
  return sum(diagonal(x, same), {.axis = -1});
}

Array diff(In x, const DiffOptions& options) {
  const core::At at(x.where());
  Array a = as_array("diff", x);
  const int axis = resolve_axis("diff", options.axis, core::type_of(a));
  if (options.order < 0) fail<ShapeError>(base::cat("diff: the order ", options.order, " is negative"));
  for (int i = 0; i < options.order && a.shape()[axis] > 0; ++i) {
    const i64 size = a.shape()[axis];
    const Array later = lax::slice_axis(a, axis, 1, size), earlier = lax::slice_axis(a, axis, 0, size - 1);
    a = is_bool(a.dtype()) ? lax::ne(later, earlier) : lax::sub(later, earlier);
  }
  return a;
}

Array max(In x, const ExtremeOptions& options) { return extreme("max", x, options, lax::reduce_max, lax::maximum); }
Array min(In x, const ExtremeOptions& options) { return extreme("min", x, options, lax::reduce_min, lax::minimum); }
Array ptp(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const ExtremeOptions same{.axis = options.axis, .keepdims = options.keepdims};
  return lax::sub(max(x, same), min(x, same));
}

Array any(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const Reduction r("any", x, options.axis, options.keepdims);
  return r.finish(lax::reduce_or(truth("any", r.array), r.axes));
}
Array all(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const Reduction r("all", x, options.axis, options.keepdims);
  return r.finish(lax::reduce_and(truth("all", r.array), r.axes));
}
Array count_nonzero(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const Reduction r("count_nonzero", x, options.axis, options.keepdims);
  return r.finish(lax::reduce_sum(lax::convert(truth("count_nonzero", r.array), Dtype::i32), r.axes));
}

Array argmax(In x, const ArgReduceOptions& options) { return arg_extreme("argmax", x, options, lax::argmax); }
Array argmin(In x, const ArgReduceOptions& options) { return arg_extreme("argmin", x, options, lax::argmin); }

namespace {
Array not_nan(const Array& x) { return is_inexact(x.dtype()) ? lax::eq(x, x) : lax::full_int(1, Dtype::b8, x.shape()); }

Array nan_extreme(std::string_view who, const In& x, const ReduceOptions& options, double neutral,
                  Array (*find)(In, const ExtremeOptions&)) {
  const core::At at(x.where());
  const Array a = as_array(who, x);
  const ExtremeOptions same{.axis = options.axis, .keepdims = options.keepdims};
  if (!is_float(a.dtype())) return find(a, same);
  const Array present = not_nan(a);
  const Array found = find(lax::select(present, a, constant_like(a, neutral)), same);
  const Array none = lax::logical_not(any(present, options));
  return lax::select(none, constant_like(found, std::numeric_limits<double>::quiet_NaN()), found);
}
}  // namespace

Array nansum(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const Array a = as_array("nansum", x);
  return sum(a, {.axis = options.axis, .keepdims = options.keepdims, .where = not_nan(a)});
}
Array nanmean(In x, const ReduceOptions& options) {
  const core::At at(x.where());
  const Array a = as_array("nanmean", x);
  return mean(a, {.axis = options.axis, .keepdims = options.keepdims, .where = not_nan(a)});
}
Array nanmax(In x, const ReduceOptions& options) {
  return nan_extreme("nanmax", x, options, -std::numeric_limits<double>::infinity(), max);
}
Array nanmin(In x, const ReduceOptions& options) {
  return nan_extreme("nanmin", x, options, std::numeric_limits<double>::infinity(), min);
}

Array median(In x, const MedianOptions& options) {
  const core::At at(x.where());
  Array a = as_inexact("median", x);
  const ir::Type type = core::type_of(a);
  if (!options.axis) a = lax::reshape(a, {type.count()});
  const int axis = options.axis ? resolve_axis("median", *options.axis, type) : 0;
  const i64 size = a.shape()[axis];
  std::vector<int> reduced{axis};
  if (!options.axis) reduced = resolve_axes("median", {}, type);
  Dims shape = a.shape();
  shape.erase(axis);
  const Dims result = options.keepdims ? kept_shape(type.shape, reduced) : shape;
  const Array nan = lax::full(std::numeric_limits<double>::quiet_NaN(), a.dtype(), result, a.weak());
  if (size == 0) return nan;
  const Array operands[] = {a};
  const Array sorted = lax::sort(operands, axis, 1)[0];
  const auto element = [&](i64 i) { return lax::reshape(lax::slice_axis(sorted, axis, i, i + 1), result); };
  // NaN is sorted to the end.
  const Array last = element(size - 1);
  const Array low = element((size - 1) / 2), high = element(size / 2);
  const Array middle = size % 2 ? low : divided(lax::add(low, high), 2);
  return lax::convert(lax::select(lax::ne(last, last), nan, middle), a.dtype());
}

namespace {
// The maximum to subtract before exp; infinite ones would give inf - inf.
Array stable_shift(const Array& x, const std::vector<int>& axes) {
  const Array largest = lax::stop_gradient(lax::reduce_max(x, axes));
  return lax::select(lax::is_finite(largest), largest, constant_like(largest, 0));
}

SignedLog log_of_sum(std::string_view who, const In& x, const LogSumExpOptions& options) {
  Array a = as_inexact(who, x), b = options.b;
  if (b.defined()) {
    const ValueType type = to_inexact(who, promote(who, {In(a), In(b)}));
    const Dims shape = broadcast_shapes(who, {In(a), In(b)});
    a = prepare(who, a, type, shape);
    b = prepare(who, b, type, shape);
  }
  if (is_complex(a.dtype())) fail<DtypeError>(base::cat(who, ": takes real numbers, not ", name(a.dtype())));
  const double nothing = -std::numeric_limits<double>::infinity();
  if (b.defined()) a = masked(who, a, lax::ne(b, constant_like(b, 0)), nothing);
  const Reduction r(who, masked(who, a, options.where, nothing), options.axis, options.keepdims);
  const Array shift = stable_shift(r.array, r.axes);
  const Array e = lax::exp(lax::sub(r.array, r.spread(shift)));
  const Array sum = lax::reduce_sum(b.defined() ? lax::mul(e, b) : e, r.axes);
  return {r.finish(lax::add(lax::log(b.defined() ? lax::abs(sum) : sum), shift)), r.finish(lax::sign(sum))};
}
}  // namespace

Array logsumexp(In x, const LogSumExpOptions& options) {
  const core::At at(x.where());
  const SignedLog sum = log_of_sum("logsumexp", x, options);
  if (!options.b.defined()) return sum.value;
  const Array negative = lax::lt(sum.sign, constant_like(sum.sign, 0));
  return lax::select(negative, constant_like(sum.value, std::numeric_limits<double>::quiet_NaN()), sum.value);
}
SignedLog signed_logsumexp(In x, const LogSumExpOptions& options) {
  const core::At at(x.where());
  return log_of_sum("signed_logsumexp", x, options);
}

namespace {
Array strong_inexact(std::string_view who, const In& x) {
  const Array a = as_inexact(who, x);
  if (is_complex(a.dtype())) fail<DtypeError>(base::cat(who, ": takes real numbers, not ", name(a.dtype())));
  return lax::convert(a, a.dtype());
}

// x less its maximum. The maximum of no true element is of no account.
Array centered(std::string_view who, const Reduction& r, const Array& where) {
  const Array& x = r.array;
  const Array chosen = masked(who, x, where, -std::numeric_limits<double>::infinity());
  Array largest = lax::stop_gradient(lax::reduce_max(chosen, r.axes));
  if (where.defined()) largest = lax::select(lax::is_finite(largest), largest, constant_like(largest, 0));
  return lax::sub(chosen, r.spread(largest));
}
}  // namespace

Array softmax(In x, const SoftmaxOptions& options) {
  const core::At at(x.where());
  const Reduction r("softmax", strong_inexact("softmax", x), options.axis, false);
  if (r.array.size() == 0) return r.array;
  const Array e = lax::exp(centered("softmax", r, options.where));
  const Array sum = lax::reduce_sum(e, r.axes);
  if (!options.where.defined()) return lax::div(e, r.spread(sum));
  const Array none = lax::eq(sum, constant_like(sum, 0));
  return lax::div(e, r.spread(lax::select(none, constant_like(sum, 1), sum)));
}

Array log_softmax(In x, const SoftmaxOptions& options) {
  const core::At at(x.where());
  const Reduction r("log_softmax", strong_inexact("log_softmax", x), options.axis, false);
  if (r.array.size() == 0) return r.array;
  const Array shifted = centered("log_softmax", r, options.where);
  return lax::sub(shifted, r.spread(lax::log(lax::reduce_sum(lax::exp(shifted), r.axes))));
}

namespace {
using Cumulate = Array (*)(const Array&, int, bool);
Array cumulative(std::string_view who, Array x, const CumulativeOptions& options, Cumulate cumulate) {
  if (!options.axis) x = lax::reshape(x, {x.size()});
  return cumulate(x, resolve_axis(who, options.axis.value_or(0), core::type_of(x)), options.reverse);
}
Array bool_as_i32(std::string_view who, const In& x) {
  const Array a = as_array(who, x);
  return is_bool(a.dtype()) ? lax::convert(a, Dtype::i32) : a;
}
}  // namespace

Array cumsum(In x, const CumulativeOptions& options) {
  const core::At at(x.where());
  return cumulative("cumsum", bool_as_i32("cumsum", x), options, lax::cumsum);
}
Array cumprod(In x, const CumulativeOptions& options) {
  const core::At at(x.where());
  return cumulative("cumprod", bool_as_i32("cumprod", x), options, lax::cumprod);
}
Array cummax(In x, const CumulativeOptions& options) {
  const core::At at(x.where());
  return cumulative("cummax", as_array("cummax", x), options, lax::cummax);
}
Array cummin(In x, const CumulativeOptions& options) {
  const core::At at(x.where());
  return cumulative("cummin", as_array("cummin", x), options, lax::cummin);
}
Array cumlogsumexp(In x, const CumulativeOptions& options) {
  const core::At at(x.where());
  return cumulative("cumlogsumexp", strong_inexact("cumlogsumexp", x), options, lax::cumlogsumexp);
}

}  // namespace uni
