// Eigenvalues of Hermitian matrices and singular values, with their vectors.
#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/linalg.hpp"
#include "ops/matrix.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
Type list_type(const Type& x, i64 size) {
  Dims shape = batch_of(x.shape);
  shape.push_back(size);
  return {real_part(x.dtype), shape, false, {}};
}
Type matrix_type(const Type& x, i64 rows, i64 columns) {
  return {x.dtype, with_matrix(batch_of(x.shape), rows, columns), false, {}};
}
Array real_of(const Array& x) { return is_complex(x.dtype()) ? lax::real(x) : x; }
Array times_columns(const Array& x, const Array& v) {
  return lax::mul(x, lax::as_rows(lax::convert(v, x.dtype()), x.shape()));
}
Array times_rows(const Array& v, const Array& x) {
  return lax::mul(lax::as_columns(lax::convert(v, x.dtype()), x.shape()), x);
}
// 1 / x off the diagonal. On it x is 0, and the result too.
Array reciprocal_off_diagonal(const Array& x) {
  const Array one = lax::identity(x.dtype(), x.shape());
  return lax::sub(lax::integer_pow(lax::add(x, one), -1), one);
}
// v[k] - v[i] in row i and column k.
Array differences(const Array& v, const Dims& shape) {
  return lax::sub(lax::as_rows(v, shape), lax::as_columns(v, shape));
}

// How fast each column would leave its phase: i Im(v'[k]) / v[k], where v[k] is the element that stays real. Nothing
// for real matrices.
Array phase_rate(const Array& tangent, const Array& vectors) {
  const int rows = vectors.rank() - 2;
  const Array size = lax::abs(vectors), largest = lax::reduce_max(size, {rows});
  std::vector<int> dims = other_axes(vectors.rank(), {rows});
  const Array bound = lax::mul(largest, lax::full_like(largest, phase_share));
  const Array large = lax::convert(lax::ge(size, lax::broadcast_in_dim(bound, size.shape(), dims)), Dtype::i32);
  const Array first = lax::eq(lax::mul(large, lax::cumsum(large, rows)), lax::full_like(large, 1));
  const auto pick = [&](const Array& x) {
    return lax::reduce_sum(lax::select(first, x, lax::full_like(x, 0)), {rows});
  };
  const Array rate = lax::div(pick(lax::imag(tangent)), pick(lax::real(vectors)));
  return lax::complex(lax::full_like(rate, 0), rate);
}

