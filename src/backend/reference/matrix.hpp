// Matrices of the widest numbers there are, for factorisations by the book.
#pragma once
#include <cmath>
#include <limits>

#include "backend/reference/eval.hpp"

namespace uni::reference {

template <class T>
concept Scalar = std::floating_point<T> || ComplexNumber<T>;
template <class T>
struct Widest {
  using type = long double;
};
template <ComplexNumber T>
struct Widest<T> {
  using type = std::complex<long double>;
};
template <class T>
using Wide = typename Widest<T>::type;

inline long double conj(long double v) { return v; }
inline std::complex<long double> conj(std::complex<long double> v) { return std::conj(v); }
template <class W>
W quiet_nan() {
  constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();
  if constexpr (std::floating_point<W>)
    return nan;
  else
    return {nan, nan};
}

template <class W>
struct Matrix {
  i64 rows = 0, columns = 0;
  std::vector<W> elements;
  Matrix(i64 m, i64 n) : rows(m), columns(n), elements(at(m * n)) {}
  W& operator()(i64 i, i64 k) { return elements[at(i * columns + k)]; }
  const W& operator()(i64 i, i64 k) const { return elements[at(i * columns + k)]; }
};
template <class W>
Matrix<W> identity(i64 n) {
  Matrix<W> out(n, n);
  for (i64 i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}
// Fills a matrix that holds NaN with NaN.
template <class W>
bool spread_nan(Matrix<W>& a) {
  bool found = false;
  for (const W& v : a.elements) found = found || v != v;
  if (found)
    for (W& v : a.elements) v = quiet_nan<W>();
  return found;
}

// One matrix of a batch, in and out.
template <class T>
Matrix<Wide<T>> read_matrix(const Value& v, i64 lane) {
  Matrix<Wide<T>> out(v.shape()[-2], v.shape()[-1]);
  const T* from = v.as<T>() + lane * out.rows * out.columns;
  for (std::size_t i = 0; i < out.elements.size(); ++i) out.elements[i] = Wide<T>(from[i]);
  return out;
}
template <class T, class W>
void write_elements(const std::vector<W>& from, const Value& v, i64 lane) {
  T* to = v.as<T>() + lane * static_cast<i64>(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = T(from[i]);
}
inline i64 lanes_of(const Value& v) {
  i64 lanes = 1;
  for (int d = 0; d < v.shape().rank() - 2; ++d) lanes *= v.shape()[d];
  return lanes;
}

}  // namespace uni::reference
