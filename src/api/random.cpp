#include <unisono/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "api/fail.hpp"
#include "api/limits.hpp"
#include "api/named_axes.hpp"
#include "api/promote.hpp"
#include "api/random_helpers.hpp"
#include "ops/elementwise.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"
#include <unisono/elementwise.hpp>

namespace uni {

namespace api {

const Array& single_key(std::string_view who, const Key& key) {
  const ir::Type& type = core::type_of(key.array());
  if (type.shape.rank() != 0)
    fail<ShapeError>(base::cat(who, ": takes one key, not ", ir::to_string(type)), "map over the keys with vmap");
  return key.array();
}

void require_float(std::string_view who, Dtype dtype) {
  if (!is_float(dtype)) fail<DtypeError>(base::cat(who, ": gives floats, not ", name(dtype)));
}

Array unit_uniform(const Array& key, Dtype dtype, const Dims& shape) {
  // The random bits become the fraction of a number in [1, 2).
  struct Form {
    int drawn;    // bits
    int dropped;  // low bits
    Dtype bits;   // of the dtype's width
    i64 one;      // the bits of 1
  };
  const Form f = dtype == Dtype::f16    ? Form{16, 6, Dtype::u16, 0x3c00}
                 : dtype == Dtype::bf16 ? Form{8, 1, Dtype::u16, 0x3f80}
                 : dtype == Dtype::f32  ? Form{32, 9, Dtype::u32, 0x3f800000}
                                        : Form{64, 12, Dtype::u64, 0x3ff0000000000000};
  const Array drawn = lax::convert(lax::random_bits(key, f.drawn, shape), f.bits);
  const Array fraction = lax::shift_right_logical(drawn, lax::full_int(f.dropped, f.bits, shape));
  const Array number = lax::bitcast(lax::bit_or(fraction, lax::full_int(f.one, f.bits, shape)), dtype);
  return lax::sub(number, lax::full(1, dtype, shape));
}

Array uniform_between(const Array& key, const Array& low, const Array& high) {
  const Array u = unit_uniform(key, low.dtype(), low.shape());
  return lax::maximum(low, lax::fma(u, lax::sub(high, low), low));
}

Array uniform_constant(const Array& key, Dtype dtype, const Dims& shape, double low, double high) {
  if (low == 0 && high == 1) return unit_uniform(key, dtype, shape);
  return uniform_between(key, lax::full(low, dtype, shape), lax::full(high, dtype, shape));
}

namespace {
// Of each float dtype: the smallest normal number, the distance from 1 to the next number, and to the one before.
struct FloatFacts {
  double tiny, epsilon, epsilon_below;
};
FloatFacts facts(Dtype dtype) {
  if (dtype == Dtype::f16) return {0x1p-14, 0x1p-10, 0x1p-11};
  if (dtype == Dtype::bf16) return {0x1p-126, 0x1p-7, 0x1p-8};
  if (dtype == Dtype::f32) return {0x1p-126, 0x1p-23, 0x1p-24};
  return {0x1p-1022, 0x1p-52, 0x1p-53};
}

Array scale(const Array& x, double factor) { return lax::mul(lax::full(factor, x.dtype(), x.shape()), x); }

Array standard_normal(const Array& key, Dtype dtype, const Dims& shape) {
  if (is_complex(dtype)) {
    const Dtype part = real_part(dtype);
    const auto child = [&](i64 i) { return lax::random_fold_in(key, lax::full_int(i, Dtype::u32, {})); };
    const Array re = standard_normal(child(0), part, shape), im = standard_normal(child(1), part, shape);
    const Array root = lax::full(std::numbers::sqrt2, part, shape);
    return lax::complex(lax::div(re, root), lax::div(im, root));
  }
  const double low = -1 + facts(dtype).epsilon_below;  // the number above -1
  return scale(lax::erf_inv(uniform_constant(key, dtype, shape, low, 1)), std::numbers::sqrt2);
}
}  // namespace

Array gumbel_values(const Array& key, Dtype dtype, const Dims& shape) {
  const Array u = uniform_constant(key, dtype, shape, facts(dtype).tiny, 1);
  return lax::neg(lax::log(lax::neg(lax::log(u))));
}

namespace {
// A sampler of floats after the checks that all share.
template <class F>
Array sample(std::string_view who, const Key& key, Dtype dtype, const Dims& shape, Location where, F f) {
  const core::At at(where);
  check_shape(who, shape);
  const Array& one = single_key(who, key);
  require_float(who, dtype);
  return f(one);
}
}  // namespace
}  // namespace api

using namespace api;

Array bits(const Key& key, const Dims& shape, const BitsOptions& options, Location where) {
  const core::At at(where);
  check_shape("bits", shape);
  const Array& one = single_key("bits", key);
  if (!is_unsigned(options.dtype))
    fail<DtypeError>(base::cat("bits: gives unsigned integers, not ", name(options.dtype)));
  return lax::random_bits(one, 8 * itemsize(options.dtype), shape);
}

Array uniform(const Key& key, const Dims& shape, const UniformOptions& options, Location where) {
  return sample("uniform", key, options.dtype, shape, where, [&](const Array& one) {
    return uniform_constant(one, options.dtype, shape, options.low, options.high);
  });
}

Array normal(const Key& key, const Dims& shape, const NormalOptions& options, Location where) {
  const core::At at(where);
  check_shape("normal", shape);
  const Array& one = single_key("normal", key);
  if (!is_inexact(options.dtype))
    fail<DtypeError>(base::cat("normal: gives floats or complex numbers, not ", name(options.dtype)));
  Array x = standard_normal(one, options.dtype, shape);
  if (options.stddev != 1) x = scale(x, options.stddev);
  return options.mean == 0 ? x : lax::add(x, lax::full(options.mean, options.dtype, shape));
}

Array truncated_normal(const Key& key, double low, double high, const Dims& shape, const SampleOptions& options,
                       Location where) {
  return sample("truncated_normal", key, options.dtype, shape, where, [&](const Array& one) {
    const auto constant = [&](double value) { return lax::full(value, options.dtype, shape); };
    const Array root = constant(std::numbers::sqrt2), bottom = constant(low), top = constant(high);
    const Array v = uniform_between(one, lax::erf(lax::div(bottom, root)), lax::erf(lax::div(top, root)));
    const double infinity = std::numeric_limits<double>::infinity();
    return lax::clamp(lax::nextafter(bottom, constant(infinity)), lax::mul(root, lax::erf_inv(v)),
                      lax::nextafter(top, constant(-infinity)));
  });
}

Array bernoulli(const Key& key, In p, const Dims& shape) {
  const core::At at(p.where());
  check_shape("bernoulli", shape);
  const Array& one = single_key("bernoulli", key);
  ValueType type = to_inexact("bernoulli", value_type(p));
  require_float("bernoulli", type.dtype);
  const Array probability = prepare("bernoulli", p, {type.dtype, false}, shape);
  return lax::lt(unit_uniform(one, type.dtype, shape), probability);
}

Array randint(const Key& key, const Dims& shape, i64 low, i64 high, const RandintOptions& options, Location where) {
  const core::At at(where);
  check_shape("randint", shape);
  const Array& one = single_key("randint", key);
  const Dtype dtype = options.dtype;
  if (!is_integer(dtype)) fail<DtypeError>(base::cat("randint: gives integers, not ", name(dtype)));
  const int width = itemsize(dtype) == 8 ? 64 : 32;
  const Dtype word = width == 64 ? Dtype::u64 : Dtype::u32;
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : 0xffffffffu;
  const i64 smallest = lowest(dtype).to_int(),
            largest = dtype == Dtype::u64 ? std::numeric_limits<i64>::max() : highest(dtype).to_int();
  low = std::clamp(low, smallest, largest);
  const bool beyond = high > largest;
  high = std::clamp(high, smallest, largest);
  std::uint64_t span = (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + (beyond ? 1 : 0)) & mask;
  if (!beyond && high <= low) span = 1;
  const auto child = [&](i64 i) { return lax::random_fold_in(one, lax::full_int(i, Dtype::u32, {})); };
  const Array high_bits = lax::random_bits(child(0), width, shape), low_bits = lax::random_bits(child(1), width, shape);
  const auto constant = [&](std::uint64_t value) { return lax::full_int(static_cast<i64>(value), word, shape); };
  Array offset = low_bits;
  if (span != 0) {
    // 2^width mod span, so that both words count.
    std::uint64_t multiplier = (std::uint64_t{1} << (width / 2)) % span;
    multiplier = ((multiplier * multiplier) & mask) % span;
    const Array scaled = lax::mul(lax::rem(high_bits, constant(span)), constant(multiplier));
    offset = lax::rem(lax::add(scaled, lax::rem(low_bits, constant(span))), constant(span));
  }
  return lax::convert(lax::add(offset, constant(static_cast<std::uint64_t>(low) & mask)), dtype);
}

Array gumbel(const Key& key, const Dims& shape, const SampleOptions& options, Location where) {
  return sample("gumbel", key, options.dtype, shape, where,
                [&](const Array& one) { return gumbel_values(one, options.dtype, shape); });
}

Array exponential(const Key& key, const Dims& shape, const SampleOptions& options, Location where) {
  return sample("exponential", key, options.dtype, shape, where, [&](const Array& one) {
    return lax::neg(lax::log1p(lax::neg(unit_uniform(one, options.dtype, shape))));
  });
}

Array laplace(const Key& key, const Dims& shape, const SampleOptions& options, Location where) {
  return sample("laplace", key, options.dtype, shape, where, [&](const Array& one) {
    const Array v = uniform_constant(one, options.dtype, shape, -1 + facts(options.dtype).epsilon_below, 1);
    return lax::mul(lax::sign(v), lax::log1p(lax::neg(lax::abs(v))));
  });
}

Array logistic(const Key& key, const Dims& shape, const SampleOptions& options, Location where) {
  return sample("logistic", key, options.dtype, shape, where, [&](const Array& one) {
    const Array u = uniform_constant(one, options.dtype, shape, facts(options.dtype).tiny, 1);
    return lax::log(lax::div(u, lax::sub(lax::full(1, options.dtype, shape), u)));
  });
}

Array cauchy(const Key& key, const Dims& shape, const SampleOptions& options, Location where) {
  return sample("cauchy", key, options.dtype, shape, where, [&](const Array& one) {
    const Array u = uniform_constant(one, options.dtype, shape, facts(options.dtype).epsilon, 1);
    return lax::tan(scale(lax::sub(u, lax::full(0.5, options.dtype, shape)), std::numbers::pi));
  });
}

Array rademacher(const Key& key, const Dims& shape, const RandintOptions& options, Location where) {
  const core::At at(where);
  const Array heads = bernoulli(key, In(0.5, where), shape);
  const Array one = lax::full(1, options.dtype, shape);
  return lax::select(heads, one, lax::neg(one));
}

}  // namespace uni