Types eigh_type(std::span<const Type> in, const Eigh& p) {
  check_operand_count(eigh, in, 1);
  check_square(eigh, in[0]);
  const i64 n = in[0].shape[-1];
  Types out = {list_type(in[0], n)};
  if (p.vectors) out.push_back(matrix_type(in[0], n, n));
  return out;
}
// Giles 2008: with M = V^H x' V, w' = diag(M) and V' = V (M / (w[k] - w[i])). Equal values give NaN vectors.
Jvp eigh_jvp(std::span<const Array> x, std::span<const Array> t, const Eigh& p) {
  if (is_zero(t[0])) {
    Arrays out = core::bind(eigh, x, p);
    const std::size_t count = out.size();
    return {std::move(out), Arrays(count)};
  }
  Arrays out = core::bind(eigh, x, Eigh{});
  const Array w = out[0], v = out[1];
  const Array moved = lax::batch_matmul(lax::batch_matmul(lax::adjoint(v), lax::hermitian_of_lower(t[0])), v);
  Arrays tangents = {real_of(lax::matrix_diagonal(moved))};
  if (!p.vectors) return {{w}, std::move(tangents)};
  const Array gaps = lax::convert(reciprocal_off_diagonal(differences(w, v.shape())), v.dtype());
  Array turned = lax::batch_matmul(v, lax::mul(gaps, moved));
  if (is_complex(v.dtype())) turned = lax::sub(turned, times_columns(v, phase_rate(turned, v)));
  tangents.push_back(turned);
  return {std::move(out), std::move(tangents)};
}
constexpr Rules<Eigh> eigh_rules{
    .name = "eigh",
    .type = eigh_type,
    .jvp = eigh_jvp,
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const Eigh& p) { return all_batched(core::bind(eigh, a.in, p)); },
    .shard =
        [](std::span<const Type> in, const Eigh& p) {
          const int rank = in[0].shape.rank();
          return matrix_rule(in, p.vectors ? std::vector<int>{rank - 1, rank} : std::vector<int>{rank - 1});
        },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Types svd_type(std::span<const Type> in, const Svd& p) {
  check_operand_count(svd, in, 1);
  check_matrix(svd, in[0]);
  const i64 m = in[0].shape[-2], n = in[0].shape[-1], k = std::min(m, n);
  if (!p.vectors) return {list_type(in[0], k)};
  return {matrix_type(in[0], m, p.full ? m : k), list_type(in[0], k), matrix_type(in[0], p.full ? n : k, n)};
}
// Townsend 2016, with C = U^H x' V: s' = diag(C); U and V turn within their spaces by F (C s + s C^H) and
// F (s C + C^H s), F = 1 / (s[k]^2 - s[i]^2), and U by the imaginary diagonal of C / s; what leaves a space is added.
Arrays svd_tangents(const Array& u, const Array& s, const Array& vh, const Array& t) {
  const Array uh = lax::adjoint(u), v = lax::adjoint(vh);
  const Array tv = lax::batch_matmul(t, v), c = lax::batch_matmul(uh, tv), ch = lax::adjoint(c);
  const Array f = reciprocal_off_diagonal(
      lax::mul(differences(s, c.shape()), lax::add(lax::as_rows(s, c.shape()), lax::as_columns(s, c.shape()))));
  const Array weight = lax::convert(f, c.dtype());
  Array turn = lax::mul(weight, lax::add(times_columns(c, s), times_rows(s, ch)));
  if (is_complex(c.dtype())) {
    const Array imaginary = lax::imag(lax::matrix_diagonal(c));
    const Array rate = lax::select(lax::eq(s, lax::full_like(s, 0)), lax::full_like(s, 0), lax::div(imaginary, s));
    const Array phase = lax::complex(lax::full_like(rate, 0), rate);
    turn = lax::add(turn, lax::mul(lax::identity(c.dtype(), c.shape()), lax::as_rows(phase, c.shape())));
  }
  Array du = lax::batch_matmul(u, turn);
  Array dv = lax::batch_matmul(v, lax::mul(weight, lax::add(times_rows(s, c), times_columns(ch, s))));
  const auto leaving = [&](const Array& moved, const Array& basis, const Array& inside) {
    const Array outside = lax::sub(moved, lax::batch_matmul(basis, inside));
    return lax::div(outside, lax::as_rows(lax::convert(s, outside.dtype()), outside.shape()));
  };
  if (t.shape(-2) > t.shape(-1)) du = lax::add(du, leaving(tv, u, c));
  if (t.shape(-2) < t.shape(-1)) dv = lax::add(dv, leaving(lax::batch_matmul(lax::adjoint(t), u), v, ch));
  if (is_complex(u.dtype())) {
    const Array rate = phase_rate(du, u);
    du = lax::sub(du, times_columns(u, rate));
    dv = lax::sub(dv, times_columns(v, rate));
  }
  return {du, real_of(lax::matrix_diagonal(c)), lax::adjoint(dv)};
}
Jvp svd_jvp(std::span<const Array> x, std::span<const Array> t, const Svd& p) {
  if (is_zero(t[0])) {
    Arrays out = core::bind(svd, x, p);
    const std::size_t count = out.size();
    return {std::move(out), Arrays(count)};
  }
  const i64 m = x[0].shape(-2), n = x[0].shape(-1);
  if (p.vectors && p.full && m != n)
    throw TraceError(cat("svd: the full vectors of ", ir::to_string(core::type_of(x[0])), " have no derivative: ",
                         std::max(m, n) - std::min(m, n), " of ", std::max(m, n), " can be any basis",
                         base::at(core::current_location()), "\nfix: use the reduced decomposition"));
  Arrays out = core::bind(svd, x, Svd{});
  if (p.vectors) return {out, svd_tangents(out[0], out[1], out[2], t[0])};
  const Array c = lax::batch_matmul(lax::batch_matmul(lax::adjoint(out[0]), t[0]), lax::adjoint(out[2]));
  return {{out[1]}, {real_of(lax::matrix_diagonal(c))}};
}
constexpr Rules<Svd> svd_rules{
    .name = "svd",
    .type = svd_type,
    .jvp = svd_jvp,
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const Svd& p) { return all_batched(core::bind(svd, a.in, p)); },
    .shard =
        [](std::span<const Type> in, const Svd& p) {
          const int rank = in[0].shape.rank();
          return matrix_rule(in, p.vectors ? std::vector<int>{rank, rank - 1, rank} : std::vector<int>{rank - 1});
        },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Array pinv_by_svd(const Array& x, double rtol) {
  const Arrays out = lax::svd(x, true, false);
  const Array &s = out[1], one = lax::full_like(s, 1);
  const Array bound = lax::mul(lax::reduce_max(s, {s.rank() - 1}), lax::full(rtol, s.dtype(), batch_of(x.shape())));
  const Array kept = lax::gt(s, lax::broadcast_in_dim(bound, s.shape(), axis_range(0, bound.rank())));
  // NaN is not kept, and stays.
  const Array none = lax::mul(s, lax::full_like(s, 0));
  const Array weight = lax::select(kept, lax::div(one, lax::select(kept, s, one)), none);
  return lax::batch_matmul(times_columns(lax::adjoint(out[2]), weight), lax::adjoint(out[0]));
}
// Golub, Pereyra 1973: p' = -p x' p + p p^H x'^H (1 - x p) + (1 - p x) x'^H p^H p. Products are small ones first.
Jvp pinv_jvp(std::span<const Array> in, std::span<const Array> t, const Pinv& params) {
  const Array &x = in[0], p = lax::pinv(x, params.rtol);
  if (is_zero(t[0])) return {{p}, {Array()}};
  const bool tall = x.shape(-2) >= x.shape(-1);
  const auto product = [&](const Array& a, const Array& b, const Array& c) {
    return tall ? lax::batch_matmul(lax::batch_matmul(a, b), c) : lax::batch_matmul(a, lax::batch_matmul(b, c));
  };
  const Array ph = lax::adjoint(p), th = lax::adjoint(t[0]);
  const Array left = product(p, ph, th), right = product(th, ph, p);
  const Array outer = lax::sub(lax::add(left, right), lax::add(product(left, x, p), product(p, x, right)));
  return {{p}, {lax::sub(outer, product(p, t[0], p))}};
}
constexpr Rules<Pinv> pinv_rules{
    .name = "pinv",
    .type = [](std::span<const Type> in, const Pinv&) -> Types {
      check_operand_count(pinv, in, 1);
      check_matrix(pinv, in[0]);
      return {matrix_type(in[0], in[0].shape[-1], in[0].shape[-2])};
    },
    .jvp = pinv_jvp,
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const Pinv& p) { return all_batched(core::bind(pinv, a.in, p)); },
    .shard = [](std::span<const Type> in, const Pinv&) { return matrix_rule(in, {in[0].shape.rank()}); },
    .expand = [](std::span<const Array> in, const Pinv& p) -> Arrays { return {pinv_by_svd(in[0], p.rtol)}; },
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive eigh = primitive<eigh_rules>();
constinit const Primitive svd = primitive<svd_rules>();
constinit const Primitive pinv = primitive<pinv_rules>();

}  // namespace uni::ops

namespace uni::lax {

Arrays eigh(const Array& x, bool vectors) {
  const Array operands[] = {x};
  return core::bind(ops::eigh, operands, ops::Eigh{vectors});
}
Arrays svd(const Array& x, bool vectors, bool full) {
  const Array operands[] = {x};
  return core::bind(ops::svd, operands, ops::Svd{vectors, full});
}
Array pinv(const Array& x, double rtol) { return core::bind1(ops::pinv, {x}, ops::Pinv{rtol}); }

}  // namespace uni::lax
