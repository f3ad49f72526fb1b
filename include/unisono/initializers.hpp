// Initialisers of weights: values that say how to draw an array of a given shape from a key. The draws are JAX's.
#pragma once
#include <vector>

#include <unisono/random.hpp>

namespace uni::nn::initializers {

// Which axes of a weight count its inputs, its outputs, and independent weights; all others are a receptive field.
struct FanOptions {
  std::vector<int> in_axis = {-2}, out_axis = {-1}, batch_axis = {};
};
// Of independent weights: how many there are for each output (input); NaN without any.
struct Fans {
  double in = 0, out = 0;
};
// Throws ShapeError for an axis that does not exist.
Fans fans(const Dims& shape, const FanOptions& options = {}, Location where = Location::current());

enum class Mode : std::uint8_t { fan_in, fan_out, fan_avg, fan_geo_avg };  // their mean, the root of their product
enum class Distribution : std::uint8_t { truncated_normal, normal, uniform };

// How to draw weights. const Array w = lecun_normal()(key, {784, 512});
class Initializer {
 public:
  // Throws DtypeError for a dtype that is not drawn (floats; normal, orthogonal: complex too), ShapeError for a shape
  // that the initialiser does not take.
  Array operator()(const Key& key, const Dims& shape, Dtype dtype = Dtype::f32,
                   Location where = Location::current()) const;

 private:
  enum class Kind : std::uint8_t { constant, plain, scaled, orthogonal, delta_orthogonal };
  friend Initializer constant(double value);
  friend Initializer uniform(double scale);
  friend Initializer normal(double stddev);
  friend Initializer truncated_normal(double stddev, double low, double high);
  friend Initializer variance_scaling(double scale, Mode mode, Distribution distribution, const FanOptions& axes);
  friend Initializer orthogonal(double scale, int column_axis);
  friend Initializer delta_orthogonal(double scale, int column_axis);
  Array drawn(const Key& key, const Dims& shape, Dtype dtype) const;
  Array spread(const Key& key, const Dims& shape, Dtype dtype) const;
  Array rotation(const Key& key, const Dims& shape, Dtype dtype) const;
  Array centered_rotation(const Key& key, const Dims& shape, Dtype dtype) const;

  Kind kind_ = Kind::constant;
  Distribution distribution_ = Distribution::truncated_normal;
  Mode mode_ = Mode::fan_in;
  double scale_ = 0, low_ = -2, high_ = 2;
  int column_axis_ = -1;
  FanOptions axes_;
};

Initializer zeros();
Initializer ones();
Initializer constant(double value);
// Uniform in [0, scale): not symmetric.
Initializer uniform(double scale = 0.01);
Initializer normal(double stddev = 0.01);
// stddev times a standard normal number between low and high; its deviation is smaller than stddev.
Initializer truncated_normal(double stddev = 0.01, double low = -2, double high = 2);
// Mean 0 and variance scale / n, with n the fan of the mode. The truncated normal is cut at two deviations and widened
// to have the asked variance.
Initializer variance_scaling(double scale, Mode mode, Distribution distribution, const FanOptions& axes = {});
// variance_scaling with fan_avg and scale 1 (Glorot, Xavier), fan_in and 2 (He, Kaiming), fan_in and 1 (LeCun); the
// normal ones are truncated.
Initializer glorot_uniform(const FanOptions& axes = {});
Initializer glorot_normal(const FanOptions& axes = {});
Initializer he_uniform(const FanOptions& axes = {});
Initializer he_normal(const FanOptions& axes = {});
Initializer lecun_uniform(const FanOptions& axes = {});
Initializer lecun_normal(const FanOptions& axes = {});
// scale times a matrix of orthonormal columns, or of orthonormal rows where they are fewer; all axes but one count as
// rows. At least two axes.
Initializer orthogonal(double scale = 1, int column_axis = -1);
// For kernels [spatial..., in, out] of 1 to 3 spatial axes, in <= out: orthogonal in the middle, zeros elsewhere.
Initializer delta_orthogonal(double scale = 1, int column_axis = -1);

}  // namespace uni::nn::initializers
