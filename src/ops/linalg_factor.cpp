// LU and QR factorisations.
#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/elementwise.hpp"
#include "ops/linalg.hpp"
#include "ops/matrix.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
// Rows [start, limit) or columns of matrices.
Array rows(const Array& x, i64 start, i64 limit) { return lax::slice_axis(x, x.rank() - 2, start, limit); }
Array columns(const Array& x, i64 start, i64 limit) { return lax::slice_axis(x, x.rank() - 1, start, limit); }

Types lu_type(std::span<const Type> in, const NoParams&) {
  check_operand_count(lu, in, 1);
  check_matrix(lu, in[0]);
  const Dims& shape = in[0].shape;
  const Dims batch = batch_of(shape);
  const auto list = [&](i64 size) {
    Dims d = batch;
    d.push_back(size);
    return Type{Dtype::i32, d, false, {}};
  };
  return {Type{in[0].dtype, shape, false, {}}, list(std::min(shape[-2], shape[-1])), list(shape[-2])};
}
// With W = L^-1 x' U^-1 of the square block: L' = L tril(W, -1) and U' = triu(W) U there (de Hoog, Anderssen, Lukas
// 2011). Rows of L below it and columns of U beside it follow from the product rule.
Array lu_tangent(const Array& factors, const Array& x) {
  const i64 m = x.shape(-2), n = x.shape(-1), k = std::min(m, n);
  const Array square = columns(rows(factors, 0, k), 0, k);
  const Array low = lax::add(lax::lower_triangle(square, -1), lax::identity(square.dtype(), square.shape()));
  const Array up = lax::upper_triangle(square);
  const TriangularSolve by_low{.unit = true}, by_up{.left = false, .lower = false};
  Array inner, rest;
  if (m > n) {
    const Array y = lax::triangular_solve(up, x, by_up);
    inner = lax::triangular_solve(low, rows(y, 0, k), by_low);
    rest = lax::sub(rows(y, k, m), lax::batch_matmul(rows(factors, k, m), lax::upper_triangle(inner)));
  } else {
    const Array y = lax::triangular_solve(low, x, by_low);
    inner = lax::triangular_solve(up, columns(y, 0, k), by_up);
    rest = lax::sub(columns(y, k, n), lax::batch_matmul(lax::lower_triangle(inner, -1), columns(factors, k, n)));
  }
  const Array block = lax::add(lax::batch_matmul(low, lax::lower_triangle(inner, -1)),
                               lax::batch_matmul(lax::upper_triangle(inner), up));
  const Array parts[] = {block, rest};
  return lax::concatenate(parts, x.rank() - (m > n ? 2 : 1));
}
constexpr Rules<NoParams> lu_rules{
    .name = "lu",
    .type = lu_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const NoParams& p) -> Jvp {
      Arrays out = core::bind(lu, x, p);
      if (is_zero(t[0])) return {std::move(out), Arrays(3)};
      Array tangent = lu_tangent(out[0], lax::take_rows(t[0], out[2]));
      return {std::move(out), {std::move(tangent), Array(), Array()}};
    },
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const NoParams& p) { return all_batched(core::bind(lu, a.in, p)); },
    .shard =
        [](std::span<const Type> in, const NoParams&) {
          const int rank = in[0].shape.rank();
          return matrix_rule(in, {rank, rank - 1, rank - 1});
        },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Types qr_type(std::span<const Type> in, const Qr& p) {
  check_operand_count(qr, in, 1);
  check_matrix(qr, in[0]);
  const i64 m = in[0].shape[-2], n = in[0].shape[-1], k = p.full ? m : std::min(m, n);
  const Dims batch = batch_of(in[0].shape);
  return {Type{in[0].dtype, with_matrix(batch, m, k), false, {}},
          Type{in[0].dtype, with_matrix(batch, k, n), false, {}}};
}
// Walter, Lehmann 2012. With C = q^H x' r^-1, q^H q' is the skew-Hermitian matrix with the strict lower triangle of C,
// and with the imaginary parts of its diagonal, since the diagonal of r stays real.
Jvp qr_jvp(std::span<const Array> x, std::span<const Array> t, const Qr& p) {
  const i64 m = x[0].shape(-2), n = x[0].shape(-1), k = std::min(m, n);
  Arrays out = core::bind(qr, x, p);
  if (is_zero(t[0])) return {std::move(out), Arrays(2)};
  if (p.full && m > n)
    throw TraceError(cat("qr: the full q of ", ir::to_string(core::type_of(x[0])), " has no derivative: ", m - n,
                         " of its ", m, " columns can be any basis", base::at(core::current_location()),
                         "\nfix: use the reduced factorisation"));
  const Array &q = out[0], r = columns(out[1], 0, k), conjugate = lax::adjoint(q);
  const Array right = lax::triangular_solve(r, columns(t[0], 0, k), {.left = false, .lower = false});
  const Array c = lax::batch_matmul(conjugate, right), low = lax::lower_triangle(c, -1);
  Array turn = lax::sub(low, lax::adjoint(low));
  if (is_complex(c.dtype())) {
    const Array phases = lax::sub(c, lax::convert(lax::real(c), c.dtype()));
    turn = lax::add(turn, lax::mul(lax::identity(c.dtype(), c.shape()), phases));
  }
  const Array inner = lax::sub(turn, c);
  const Array parts[] = {
      lax::neg(lax::batch_matmul(inner, r)),
      lax::sub(lax::batch_matmul(conjugate, columns(t[0], k, n)), lax::batch_matmul(turn, columns(out[1], k, n)))};
  Arrays tangents = {lax::add(lax::batch_matmul(q, inner), right), lax::concatenate(parts, q.rank() - 1)};
  return {std::move(out), std::move(tangents)};
}
constexpr Rules<Qr> qr_rules{
    .name = "qr",
    .type = qr_type,
    .jvp = qr_jvp,
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const Qr& p) { return all_batched(core::bind(qr, a.in, p)); },
    .shard =
        [](std::span<const Type> in, const Qr&) {
          return matrix_rule(in, {in[0].shape.rank(), in[0].shape.rank()});
        },
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive lu = primitive<lu_rules>();
constinit const Primitive qr = primitive<qr_rules>();

}  // namespace uni::ops

namespace uni::lax {

Arrays lu(const Array& x) {
  const Array operands[] = {x};
  return core::bind(ops::lu, operands, {});
}
Arrays qr(const Array& x, bool full) {
  const Array operands[] = {x};
  return core::bind(ops::qr, operands, ops::Qr{full});
}

}  // namespace uni::lax
