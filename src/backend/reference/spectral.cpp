// Eigenvalues and singular values by Jacobi's rotations.
#include <algorithm>
#include <numeric>

#include "backend/reference/matrix.hpp"
#include "ops/linalg.hpp"

namespace uni::reference {

namespace {
constexpr long double tiny = std::numeric_limits<long double>::epsilon();

// Turns columns p and q of a matrix so that they no longer mix by `product`, their entry of a Hermitian matrix whose
// diagonal entries are `first` and `second`.
template <class W>
struct Rotation {
  long double c = 1;
  W s = 0, phase = 1;
  Rotation(long double first, long double second, W product) {
    const long double size = std::abs(product), theta = (second - first) / (2 * size);
    const long double t = std::copysign(1.0L, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    c = 1 / std::sqrt(t * t + 1);
    s = t * c;
    phase = conj(product) / size;
  }
  void columns(Matrix<W>& a, i64 p, i64 q) const {
    for (i64 i = 0; i < a.rows; ++i) {
      const W x = a(i, p), y = phase * a(i, q);
      a(i, p) = c * x - s * y;
      a(i, q) = s * x + c * y;
    }
  }
  void rows(Matrix<W>& a, i64 p, i64 q) const {
    for (i64 k = 0; k < a.columns; ++k) {
      const W x = a(p, k), y = conj(phase) * a(q, k);
      a(p, k) = c * x - s * y;
      a(q, k) = s * x + c * y;
    }
  }
};

// The factor that makes the first element of column k that is not small real and positive.
template <class W>
W phase_of(const Matrix<W>& v, i64 k) {
  long double largest = 0;
  for (i64 i = 0; i < v.rows; ++i) largest = std::max<long double>(largest, std::abs(v(i, k)));
  for (i64 i = 0; i < v.rows; ++i)
    if (v(i, k) != W(0) && std::abs(v(i, k)) >= largest * static_cast<long double>(ops::phase_share))
      return conj(v(i, k)) / std::abs(v(i, k));
  return 1;
}
template <class W>
void scale_column(Matrix<W>& v, i64 k, W factor) {
  for (i64 i = 0; i < v.rows; ++i) v(i, k) *= factor;
}
template <class W>
Matrix<W> columns_in_order(const Matrix<W>& v, const std::vector<i64>& order) {
  Matrix<W> out(v.rows, static_cast<i64>(order.size()));
  for (i64 i = 0; i < v.rows; ++i)
    for (i64 k = 0; k < out.columns; ++k) out(i, k) = v(i, order[at(k)]);
  return out;
}
template <class W>
Matrix<W> adjoint(const Matrix<W>& a) {
  Matrix<W> out(a.columns, a.rows);
  for (i64 i = 0; i < a.rows; ++i)
    for (i64 k = 0; k < a.columns; ++k) out(k, i) = conj(a(i, k));
  return out;
}
template <class W>
bool finite(const Matrix<W>& a) {
  return std::all_of(a.elements.begin(), a.elements.end(),
                     [](W v) { return std::isfinite(std::real(v)) && std::isfinite(std::imag(v)); });
}
template <class W>
Matrix<W> nans(i64 rows, i64 columns) {
  Matrix<W> out(rows, columns);
  std::fill(out.elements.begin(), out.elements.end(), quiet_nan<W>());
  return out;
}

template <class W>
Matrix<W> hermitian_of_lower(const Matrix<W>& x) {
  Matrix<W> out(x.rows, x.columns);
  for (i64 i = 0; i < x.rows; ++i)
    for (i64 k = 0; k <= i; ++k) {
      out(i, k) = i == k ? W(std::real(x(i, i))) : x(i, k);
      out(k, i) = conj(out(i, k));
    }
  return out;
}
template <class W>
struct Eigen {
  std::vector<long double> values;
  Matrix<W> vectors;
};
template <class W>
Eigen<W> eigen(const Matrix<W>& x) {
  const i64 n = x.rows;
  Matrix<W> a = hermitian_of_lower(x), v = identity<W>(n);
  if (!finite(a)) return {std::vector<long double>(at(n), quiet_nan<long double>()), nans<W>(n, n)};
  bool turned = true;
  for (int sweep = 0; turned && sweep < 100; ++sweep) {
    turned = false;
    for (i64 p = 0; p < n; ++p)
      for (i64 q = p + 1; q < n; ++q) {
        const long double first = std::real(a(p, p)), second = std::real(a(q, q));
        if (std::abs(a(p, q)) <= tiny * tiny * (std::abs(first) + std::abs(second))) continue;
        const Rotation<W> r(first, second, a(p, q));
        r.columns(a, p, q);
        r.rows(a, p, q);
        a(p, q) = a(q, p) = 0;
        r.columns(v, p, q);
        turned = true;
      }
  }
  std::vector<i64> order(at(n));
  std::iota(order.begin(), order.end(), i64{0});
  std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 k) { return std::real(a(i, i)) < std::real(a(k, k)); });
  Eigen<W> out{{}, columns_in_order(v, order)};
  for (i64 k = 0; k < n; ++k) {
    out.values.push_back(std::real(a(order[at(k)], order[at(k)])));
    scale_column(out.vectors, k, phase_of(out.vectors, k));
  }
  return out;
}
void eval_eigh(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      const auto e = eigen(read_matrix<T>(c.in[0], lane));
      write_elements<decltype(std::real(T{}))>(e.values, c.out[0], lane);
      if (c.params<ops::Eigh>().vectors) write_elements<T>(e.vectors.elements, c.out[1], lane);
    }
  });
}

