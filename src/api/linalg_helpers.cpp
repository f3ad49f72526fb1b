#include "api/linalg_helpers.hpp"

#include "api/fail.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::api {

using base::cat;

namespace {
std::string text(const Array& x) { return ir::to_string(core::type_of(x)); }
Array checked_dtype(std::string_view who, const Array& x) {
  if (itemsize(x.dtype()) == 2)
    fail<DtypeError>(cat(who, ": takes f32, f64, c64 and c128, not ", text(x)), "astype to f32 first");
  return x;
}
}  // namespace

Array linalg_operand(std::string_view who, const In& x) { return checked_dtype(who, as_inexact(who, x)); }
Pair linalg_operands(std::string_view who, const In& a, const In& b) {
  const ValueType type = to_inexact(who, promote(who, {a, b}));
  return {checked_dtype(who, as_type(who, a, type)), checked_dtype(who, as_type(who, b, type))};
}
void check_is_matrix(std::string_view who, const Array& x) {
  if (x.rank() < 2) fail<ShapeError>(cat(who, ": ", text(x), " is not a matrix"));
}
void check_is_square(std::string_view who, const Array& x) {
  check_is_matrix(who, x);
  if (x.shape(-2) != x.shape(-1)) fail<ShapeError>(cat(who, ": ", text(x), " is not square"));
}
Array matrix_operand(std::string_view who, const In& x) {
  const Array a = linalg_operand(who, x);
  check_is_matrix(who, a);
  return a;
}
Array square_operand(std::string_view who, const In& x) {
  const Array a = linalg_operand(who, x);
  check_is_square(who, a);
  return a;
}

Array symmetrized(const Array& x) { return lax::mul(lax::add(x, lax::adjoint(x)), lax::full_like(x, 0.5)); }
double epsilon(Dtype dtype) { return real_part(dtype) == Dtype::f32 ? 0x1p-23 : 0x1p-52; }
Array real_parts(const Array& x) { return is_complex(x.dtype()) ? lax::real(x) : x; }
Array scaled_columns(const Array& x, const Array& v) {
  return lax::mul(x, lax::as_rows(lax::convert(v, x.dtype()), x.shape()));
}

System::System(std::string_view who, const Array& a, const Array& b) : a_(a), b_(b), vector_(b.rank() == 1) {
  if (b.rank() == 0) fail<ShapeError>(cat(who, ": the right-hand side ", text(b), " is a scalar"));
  const i64 n = a.shape(-1), equations = b.shape(vector_ ? 0 : -2);
  if (equations != n)
    fail<ShapeError>(
        cat(who, ": ", text(a), " and ", text(b), " disagree: ", n, " unknowns, ", equations, " equations"));
  if (vector_) b_ = lax::reshape(b, {n, 1});
  if (a.rank() == 2 && b_.rank() > 2) {
    const Array equations_first = lax::move_axis(b_, b_.rank() - 2, 0);
    folded_ = equations_first.shape();
    b_ = lax::reshape(equations_first, {n, n == 0 ? 0 : equations_first.size() / n});
    return;
  }
  const Dims batches[] = {ops::batch_of(a.shape()), ops::batch_of(b_.shape())};
  const Dims batch = broadcast_shapes(who, batches);
  a_ = lax::broadcast_to(a, ops::with_matrix(batch, n, n));
  b_ = lax::broadcast_to(b_, ops::with_matrix(batch, n, b_.shape(-1)));
}
Array System::restored(const Array& x) const {
  if (!folded_.empty()) return lax::move_axis(lax::reshape(x, folded_), 0, folded_.rank() - 2);
  return vector_ ? lax::squeeze(x, x.rank() - 1) : x;
}

}  // namespace uni::api
