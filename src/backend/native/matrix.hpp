// What kernels of linear algebra share: batches of matrices in the last two dimensions.
#pragma once
#include <limits>

#include "backend/native/blas.hpp"
#include "backend/native/walk.hpp"

namespace uni::native {

template <class F>
void dispatch_linalg(Dtype dtype, const F& f) {
  set_up_blas();
  switch (dtype) {
    case Dtype::f32:
      return f(float{});
    case Dtype::f64:
      return f(double{});
    case Dtype::c64:
      return f(C64{});
    default:
      return f(C128{});
  }
}

// Calls fn(lane) for each matrix of the batch, on the pool; empty matrices have no calls.
template <class Fn>
void for_each_matrix(const Dims& shape, i64 multiplications, const Fn& fn) {
  if (shape.count() == 0) return;
  const i64 lanes = shape.count() / (shape[-2] * shape[-1]);
  // One multiplication takes about as long as moving 4 bytes; calls of LAPACK have a cost of their own.
  chunked(lanes, 4 * multiplications + 2048, [&](i64 begin, i64 end) {
    for (i64 lane = begin; lane < end; ++lane) fn(lane);
  });
}

template <class T>
T one() {
  if constexpr (is_complex_like<T>)
    return {1, 0};
  else
    return 1;
}
template <class T>
T not_a_number() {
  if constexpr (is_complex_like<T>)
    return {std::numeric_limits<decltype(T::re)>::quiet_NaN(), std::numeric_limits<decltype(T::re)>::quiet_NaN()};
  else
    return std::numeric_limits<T>::quiet_NaN();
}
template <class T>
bool is_nan(T v) {
  if constexpr (is_complex_like<T>)
    return v.re != v.re || v.im != v.im;
  else
    return v != v;
}

}  // namespace uni::native
