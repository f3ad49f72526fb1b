// Numbers of matrices: determinants, norms, condition, rank.
#include <cmath>

#include "api/fail.hpp"
#include "api/linalg_helpers.hpp"
#include "api/named_axes.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/products.hpp>
#include <unisono/reduction.hpp>
#include <unisono/shaping.hpp>
#include <unisono/transform.hpp>

namespace uni::linalg {

using namespace api;
using base::cat;

namespace {
Array last(const Array& x, i64 start, i64 limit) { return lax::slice_axis(x, x.rank() - 1, start, limit); }
Array entry(const Array& x, i64 row, i64 column) {
  const Array v = last(lax::slice_axis(x, x.rank() - 2, row, row + 1), column, column + 1);
  return lax::reshape(v, ops::batch_of(x.shape()));
}
Array minor_of(const Array& x, i64 row, i64 first, i64 second) {
  return lax::sub(lax::mul(entry(x, row, first), entry(x, row + 1, second)),
                  lax::mul(entry(x, row, second), entry(x, row + 1, first)));
}
Array small_determinant(const Array& x) {
  if (x.shape(-1) == 1) return entry(x, 0, 0);
  if (x.shape(-1) == 2) return minor_of(x, 0, 0, 1);
  return lax::add(
      lax::sub(lax::mul(entry(x, 0, 0), minor_of(x, 1, 1, 2)), lax::mul(entry(x, 0, 1), minor_of(x, 1, 0, 2))),
      lax::mul(entry(x, 0, 2), minor_of(x, 1, 0, 1)));
}

// -1 for an odd number of exchanges, else 1.
Array parity(const Array& pivots, Dtype dtype) {
  const int axis = pivots.rank() - 1;
  const Array moved = lax::ne(pivots, lax::iota(Dtype::i32, pivots.shape(), axis));
  const Array count = lax::reduce_sum(lax::convert(moved, Dtype::i32), {axis});
  const Array odd = lax::rem(count, lax::full_like(count, 2));
  return lax::convert(lax::sub(lax::full_like(odd, 1), lax::mul(odd, lax::full_like(odd, 2))), dtype);
}
Array lu_determinant(const Array& x) {
  const Arrays lu = lax::lu(x);
  return lax::mul(lax::reduce_prod(lax::matrix_diagonal(lu[0]), {x.rank() - 2}), parity(lu[1], x.dtype()));
}
// det(x) and det(x) x^-1 b, which has no division by the last diagonal element of u. Where another one is zero: 0.
std::pair<Array, Array> cofactor_solve(const Array& x, const Array& b) {
  const i64 n = x.shape(-1);
  const int row_axis = x.rank() - 2;
  const Arrays lu = lax::lu(x);
  const Array diagonal = lax::matrix_diagonal(lu[0]);
  const Array before = lax::mul(lax::reduce_prod(last(diagonal, 0, n - 1), {row_axis}), parity(lu[1], x.dtype()));
  const Array det = lax::mul(before, lax::squeeze(last(diagonal, n - 1, n), row_axis));
  const Array y = lax::triangular_solve(lu[0], lax::take_rows(b, lu[2]), {.unit = true});
  const auto rows = [&](const Array& a, i64 start, i64 limit) { return lax::slice_axis(a, row_axis, start, limit); };
  const auto scaled = [&](const Array& scalar, const Array& a) {
    return lax::mul(lax::broadcast_in_dim(scalar, a.shape(), ops::axis_range(0, row_axis)), a);
  };
  const Array bottom = scaled(before, rows(y, n - 1, n));
  const Array above = rows(lu[0], 0, n - 1), right = last(above, n - 1, n);
  const Array known = lax::sub(scaled(det, rows(y, 0, n - 1)), lax::batch_matmul(right, bottom));
  const Array zero = lax::full_like(before, 0);
  const Array singular = lax::eq(before, zero);
  const auto unless_singular = [&](const Array& a) {
    const Array where = lax::broadcast_in_dim(singular, a.shape(), ops::axis_range(0, row_axis));
    return lax::select(where, lax::full_like(a, 0), a);
  };
  const Array block = last(above, 0, n - 1);
  const Array where = lax::broadcast_in_dim(singular, block.shape(), ops::axis_range(0, row_axis));
  const Array solvable = lax::select(where, lax::identity(x.dtype(), block.shape()), block);
  const Array parts[] = {lax::triangular_solve(solvable, unless_singular(known), {.lower = false}), bottom};
  return {det, lax::concatenate(parts, row_axis)};
}
std::pair<Array, Array> det_rule(const Array& x, const Array& t) {
  const auto [det, solved] = cofactor_solve(x, t);
  return {det, lax::reduce_sum(lax::matrix_diagonal(solved), {x.rank() - 2})};
}
}  // namespace

Array det(In x) {
  const core::At at(x.where());
  const Array a = square_operand("linalg::det", x);
  if (a.shape(-1) == 0) return lax::full(1, a.dtype(), ops::batch_of(a.shape()));
  if (a.shape(-1) <= 3) return small_determinant(a);
  static const auto large = custom_jvp(lu_determinant, det_rule);
  return large(a);
}

SignLogDet slogdet(In x) {
  const core::At at(x.where());
  const Array a = square_operand("linalg::slogdet", x);
  const Arrays lu = lax::lu(a);
  const Array diagonal = lax::matrix_diagonal(lu[0]), size = lax::abs(diagonal), none = lax::full_like(size, 0);
  const int axis = diagonal.rank() - 1;
  const Array nonzero = lax::select(lax::eq(size, none), lax::full_like(size, 1), size);
  const Array signs =
      is_complex(a.dtype()) ? lax::div(diagonal, lax::convert(nonzero, a.dtype())) : lax::sign(diagonal);
  return {lax::mul(lax::reduce_prod(signs, {axis}), parity(lu[1], a.dtype())), lax::reduce_sum(lax::log(size), {axis})};
}

namespace {
// The root, with derivative 0 at 0.
Array root(const Array& x) {
  const Array zero = lax::eq(x, lax::full_like(x, 0));
  return lax::select(zero, lax::full_like(x, 0), lax::sqrt(lax::select(zero, lax::full_like(x, 1), x)));
}
Array squares(const Array& x) {
  if (!is_complex(x.dtype())) return lax::mul(x, x);
  const Array re = lax::real(x), im = lax::imag(x);
  return lax::add(lax::mul(re, re), lax::mul(im, im));
}
Array norm_of_vectors(std::string_view who, const Array& x, const NormOrder& ord, const Axes& axis, Flag keepdims) {
  if (!ord.name().empty())
    fail<ShapeError>(cat(who, ": vectors have no norm \"", ord.name(), "\""), "a number, or 2 axes for matrices");
  const double p = ord.number().value_or(2);
  if (p == 2) return root(sum(squares(x), {.axis = axis, .keepdims = keepdims}));
  const Array size = lax::abs(x);
  if (std::isinf(p)) {
    const ExtremeOptions options{.axis = axis, .keepdims = keepdims};
    return p > 0 ? max(size, options) : min(size, options);
  }
  const SumOptions options{.axis = axis, .keepdims = keepdims};
  if (p == 0) return sum(lax::convert(lax::ne(x, lax::full_like(x, 0)), size.dtype()), options);
  if (p == 1) return sum(size, options);
  return power(sum(power(size, p), options), 1 / p);
}
// Of matrices in the last two axes, which go away.
Array norm_of_matrices(std::string_view who, const Array& x, const NormOrder& ord) {
  const auto unknown = [&](const std::string& text) {
    fail<ShapeError>(cat(who, ": matrices have no norm ", text), "\"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf");
  };
  if (ord.name() == "nuc") return sum(svdvals(x), {.axis = -1});
  if (!ord.name().empty() && ord.name() != "fro") unknown(cat('"', ord.name(), '"'));
  if (!ord.number()) return root(sum(squares(x), {.axis = {-2, -1}}));
  const double p = *ord.number();
  const auto extreme = [&](const Array& values) {
    return p > 0 ? max(values, {.axis = -1}) : min(values, {.axis = -1});
  };
  if (std::abs(p) == 2) return extreme(svdvals(x));
  if (std::abs(p) == 1) return extreme(sum(lax::abs(x), {.axis = -2}));
  if (!std::isinf(p)) unknown(cat(p));
  return extreme(sum(lax::abs(x), {.axis = -1}));
}
Array matrix_norm_along(std::string_view who, const Array& x, const NormOrder& ord, const std::vector<int>& axes,
                        bool keepdims) {
  Array moved = x;
  const int rank = x.rank();
  std::vector<int> order = ops::other_axes(rank, axes);
  order.insert(order.end(), axes.begin(), axes.end());
  const Array value = norm_of_matrices(who, lax::transpose(moved, order), ord);
  return keepdims ? lax::reshape(value, kept_shape(x.shape(), axes)) : value;
}
}  // namespace

Array vector_norm(In x, const VectorNormOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("linalg::vector_norm", x);
  return norm_of_vectors("linalg::vector_norm", a, options.ord, options.axis, options.keepdims);
}

Array matrix_norm(In x, const MatrixNormOptions& options) {
  const core::At at(x.where());
  const Array a = matrix_operand("linalg::matrix_norm", x);
  return matrix_norm_along("linalg::matrix_norm", a, options.ord, {a.rank() - 2, a.rank() - 1}, options.keepdims);
}

Array norm(In x, const NormOptions& options) {
  constexpr std::string_view who = "linalg::norm";
  const core::At at(x.where());
  const Array a = as_inexact(who, x);
  const bool all = options.axis.all();
  if (all && !options.ord.given()) return norm_of_vectors(who, a, 2, {}, options.keepdims);
  const std::vector<int> axes = all ? ops::axis_range(0, a.rank()) : resolve_axes(who, options.axis, core::type_of(a));
  if (axes.size() == 1) return norm_of_vectors(who, a, options.ord, Axes(axes), options.keepdims);
  if (axes.size() != 2)
    fail<ShapeError>(cat(who, ": ", axes.size(), " axes of ", ir::to_string(core::type_of(a))),
                     "axis: one for vectors, two for matrices");
  return matrix_norm_along(who, linalg_operand(who, a), options.ord, axes, options.keepdims);
}

Array cond(In x, const NormOrder& ord) {
  const core::At at(x.where());
  const Array a = matrix_operand("linalg::cond", x);
  if (ord.given() && (!ord.number() || std::abs(*ord.number()) != 2)) {
    check_is_square("linalg::cond", a);
    return lax::mul(norm_of_matrices("linalg::cond", a, ord), norm_of_matrices("linalg::cond", inv(a), ord));
  }
  const Array s = svdvals(a);
  const Array largest = max(s, {.axis = -1}), smallest = min(s, {.axis = -1});
  return ord.given() && *ord.number() < 0 ? lax::div(smallest, largest) : lax::div(largest, smallest);
}

Array matrix_rank(In x, const RankOptions& options) {
  const core::At at(x.where());
  const Array a = lax::stop_gradient(matrix_operand("linalg::matrix_rank", x));
  const double most = static_cast<double>(std::max(a.shape(-2), a.shape(-1)));
  const Array s = svdvals(a);
  const Array largest = lax::reduce_max(s, {s.rank() - 1});
  const Array bound = lax::mul(largest, lax::full_like(largest, options.rtol.value_or(most * epsilon(a.dtype()))));
  const Array counted = lax::gt(s, lax::broadcast_to(lax::expand_dims(bound, bound.rank()), s.shape()));
  return lax::reduce_sum(lax::convert(counted, Dtype::i32), {s.rank() - 1});
}

}  // namespace uni::linalg
