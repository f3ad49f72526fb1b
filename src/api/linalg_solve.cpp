// Systems of linear equations, inverses, least squares.
#include "api/fail.hpp"
#include "api/linalg_helpers.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/products.hpp>
#include <unisono/reduction.hpp>
#include <unisono/shaping.hpp>

namespace uni::linalg {

using namespace api;
using base::cat;

namespace {
Array solved(std::string_view who, const Array& a, const Array& b) {
  check_is_square(who, a);
  const System s(who, a, b);
  return s.restored(lax::solve(s.matrix(), s.sides()));
}

double largest_size(const Array& a) { return static_cast<double>(std::max(a.shape(-2), a.shape(-1))); }
}  // namespace

Array solve(In a, In b) {
  const core::At at(a.where());
  const Pair pair = linalg_operands("linalg::solve", a, b);
  return solved("linalg::solve", pair.a, pair.b);
}

Array inv(In x) {
  const core::At at(x.where());
  const Array a = square_operand("linalg::inv", x);
  return lax::solve(a, lax::identity(a.dtype(), a.shape()));
}

Array solve_triangular(In a, In b, const TriangularOptions& options) {
  const core::At at(a.where());
  const Pair pair = linalg_operands("linalg::solve_triangular", a, b);
  check_is_square("linalg::solve_triangular", pair.a);
  const System s("linalg::solve_triangular", pair.a, pair.b);
  return s.restored(lax::triangular_solve(s.matrix(), s.sides(),
                                          {.lower = options.lower,
                                           .transpose = options.op != Op::none,
                                           .conjugate = options.op == Op::adjoint,
                                           .unit = options.unit_diagonal}));
}

Array pinv(In x, const PinvOptions& options) {
  const core::At at(x.where());
  const Array a = matrix_operand("linalg::pinv", x);
  return lax::pinv(a, options.rtol.value_or(10 * largest_size(a) * epsilon(a.dtype())));
}

LeastSquares lstsq(In a_in, In b_in, const LeastSquaresOptions& options) {
  const core::At at(a_in.where());
  auto [a, b] = linalg_operands("linalg::lstsq", a_in, b_in);
  check_is_matrix("linalg::lstsq", a);
  const bool vector = b.rank() == 1;
  if (b.rank() == 0 || b.shape(vector ? 0 : -2) != a.shape(-2))
    fail<ShapeError>(cat("linalg::lstsq: ", ir::to_string(core::type_of(a)), " and ", ir::to_string(core::type_of(b)),
                         " have different numbers of equations"));
  if (vector) b = lax::expand_dims(b, 1);
  const double rcond = options.rcond.value_or(largest_size(a) * epsilon(a.dtype()));
  const Array x = matmul(lax::pinv(a, rcond), b), s = svdvals(a);
  const Array miss = uni::abs(b - matmul(a, x));
  return {vector ? lax::squeeze(x, x.rank() - 1) : x, sum(miss * miss, {.axis = -2}), matrix_rank(a, {.rtol = rcond}),
          s};
}

Array tensorsolve(In a_in, In b_in) {
  const core::At at(a_in.where());
  const auto [a, b] = linalg_operands("linalg::tensorsolve", a_in, b_in);
  const Dims& shape = a.shape();
  const int known = std::min(b.rank(), a.rank());
  const Dims head(shape.begin(), shape.begin() + known), rest(shape.begin() + known, shape.end());
  if (head != b.shape() || rest.count() != b.size())
    fail<ShapeError>(cat("linalg::tensorsolve: ", ir::to_string(core::type_of(a)), " is not the shape of ",
                         ir::to_string(core::type_of(b)), " and as many elements more"));
  const Array x = solved("linalg::tensorsolve", lax::reshape(a, {b.size(), b.size()}), lax::reshape(b, {b.size()}));
  return lax::reshape(x, rest);
}

Array tensorinv(In x, int index) {
  const core::At at(x.where());
  const Array a = linalg_operand("linalg::tensorinv", x);
  const Dims& shape = a.shape();
  if (index < 1 || index > a.rank())
    fail<ShapeError>(cat("linalg::tensorinv: index ", index, " of ", ir::to_string(core::type_of(a))));
  const Dims head(shape.begin(), shape.begin() + index), rest(shape.begin() + index, shape.end());
  if (head.count() != rest.count())
    fail<ShapeError>(cat("linalg::tensorinv: the first ", index, " axes of ", ir::to_string(core::type_of(a)), " have ",
                         head.count(), " elements, the others ", rest.count()));
  Dims result = rest;
  for (const i64 size : head) result.push_back(size);
  return lax::reshape(inv(lax::reshape(a, {head.count(), rest.count()})), result);
}

}  // namespace uni::linalg
