// Factorisations and triangular systems, element by element.
#include "ops/linalg.hpp"

#include <algorithm>

#include "backend/reference/matrix.hpp"

namespace uni::reference {

namespace {
// False when x is not positive definite. Only the lower triangle is read.
template <class W>
bool cholesky(const Matrix<W>& x, Matrix<W>& factor) {
  for (i64 k = 0; k < x.columns; ++k)
    for (i64 i = k; i < x.rows; ++i) {
      W sum = i == k ? W(std::real(x(i, i))) : x(i, k);
      for (i64 j = 0; j < k; ++j) sum -= factor(i, j) * conj(factor(k, j));
      if (i == k && !(std::real(sum) > 0)) return false;
      factor(i, k) = i == k ? W(std::sqrt(std::real(sum))) : sum / factor(k, k);
    }
  return true;
}
void eval_cholesky(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    using W = Wide<T>;
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      const auto x = read_matrix<T>(c.in[0], lane);
      Matrix<W> factor(x.rows, x.columns);
      if (!cholesky(x, factor))
        for (i64 i = 0; i < x.rows; ++i)
          for (i64 k = 0; k <= i; ++k) factor(i, k) = quiet_nan<W>();
      write_elements<T>(factor.elements, c.out[0], lane);
    }
  });
}

// The matrix op(a) of the system, whole.
template <class W>
Matrix<W> applied(const Matrix<W>& a, const ops::TriangularSolve& p) {
  Matrix<W> out(a.rows, a.columns);
  for (i64 i = 0; i < a.rows; ++i)
    for (i64 k = 0; k < a.columns; ++k) {
      if (p.lower ? k > i : k < i) continue;
      W v = i == k && p.unit ? W(1) : a(i, k);
      if (p.conjugate) v = conj(v);
      (p.transpose ? out(k, i) : out(i, k)) = v;
    }
  return out;
}
// a x = b, x given by rows in the order in which they can be computed.
template <class W>
void substitute(const Matrix<W>& a, bool lower, Matrix<W>& x) {
  for (i64 n = 0; n < a.rows; ++n) {
    const i64 i = lower ? n : a.rows - 1 - n;
    for (i64 column = 0; column < x.columns; ++column) {
      for (i64 done = 0; done < n; ++done) {
        const i64 k = lower ? done : a.rows - 1 - done;
        x(i, column) -= a(i, k) * x(k, column);
      }
      x(i, column) /= a(i, i);
    }
  }
}
template <class W>
Matrix<W> transposed(const Matrix<W>& a) {
  Matrix<W> out(a.columns, a.rows);
  for (i64 i = 0; i < a.rows; ++i)
    for (i64 k = 0; k < a.columns; ++k) out(k, i) = a(i, k);
  return out;
}
void eval_triangular_solve(const Call& c) {
  const auto& p = c.params<ops::TriangularSolve>();
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      const auto a = applied(read_matrix<T>(c.in[0], lane), p);
      const bool lower = p.lower != p.transpose;
      auto b = read_matrix<T>(c.in[1], lane);
      if (p.left) {
        substitute(a, lower, b);
      } else {  // x a = b is a^T x^T = b^T
        b = transposed(b);
        substitute(transposed(a), !lower, b);
        b = transposed(b);
      }
      write_elements<T>(b.elements, c.out[0], lane);
    }
  });
}

constexpr Evaluator table[] = {{&ops::cholesky, eval_cholesky}, {&ops::triangular_solve, eval_triangular_solve}};
}  // namespace

std::span<const Evaluator> linalg_evaluators() { return table; }

}  // namespace uni::reference
