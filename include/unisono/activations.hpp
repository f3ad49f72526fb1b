// Activation functions. Integers and bool are taken as f32 (64-bit integers as f64) where the result is not whole.
// Complex numbers are a DtypeError where order matters. sigmoid, tanh, softmax, log_softmax, logsumexp and one_hot are
// in elementwise.hpp, reduction.hpp and indexing.hpp.
#pragma once
#include <unisono/array.hpp>

namespace uni::nn {

// max(x, 0); its derivative is 0 at 0 and at NaN.
Array relu(In x);
// min(max(x, 0), 6); its derivative is 0 at 0, 6 and NaN.
Array relu6(In x);
struct LeakyReluOptions {
  double negative_slope = 0.01;
};
// x where x >= 0, else negative_slope * x.
Array leaky_relu(In x, const LeakyReluOptions& options = {});
struct EluOptions {
  double alpha = 1;
};
// x where x > 0, else alpha * (exp(x) - 1).
Array elu(In x, const EluOptions& options = {});
// max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1).
Array celu(In x, const EluOptions& options = {});
// elu of a fixed alpha, times a fixed scale: those under which mean 0 and variance 1 are kept (Klambauer et al. 2017).
Array selu(In x);
struct GeluOptions {
  Flag approximate = true;  // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
};
// x times the probability that a standard normal number is below x.
Array gelu(In x, const GeluOptions& options = {});
// x * sigmoid(x), also known as swish.
Array silu(In x);
// log(1 + exp(x)) without overflow.
Array softplus(In x);
// log(sigmoid(x)) without underflow.
Array log_sigmoid(In x);
// x * tanh(softplus(x)).
Array mish(In x);
struct SquareplusOptions {
  double b = 4;
};
// (x + sqrt(x^2 + b)) / 2.
Array squareplus(In x, const SquareplusOptions& options = {});
// x / (1 + |x|).
Array soft_sign(In x);
// x held between -1 and 1, with the derivative 1 at both.
Array hard_tanh(In x);
// relu6(x + 3) / 6, and x times it.
Array hard_sigmoid(In x);
Array hard_silu(In x);
// 0 below -1, x above 1, (x + 1)^2 / 4 between; and its derivative, x / 2 + 1/2 held between 0 and 1.
Array sparse_plus(In x);
Array sparse_sigmoid(In x);
// log(1 - exp(-x)) for x >= 0, exact near 0 and far from it; NaN for negative x.
Array log1mexp(In x);

struct GluOptions {
  int axis = -1;
};
// The first half of x along the axis times the sigmoid of the second half. Throws ShapeError for an odd size.
Array glu(In x, const GluOptions& options = {});

struct StandardizeOptions {
  Axes axis = -1;
  Array mean = {};      // broadcasts to x; computed when not given
  Array variance = {};  // the same
  double epsilon = 1e-5;
  Array where = {};  // the elements that mean and variance are of
};
// (x - mean) / sqrt(variance + epsilon), with mean and mean squared distance from it over the axes.
Array standardize(In x, const StandardizeOptions& options = {});
struct LogMeanExpOptions {
  Axes axis = {};
  Flag keepdims = false;
  Array where = {};  // only elements where this is true
};
// log(mean(exp(x))) without overflow; NaN for no elements.
Array logmeanexp(In x, const LogMeanExpOptions& options = {});

}  // namespace uni::nn
