// Rows of linear algebra: f32, f64, c64 and c128, batched over leading dimensions. What cannot be factorised, or holds
// NaN, gives NaN for its own matrix only.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

// x [.., n, n] -> the lower L with L L^H = x, zeros above. Only the lower triangle of x is read, and of its diagonal
// the real parts. Not positive definite: the whole lower triangle is NaN.
extern const Primitive cholesky;

struct TriangularSolve {
  bool left = true;  // op(a) x = b; else x op(a) = b
  bool lower = true;
  bool transpose = false, conjugate = false;  // what op does, alone or together
  bool unit = false;                          // the diagonal counts as ones and is not read
};
// (a [.., n, n], b [.., m, k]) -> x like b. The other triangle of a is not read. A zero on the diagonal gives
// infinities and NaN.
extern const Primitive triangular_solve;

std::span<const Primitive* const> linalg_rows();

}  // namespace uni::ops

namespace uni::lax {

Array cholesky(const Array& x);
Array triangular_solve(const Array& a, const Array& b, const ops::TriangularSolve& params);

}  // namespace uni::lax
