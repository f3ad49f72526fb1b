// A contraction c[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n] of two strided operands, each of the four
// being any number of loops: dot products in every layout, and convolutions, whose windows are loops that overlap in a.
#pragma once
#include "backend/native/strided.hpp"

namespace uni::native {

struct ContractionLoop {
  i64 extent = 1;
  i64 a = 0, b = 0, c = 0;  // strides in elements
};
struct Contraction {
  using Loops = std::vector<ContractionLoop>;  // outermost first
  Dtype dtype = Dtype::f32;
  Loops batch, m, n, k;
  i64 a_offset = 0, b_offset = 0;
};

// How far apart the devices' operands and results lie, 0 where they share one. Results that are shared are sums.
struct DeviceSteps {
  i64 count = 1, a = 0, b = 0, c = 0;
};
// What a dot product, or a convolution without padding and input dilation, does with these views. `result` are the
// strides in which its result, of the type `out`, is stored.
Contraction contraction_of(const ir::Eqn& e, const ir::Type& out, const Strided& a, const Strided& b,
                           const std::vector<i64>& result, const DeviceSteps& devices);

}  // namespace uni::native
