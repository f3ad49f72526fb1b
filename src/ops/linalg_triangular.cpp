// Cholesky factors and systems of linear equations.
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
// Murray 2016: L' = L phi(L^-1 x' L^-H), phi being the lower triangle with half the diagonal.
Jvp cholesky_jvp(std::span<const Array> x, std::span<const Array> t, const NoParams&) {
  const Array factor = lax::cholesky(x[0]);
  if (is_zero(t[0])) return {{factor}, {Array()}};
  const Array right = lax::triangular_solve(factor, lax::hermitian_of_lower(t[0]),
                                            {.left = false, .transpose = true, .conjugate = true});
  const Array inner = lax::lower_triangle(lax::triangular_solve(factor, right, {}));
  const Array weight = lax::add(lax::full_like(inner, 1), lax::identity(inner.dtype(), inner.shape()));
  return {{factor}, {lax::batch_matmul(factor, lax::div(inner, weight))}};
}
constexpr Rules<NoParams> cholesky_rules{
    .name = "cholesky",
    .type = [](std::span<const Type> in, const NoParams&) -> Types {
      check_operand_count(cholesky, in, 1);
      check_square(cholesky, in[0]);
      return {Type{in[0].dtype, in[0].shape, false, {}}};
    },
    .jvp = cholesky_jvp,
    .transpose = not_linear_row,
    .batch = [](const BatchArgs& a, const NoParams& p) { return all_batched(core::bind(cholesky, a.in, p)); },
    .shard = [](std::span<const Type> in, const NoParams&) { return matrix_rule(in, {in[0].shape.rank()}); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

Types type_of_system(const Primitive& op, std::span<const Type> in, bool left) {
  check_operand_count(op, in, 2);
  const Type &a = in[0], &b = in[1];
  check_square(op, a);
  check_matrix(op, b);
  check_same_dtype(op, in);
  const auto both = cat(ir::to_string(a), " and ", ir::to_string(b));
  if (batch_of(a.shape) != batch_of(b.shape)) throw ShapeError(cat(op.name, ": ", both, " have different batch sizes"));
  if (const i64 size = b.shape[left ? -2 : -1]; size != a.shape[-1])
    throw ShapeError(cat(op.name, ": ", both, " disagree: ", a.shape[-1], " unknowns, ", size, " equations"));
  return {Type{b.dtype, b.shape, false, {}}};
}
// Lanes of right-hand sides alone are more columns (rows) of one system.
template <class Fn>
Batch batch_of_systems(const BatchArgs& args, bool left, const Fn& solve) {
  if (args.batched[0]) return all_batched({solve(args.in[0], with_batch(args, 1))});
  const Array& b = args.in[1];
  const int rank = b.rank() - 1, lane = left ? rank - 1 : rank - 2;
  const Array lanes_inside = lax::move_axis(b, 0, lane);
  Dims merged = lanes_inside.shape();
  merged[lane + 1] *= args.size;
  merged.erase(lane);
  const Array x = solve(args.in[0], lax::reshape(lanes_inside, merged));
  return all_batched({lax::move_axis(lax::reshape(x, lanes_inside.shape()), lane, 0)});
}
// Right-hand sides do not see each other.
ShardRule shard_of_systems(std::span<const Type> in, bool left) {
  using Kind = ShardRule::Kind;
  Factors f;
  const std::vector<int> shared = f.add(in[0].shape.rank() - 2, Kind::pass);
  const auto with = [&](int row, int column) {
    std::vector<int> dims = shared;
    dims.push_back(row);
    dims.push_back(column);
    return dims;
  };
  const auto inner = [&] { return f.add(Kind::replicate); };
  const auto sides = [&](int free) { return left ? with(inner(), free) : with(free, inner()); };
  const int free = f.add();
  f.rule.operands = {with(inner(), inner()), sides(free)};
  f.rule.results = {sides(free)};
  return f.rule;
}

// op(a)' of the triangle that is read.
Array tangent_of_matrix(const Array& t, const TriangularSolve& p) {
  const int strict = p.unit ? 1 : 0;
  Array out = p.lower ? lax::lower_triangle(t, -strict) : lax::upper_triangle(t, strict);
  if (p.transpose) out = lax::matrix_transpose(out);
  return p.conjugate && is_complex(t.dtype()) ? lax::conj(out) : out;
}
// op(a) x' = b' - op(a)' x.
Jvp triangular_jvp(std::span<const Array> in, std::span<const Array> t, const TriangularSolve& p) {
  const Array x = lax::triangular_solve(in[0], in[1], p);
  if (is_zero(t[0]) && is_zero(t[1])) return {{x}, {Array()}};
  Array right = t[1];
  if (!is_zero(t[0])) {
    const Array moved = tangent_of_matrix(t[0], p);
    right = add_tangents(right, lax::neg(p.left ? lax::batch_matmul(moved, x) : lax::batch_matmul(x, moved)));
  }
  return {{x}, {lax::triangular_solve(in[0], right, p)}};
}
Arrays triangular_transpose(std::span<const Array> ct, std::span<const Operand> operands, const TriangularSolve& p) {
  if (operands[0].linear()) not_linear(triangular_solve, "the matrix");
  TriangularSolve q = p;
  q.transpose = !p.transpose;
  return {Array(), lax::triangular_solve(operands[0].value, ct[0], q)};
}
constexpr Rules<TriangularSolve> triangular_solve_rules{
    .name = "triangular_solve",
    .type = [](std::span<const Type> in,
               const TriangularSolve& p) { return type_of_system(triangular_solve, in, p.left); },
    .jvp = triangular_jvp,
    .transpose = triangular_transpose,
    .batch =
        [](const BatchArgs& args, const TriangularSolve& p) {
          return batch_of_systems(args, p.left,
                                  [&](const Array& a, const Array& b) { return lax::triangular_solve(a, b, p); });
        },
    .shard = [](std::span<const Type> in, const TriangularSolve& p) { return shard_of_systems(in, p.left); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};

// op(a) x' = b' - op(a') x.
Jvp solve_jvp(std::span<const Array> in, std::span<const Array> t, const Solve& p) {
  const Array x = lax::solve(in[0], in[1], p.transpose);
  if (is_zero(t[0]) && is_zero(t[1])) return {{x}, {Array()}};
  Array right = t[1];
  if (!is_zero(t[0]))
    right = add_tangents(right, lax::neg(lax::batch_matmul(p.transpose ? lax::matrix_transpose(t[0]) : t[0], x)));
  return {{x}, {lax::solve(in[0], right, p.transpose)}};
}
constexpr Rules<Solve> solve_rules{
    .name = "solve",
    .type = [](std::span<const Type> in, const Solve&) { return type_of_system(solve, in, true); },
    .jvp = solve_jvp,
    .transpose = [](std::span<const Array> ct, std::span<const Operand> operands, const Solve& p) -> Arrays {
      if (operands[0].linear()) not_linear(solve, "the matrix");
      return {Array(), lax::solve(operands[0].value, ct[0], !p.transpose)};
    },
    .batch =
        [](const BatchArgs& args, const Solve& p) {
          return batch_of_systems(args, true,
                                  [&](const Array& a, const Array& b) { return lax::solve(a, b, p.transpose); });
        },
    .shard = [](std::span<const Type> in, const Solve&) { return shard_of_systems(in, true); },
    .expand = by_backends,
    .traits = {.own_weak = true},
};
}  // namespace

constinit const Primitive cholesky = primitive<cholesky_rules>();
constinit const Primitive triangular_solve = primitive<triangular_solve_rules>();
constinit const Primitive solve = primitive<solve_rules>();

std::span<const Primitive* const> linalg_rows() {
  static const Primitive* const rows[] = {&cholesky, &triangular_solve, &solve, &lu, &qr, &eigh, &svd, &pinv};
  return rows;
}

}  // namespace uni::ops

namespace uni::lax {

Array cholesky(const Array& x) { return core::bind1(ops::cholesky, {x}); }
Array triangular_solve(const Array& a, const Array& b, const ops::TriangularSolve& params) {
  return core::bind1(ops::triangular_solve, {a, b}, params);
}
Array solve(const Array& a, const Array& b, bool transpose) {
  return core::bind1(ops::solve, {a, b}, ops::Solve{transpose});
}

}  // namespace uni::lax
