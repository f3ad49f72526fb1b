// Factorisations, and systems solved with given factors.
#include "api/fail.hpp"
#include "api/linalg_helpers.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::linalg {

using namespace api;
using base::cat;

namespace {
Array lower_factor(std::string_view who, const In& x, bool symmetrize) {
  const Array a = square_operand(who, x);
  return lax::cholesky(symmetrize ? symmetrized(a) : a);
}
Array hermitian_operand(std::string_view who, const In& x, const EighOptions& options) {
  const Array a = square_operand(who, x);
  return options.symmetrize ? symmetrized(a) : options.upper ? lax::adjoint(a) : a;
}
// Where each number of a permutation stands.
Array inverse_of(const Array& permutation) {
  const int axis = permutation.rank() - 1;
  const Array operands[] = {permutation, lax::iota(Dtype::i32, permutation.shape(), axis)};
  return lax::sort(operands, axis, 1)[1];
}
}  // namespace

Array cholesky(In x, const CholeskyOptions& options) {
  const core::At at(x.where());
  const Array factor = lower_factor("linalg::cholesky", x, options.symmetrize);
  return options.upper ? lax::adjoint(factor) : factor;
}

CholeskyFactor cho_factor(In x) {
  const core::At at(x.where());
  return {lower_factor("linalg::cho_factor", x, true)};
}

Array cho_solve(const CholeskyFactor& a, In b) {
  const core::At at(b.where());
  const Pair pair = linalg_operands("linalg::cho_solve", a.factor, b);
  check_is_square("linalg::cho_solve", pair.a);
  const System s("linalg::cho_solve", pair.a, pair.b);
  const Array y = lax::triangular_solve(s.matrix(), s.sides(), {});
  return s.restored(lax::triangular_solve(s.matrix(), y, {.transpose = true, .conjugate = true}));
}

Lu lu(In x) {
  const core::At at(x.where());
  const Array a = matrix_operand("linalg::lu", x);
  const i64 m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const Arrays out = lax::lu(a);
  const Array l = lax::lower_triangle(lax::slice_axis(out[0], a.rank() - 1, 0, k), -1);
  const Dims square = ops::with_matrix(ops::batch_of(a.shape()), m, m);
  const Array rows = lax::iota(Dtype::i32, square, a.rank() - 2);
  return {lax::convert(lax::eq(rows, lax::as_rows(out[2], square)), a.dtype()),
          lax::add(l, lax::identity(a.dtype(), l.shape())),
          lax::upper_triangle(lax::slice_axis(out[0], a.rank() - 2, 0, k))};
}

LuFactor lu_factor(In x) {
  const core::At at(x.where());
  Arrays out = lax::lu(matrix_operand("linalg::lu_factor", x));
  return {std::move(out[0]), std::move(out[1]), std::move(out[2])};
}

Array lu_solve(const LuFactor& a, In b, Op op) {
  const core::At at(b.where());
  const Pair pair = linalg_operands("linalg::lu_solve", a.lu, b);
  check_is_square("linalg::lu_solve", pair.a);
  const System s("linalg::lu_solve", pair.a, pair.b);
  Dims order = s.sides().shape();
  order.erase(order.rank() - 1);
  const Array permutation = lax::broadcast_to(a.permutation, order);
  ops::TriangularSolve low{.unit = true}, up{.lower = false};
  if (op == Op::none) {
    const Array y = lax::triangular_solve(s.matrix(), lax::take_rows(s.sides(), permutation), low);
    return s.restored(lax::triangular_solve(s.matrix(), y, up));
  }
  low.transpose = up.transpose = true;
  low.conjugate = up.conjugate = op == Op::adjoint;
  const Array y = lax::triangular_solve(s.matrix(), s.sides(), up);
  return s.restored(lax::take_rows(lax::triangular_solve(s.matrix(), y, low), inverse_of(permutation)));
}

Qr qr(In x, const QrOptions& options) {
  const core::At at(x.where());
  Arrays out = lax::qr(matrix_operand("linalg::qr", x), options.complete);
  return {std::move(out[0]), std::move(out[1])};
}

Eigh eigh(In x, const EighOptions& options) {
  const core::At at(x.where());
  Arrays out = lax::eigh(hermitian_operand("linalg::eigh", x, options), true);
  return {std::move(out[0]), std::move(out[1])};
}
Array eigvalsh(In x, const EighOptions& options) {
  const core::At at(x.where());
  return lax::eigh(hermitian_operand("linalg::eigvalsh", x, options), false)[0];
}

Svd svd(In x, const SvdOptions& options) {
  const core::At at(x.where());
  Arrays out = lax::svd(matrix_operand("linalg::svd", x), true, options.full_matrices);
  return {std::move(out[0]), std::move(out[1]), std::move(out[2])};
}
Array svdvals(In x) {
  const core::At at(x.where());
  return lax::svd(matrix_operand("linalg::svdvals", x), false, false)[0];
}

}  // namespace uni::linalg
