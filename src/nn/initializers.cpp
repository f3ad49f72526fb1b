#include <unisono/initializers.hpp>

#include <algorithm>
#include <cmath>

#include "api/fail.hpp"
#include "api/named_axes.hpp"
#include <unisono/creation.hpp>
#include <unisono/elementwise.hpp>
#include <unisono/linalg.hpp>
#include <unisono/shaping.hpp>

namespace uni::nn::initializers {

using api::fail;

namespace {
// A standard normal number between -2 and 2 has this standard deviation.
constexpr double truncated_stddev = 0.87962566103423978;

// 1 on the diagonal for a positive element, -1 for a negative one, z / |z| of a complex one.
Array phases(const Array& diagonal) { return is_complex(diagonal.dtype()) ? diagonal / abs(diagonal) : sign(diagonal); }
}  // namespace

Fans fans(const Dims& shape, const FanOptions& options, Location where) {
  const core::At at(where);
  const ir::Type type{Dtype::f32, shape, false, {}};
  const auto product = [&](const std::vector<int>& axes) {
    double n = 1;
    for (int axis : api::resolve_axes("fans", Axes(axes), type)) n *= static_cast<double>(shape[axis]);
    return n;
  };
  const double weights = static_cast<double>(shape.count()) / product(options.batch_axis);
  return {weights / product(options.out_axis), weights / product(options.in_axis)};
}

Array Initializer::operator()(const Key& key, const Dims& shape, Dtype dtype, Location where) const {
  const core::At at(where);
  switch (kind_) {
    case Kind::constant:
      return uni::full(shape, scale_, {.dtype = dtype});
    case Kind::plain:
      return drawn(key, shape, dtype);
    case Kind::scaled:
      return spread(key, shape, dtype);
    case Kind::orthogonal:
      return rotation(key, shape, dtype);
    case Kind::delta_orthogonal:
      return centered_rotation(key, shape, dtype);
  }
  return {};
}

Array Initializer::drawn(const Key& key, const Dims& shape, Dtype dtype) const {
  switch (distribution_) {
    case Distribution::truncated_normal:
      return uni::truncated_normal(key, low_, high_, shape, {.dtype = dtype}) * scale_;
    case Distribution::normal:
      return uni::normal(key, shape, {.dtype = dtype}) * scale_;
    case Distribution::uniform:
      return uni::uniform(key, shape, {.low = low_, .high = high_, .dtype = dtype}) * scale_;
  }
  return {};
}

Array Initializer::spread(const Key& key, const Dims& shape, Dtype dtype) const {
  const Fans f = fans(shape, axes_);
  const double n = mode_ == Mode::fan_in    ? f.in
                   : mode_ == Mode::fan_out ? f.out
                   : mode_ == Mode::fan_avg ? (f.in + f.out) / 2
                                            : std::sqrt(f.in * f.out);
  Initializer plain = *this;
  plain.scale_ = n > 0 ? std::sqrt(scale_ / n) : 0;
  if (distribution_ == Distribution::truncated_normal) plain.scale_ /= truncated_stddev;
  if (distribution_ == Distribution::uniform) {
    plain.low_ = -1;
    plain.high_ = 1;
    plain.scale_ *= std::sqrt(3);
  }
  return plain.drawn(key, shape, dtype);
}

Array Initializer::rotation(const Key& key, const Dims& shape, Dtype dtype) const {
  const ir::Type type{dtype, shape, false, {}};
  if (shape.rank() < 2) fail<ShapeError>(base::cat("orthogonal: the shape ", shape, " has fewer than two axes"));
  const int axis = api::resolve_axis("orthogonal", column_axis_, type);
  if (shape.count() == 0) return uni::zeros(shape, dtype);
  const i64 columns = shape[axis], rows = shape.count() / columns;
  const linalg::Qr f =
      linalg::qr(uni::normal(key, {std::max(rows, columns), std::min(rows, columns)}, {.dtype = dtype}));
  Array q = f.q * phases(diagonal(f.r));
  if (rows < columns) q = matrix_transpose(q);
  Dims last = shape;
  last.erase(axis);
  last.push_back(columns);
  return moveaxis(reshape(q, last), -1, axis) * scale_;
}

Array Initializer::centered_rotation(const Key& key, const Dims& shape, Dtype dtype) const {
  const int rank = shape.rank();
  if (rank < 3 || rank > 5 || shape[-2] > shape[-1])
    fail<ShapeError>(base::cat("delta_orthogonal: the shape ", shape,
                               " is not [spatial..., in, out] with 1 to 3 spatial axes and at most `out` inputs"));
  const Array tap = rotation(key, {shape[-2], shape[-1]}, dtype);
  std::vector<PadWidth> around;
  Dims one_tap = tap.shape();
  for (int axis = 0; axis < rank - 2; ++axis) {
    const i64 before = (shape[axis] - 1) / 2;
    around.push_back({before, shape[axis] - 1 - before});
    one_tap.insert(0, 1);
  }
  around.insert(around.end(), 2, {0, 0});
  return pad(reshape(tap, one_tap), PadWidths(around));
}

Initializer zeros() { return constant(0); }
Initializer ones() { return constant(1); }
Initializer constant(double value) {
  Initializer i;
  i.scale_ = value;
  return i;
}
Initializer uniform(double scale) {
  Initializer i;
  i.kind_ = Initializer::Kind::plain;
  i.distribution_ = Distribution::uniform;
  i.scale_ = scale;
  i.low_ = 0;
  i.high_ = 1;
  return i;
}
Initializer normal(double stddev) {
  Initializer i;
  i.kind_ = Initializer::Kind::plain;
  i.distribution_ = Distribution::normal;
  i.scale_ = stddev;
  return i;
}
Initializer truncated_normal(double stddev, double low, double high) {
  Initializer i;
  i.kind_ = Initializer::Kind::plain;
  i.scale_ = stddev;
  i.low_ = low;
  i.high_ = high;
  return i;
}
Initializer variance_scaling(double scale, Mode mode, Distribution distribution, const FanOptions& axes) {
  Initializer i;
  i.kind_ = Initializer::Kind::scaled;
  i.distribution_ = distribution;
  i.mode_ = mode;
  i.scale_ = scale;
  i.axes_ = axes;
  return i;
}
Initializer glorot_uniform(const FanOptions& axes) {
  return variance_scaling(1, Mode::fan_avg, Distribution::uniform, axes);
}
Initializer glorot_normal(const FanOptions& axes) {
  return variance_scaling(1, Mode::fan_avg, Distribution::truncated_normal, axes);
}
Initializer he_uniform(const FanOptions& axes) {
  return variance_scaling(2, Mode::fan_in, Distribution::uniform, axes);
}
Initializer he_normal(const FanOptions& axes) {
  return variance_scaling(2, Mode::fan_in, Distribution::truncated_normal, axes);
}
Initializer lecun_uniform(const FanOptions& axes) {
  return variance_scaling(1, Mode::fan_in, Distribution::uniform, axes);
}
Initializer lecun_normal(const FanOptions& axes) {
  return variance_scaling(1, Mode::fan_in, Distribution::truncated_normal, axes);
}
Initializer orthogonal(double scale, int column_axis) {
  Initializer i;
  i.kind_ = Initializer::Kind::orthogonal;
  i.scale_ = scale;
  i.column_axis_ = column_axis;
  return i;
}
Initializer delta_orthogonal(double scale, int column_axis) {
  Initializer i = orthogonal(scale, column_axis);
  i.kind_ = Initializer::Kind::delta_orthogonal;
  return i;
}

}  // namespace uni::nn::initializers
