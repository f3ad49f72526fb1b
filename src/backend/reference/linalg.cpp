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

template <class W>
void swap_rows(Matrix<W>& a, i64 i, i64 k) {
  for (i64 column = 0; column < a.columns; ++column) std::swap(a(i, column), a(k, column));
}
// Factors in place; gives the pivots.
template <class W>
std::vector<std::int32_t> eliminate(Matrix<W>& a) {
  std::vector<std::int32_t> pivots;
  spread_nan(a);
  const auto size = [](W v) { return std::abs(std::real(v)) + std::abs(std::imag(v)); };
  for (i64 k = 0; k < std::min(a.rows, a.columns); ++k) {
    i64 pivot = k;
    for (i64 i = k; i < a.rows; ++i)
      if (size(a(i, k)) > size(a(pivot, k))) pivot = i;
    pivots.push_back(static_cast<std::int32_t>(pivot));
    swap_rows(a, k, pivot);
    if (a(k, k) == W(0)) continue;
    for (i64 i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (i64 j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return pivots;
}
void eval_lu(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      auto a = read_matrix<T>(c.in[0], lane);
      const auto pivots = eliminate(a);
      std::vector<std::int32_t> permutation;
      for (i64 i = 0; i < a.rows; ++i) permutation.push_back(static_cast<std::int32_t>(i));
      for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(permutation[k], permutation[at(pivots[k])]);
      write_elements<T>(a.elements, c.out[0], lane);
      write_elements<std::int32_t>(pivots, c.out[1], lane);
      write_elements<std::int32_t>(permutation, c.out[2], lane);
    }
  });
}
// By the factors, in the order of elimination: singular matrices give the infinities and NaN that this order gives.
void eval_solve(const Call& c) {
  const bool transpose = c.params<ops::Solve>().transpose;
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      auto a = read_matrix<T>(c.in[0], lane);
      if (transpose) a = transposed(a);
      auto b = read_matrix<T>(c.in[1], lane);
      const auto pivots = eliminate(a);
      for (std::size_t k = 0; k < pivots.size(); ++k) swap_rows(b, static_cast<i64>(k), pivots[k]);
      substitute(applied(a, {.unit = true}), true, b);
      substitute(applied(a, {.lower = false}), false, b);
      write_elements<T>(b.elements, c.out[0], lane);
    }
  });
}

// x becomes r, q the square orthogonal factor: reflections I - tau v v^H, whose adjoints take column k to its first
// element, a real one of the other sign.
template <class W>
void reflect(Matrix<W>& x, Matrix<W>& q) {
  if (spread_nan(x)) {
    for (i64 i = 0; i < x.rows; ++i)
      for (i64 k = 0; k < std::min(i, x.columns); ++k) x(i, k) = 0;
    for (W& v : q.elements) v = quiet_nan<W>();
    return;
  }
  for (i64 k = 0; k < std::min(x.rows, x.columns); ++k) {
    long double below = 0;
    for (i64 i = k + 1; i < x.rows; ++i) below += std::norm(x(i, k));
    const W alpha = x(k, k);
    if (below == 0 && std::imag(alpha) == 0) continue;
    const W beta = -std::copysign(std::sqrt(below + std::norm(alpha)), std::real(alpha));
    const W tau = (beta - alpha) / beta;
    std::vector<W> v(at(x.rows), W(0));
    v[at(k)] = 1;
    for (i64 i = k + 1; i < x.rows; ++i) v[at(i)] = x(i, k) / (alpha - beta);
    for (i64 column = 0; column < x.columns; ++column) {
      W sum = 0;
      for (i64 i = k; i < x.rows; ++i) sum += conj(v[at(i)]) * x(i, column);
      for (i64 i = k; i < x.rows; ++i) x(i, column) -= conj(tau) * v[at(i)] * sum;
    }
    for (i64 row = 0; row < q.rows; ++row) {
      W sum = 0;
      for (i64 i = k; i < x.rows; ++i) sum += q(row, i) * v[at(i)];
      for (i64 i = k; i < x.rows; ++i) q(row, i) -= tau * sum * conj(v[at(i)]);
    }
    for (i64 i = k + 1; i < x.rows; ++i) x(i, k) = 0;
  }
}
template <class W>
Matrix<W> cut(const Matrix<W>& a, i64 rows, i64 columns) {
  Matrix<W> out(rows, columns);
  for (i64 i = 0; i < rows; ++i)
    for (i64 k = 0; k < columns; ++k) out(i, k) = a(i, k);
  return out;
}
void eval_qr(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      auto r = read_matrix<T>(c.in[0], lane);
      auto q = identity<Wide<T>>(r.rows);
      reflect(r, q);
      const i64 kept = c.out[0].shape()[-1];
      write_elements<T>(cut(q, q.rows, kept).elements, c.out[0], lane);
      write_elements<T>(cut(r, kept, r.columns).elements, c.out[1], lane);
    }
  });
}

constexpr Evaluator table[] = {{&ops::cholesky, eval_cholesky},
                               {&ops::triangular_solve, eval_triangular_solve},
                               {&ops::solve, eval_solve},
                               {&ops::lu, eval_lu},
                               {&ops::qr, eval_qr}};
}  // namespace

std::span<const Evaluator> linalg_evaluators() { return table; }

}  // namespace uni::reference