// Unit vectors, freed of what lies in the columns before, fill the columns from `known` on.
template <class W>
void complete_basis(Matrix<W>& u, i64 known) {
  for (i64 k = known; k < u.columns; ++k) {
    long double best = 0;
    std::vector<W> column(at(u.rows));
    for (i64 unit = 0; unit < u.rows; ++unit) {
      std::vector<W> v(at(u.rows), W(0));
      v[at(unit)] = 1;
      for (int twice = 0; twice < 2; ++twice)
        for (i64 j = 0; j < k; ++j) {
          W product = 0;
          for (i64 i = 0; i < u.rows; ++i) product += conj(u(i, j)) * v[at(i)];
          for (i64 i = 0; i < u.rows; ++i) v[at(i)] -= product * u(i, j);
        }
      long double square = 0;
      for (const W& e : v) square += std::norm(e);
      if (square <= best) continue;
      best = square;
      for (i64 i = 0; i < u.rows; ++i) column[at(i)] = v[at(i)] / std::sqrt(square);
    }
    for (i64 i = 0; i < u.rows; ++i) u(i, k) = column[at(i)];
  }
}

template <class W>
struct Singular {
  Matrix<W> u;
  std::vector<long double> values;
  Matrix<W> v;
};
// Of at least as many rows as columns: columns are turned until they are orthogonal. u has `kept` columns.
template <class W>
Singular<W> singular_of_tall(Matrix<W> x, i64 kept) {
  const i64 n = x.columns;
  Matrix<W> v = identity<W>(n);
  const auto product = [&](i64 p, i64 q) {
    W sum = 0;
    for (i64 i = 0; i < x.rows; ++i) sum += conj(x(i, p)) * x(i, q);
    return sum;
  };
  bool turned = true;
  for (int sweep = 0; turned && sweep < 100; ++sweep) {
    turned = false;
    for (i64 p = 0; p < n; ++p)
      for (i64 q = p + 1; q < n; ++q) {
        const long double first = std::real(product(p, p)), second = std::real(product(q, q));
        const W mixed = product(p, q);
        if (std::abs(mixed) <= 4 * tiny * std::sqrt(first * second)) continue;
        const Rotation<W> r(first, second, mixed);
        r.columns(x, p, q);
        r.columns(v, p, q);
        turned = true;
      }
  }
  std::vector<long double> size;
  for (i64 k = 0; k < n; ++k) size.push_back(std::sqrt(std::real(product(k, k))));
  std::vector<i64> order(at(n));
  std::iota(order.begin(), order.end(), i64{0});
  std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 k) { return size[at(i)] > size[at(k)]; });
  Singular<W> out{Matrix<W>(x.rows, kept), {}, columns_in_order(v, order)};
  i64 known = 0;
  for (i64 k = 0; k < n; ++k) {
    out.values.push_back(size[at(order[at(k)])]);
    if (out.values.back() <= tiny * out.values.front()) continue;
    for (i64 i = 0; i < x.rows; ++i) out.u(i, k) = x(i, order[at(k)]) / out.values.back();
    ++known;
  }
  complete_basis(out.u, known);
  return out;
}
template <class W>
Singular<W> singular(const Matrix<W>& x, bool full) {
  const i64 m = x.rows, n = x.columns, least = std::min(m, n), most = std::max(m, n);
  if (!finite(x))
    return {nans<W>(m, full ? m : least), std::vector<long double>(at(least), quiet_nan<long double>()),
            nans<W>(n, full ? n : least)};
  Singular<W> out = singular_of_tall(m < n ? adjoint(x) : x, full ? most : least);
  if (m < n) std::swap(out.u, out.v);
  for (i64 k = 0; k < least; ++k) {
    const W factor = phase_of(out.u, k);
    scale_column(out.u, k, factor);
    scale_column(out.v, k, factor);
  }
  return out;
}
void eval_svd(const Call& c) {
  const auto& p = c.params<ops::Svd>();
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    using R = decltype(std::real(T{}));
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      const auto s = singular(read_matrix<T>(c.in[0], lane), p.full);
      if (!p.vectors) {
        write_elements<R>(s.values, c.out[0], lane);
        continue;
      }
      write_elements<T>(s.u.elements, c.out[0], lane);
      write_elements<R>(s.values, c.out[1], lane);
      write_elements<T>(adjoint(s.v).elements, c.out[2], lane);
    }
  });
}

void eval_pinv(const Call& c) {
  const auto& p = c.params<ops::Pinv>();
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Scalar T>(T) {
    for (i64 lane = 0; lane < lanes_of(c.in[0]); ++lane) {
      const auto x = read_matrix<T>(c.in[0], lane);
      const auto s = singular(x, false);
      Matrix<Wide<T>> out(x.columns, x.rows);
      for (std::size_t k = 0; k < s.values.size(); ++k) {
        if (s.values[k] <= static_cast<long double>(p.rtol) * s.values[0]) continue;
        const i64 column = static_cast<i64>(k);
        for (i64 i = 0; i < out.rows; ++i)
          for (i64 j = 0; j < out.columns; ++j) out(i, j) += s.v(i, column) / s.values[k] * conj(s.u(j, column));
      }
      write_elements<T>(out.elements, c.out[0], lane);
    }
  });
}

constexpr Evaluator table[] = {{&ops::eigh, eval_eigh}, {&ops::svd, eval_svd}, {&ops::pinv, eval_pinv}};
}  // namespace

std::span<const Evaluator> spectral_evaluators() { return table; }

}  // namespace uni::reference
