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

struct Solve {
  bool transpose = false;  // of the matrix
};
// (a [.., n, n], b [.., n, k]) -> x like b with a x = b, by LU factors. A singular matrix gives infinities and NaN.
extern const Primitive solve;

// x [.., m, n] -> L and U in one matrix like x (the ones on L's diagonal are not stored), pivots i32 [.., min(m, n)]
// (row i was exchanged with row pivots[i], in this order), permutation i32 [.., m]: x[permutation] = L U. Pivots are
// the largest |re| + |im| of their columns, the first of equal ones; a zero pivot stays and is no error.
extern const Primitive lu;

struct Qr {
  bool full = false;  // q [.., m, m], r [.., m, n]; else q [.., m, min(m, n)], r [.., min(m, n), n]
};
// x [.., m, n] -> q, r with x = q r, orthonormal columns of q, zeros below the diagonal of r. By Householder
// reflections: the diagonal of r is real, with the sign opposite to that of the element it eliminates for.
extern const Primitive qr;

// Vectors of complex numbers are known but for a phase, real ones but for a sign: the first element whose magnitude is
// at least this share of the largest one is made real and positive.
inline constexpr double phase_share = 0.3;

struct Eigh {
  bool vectors = true;
};
// x [.., n, n] -> eigenvalues w [.., n], ascending and real, and with `vectors` v [.., n, n] with x v = v w, its
// columns orthonormal. Reads what cholesky reads. Equal eigenvalues have NaN for the derivative of their vectors.
extern const Primitive eigh;

struct Svd {
  bool vectors = true;
  bool full = false;  // u [.., m, m], vh [.., n, n]; else u [.., m, k], vh [.., k, n], k = min(m, n)
};
// x [.., m, n] -> u, s [.., k], vh with x = u s vh, s falling and not negative; s alone without vectors. Phases are
// fixed in u.
extern const Primitive svd;

struct Pinv {
  double rtol = 0;  // singular values of at most this share of the largest count as 0
};
// x [.., m, n] -> the Moore-Penrose inverse [.., n, m]. Its derivative holds while the rank stays.
extern const Primitive pinv;

std::span<const Primitive* const> linalg_rows();

}  // namespace uni::ops

namespace uni::lax {

Array cholesky(const Array& x);
Array triangular_solve(const Array& a, const Array& b, const ops::TriangularSolve& params);
Array solve(const Array& a, const Array& b, bool transpose = false);
Arrays lu(const Array& x);
Arrays qr(const Array& x, bool full);
Arrays eigh(const Array& x, bool vectors);
Arrays svd(const Array& x, bool vectors, bool full);
Array pinv(const Array& x, double rtol);

}  // namespace uni::lax
