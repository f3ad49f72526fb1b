// Layers and losses (activations.hpp: what stands between layers). A layer is a plain struct of arrays and options;
// calling it is a pure function.
#pragma once
#include <optional>

#include <unisono/activations.hpp>
#include <unisono/array.hpp>
#include <unisono/random.hpp>

namespace uni::nn {

struct LinearOptions {
  Flag bias = true;
  Dtype dtype = Dtype::f32;
};
// y = x w + b for x of shape [..., in].
struct Linear {
  Array w;                 // [in, out]
  std::optional<Array> b;  // [out]
  // Weights from a normal distribution of variance 1 / in (LeCun), truncated at two standard deviations; biases zero.
  static Linear init(const Key& key, i64 in, i64 out, const LinearOptions& options = {});
  // Throws ShapeError when the last axis of x is not `in`.
  Array operator()(In x) const;
};

struct ConvOptions {
  Flag bias = true;
  i64 stride = 1;
  Flag same = true;  // pad so that stride 1 keeps the size; else no padding
  Dtype dtype = Dtype::f32;
};
// 2-D convolution of x [batch, height, width, in] with w, without flipping it.
struct Conv {
  Array w;                 // [size, size, in, out]
  std::optional<Array> b;  // [out]
  i64 stride = 1;
  bool same = true;
  static Conv init(const Key& key, i64 size, i64 in, i64 out, const ConvOptions& options = {});
  Array operator()(In x) const;
};

// Means (maxima) of size x size blocks of [batch, height, width, channels]; what does not fill a block is left out.
Array avg_pool(In x, i64 size);
Array max_pool(In x, i64 size);

// -log of the softmax probability of each label: logits [..., classes], integer labels [...], result [...]. A label out
// of range gives NaN.
Array cross_entropy(In logits, In labels);

}  // namespace uni::nn
