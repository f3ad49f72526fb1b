#include "ops/matrix.hpp"

#include "base/text.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

void check_matrix(const ir::Op& op, const Type& type) {
  if (!is_inexact(type.dtype) || itemsize(type.dtype) < 4)
    throw DtypeError(cat(op.name, ": takes f32, f64, c64 and c128, not ", ir::to_string(type)));
  if (type.shape.rank() < 2) throw ShapeError(cat(op.name, ": ", ir::to_string(type), " is not a matrix"));
}
void check_square(const ir::Op& op, const Type& type) {
  check_matrix(op, type);
  if (type.shape[-2] != type.shape[-1])
    throw ShapeError(cat(op.name, ": ", ir::to_string(type), " is not square: ", type.shape[-2], " rows, ",
                         type.shape[-1], " columns"));
}
Dims batch_of(const Dims& shape) { return Dims(shape.begin(), shape.end() - 2); }
Dims with_matrix(Dims batch, i64 rows, i64 columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

ShardRule matrix_rule(std::span<const Type> in, const std::vector<int>& results) {
  Factors f;
  const int batch = in[0].shape.rank() - 2;
  const std::vector<int> shared = f.add(batch, ShardRule::Kind::pass);
  const auto factors = [&](int rank) {
    std::vector<int> dims = shared;
    for (int d = batch; d < rank; ++d) dims.push_back(f.add(ShardRule::Kind::replicate));
    return dims;
  };
  for (const Type& t : in) f.rule.operands.push_back(factors(t.shape.rank()));
  for (const int rank : results) f.rule.results.push_back(factors(rank));
  return f.rule;
}

}  // namespace uni::ops

namespace uni::lax {

namespace {
using Compare = Array (*)(const Array&, const Array&);
// Where `compare(column, row + offset)` holds.
Array mask(const Dims& shape, int offset, Compare compare) {
  const int rank = shape.rank();
  const Dims matrix{shape[-2], shape[-1]};
  const Array row = add(iota(Dtype::i32, matrix, 0), full_int(offset, Dtype::i32, matrix));
  return broadcast_in_dim(compare(iota(Dtype::i32, matrix, 1), row), shape, {rank - 2, rank - 1});
}
Array where(const Array& predicate, const Array& x) { return select(predicate, x, full_like(x, 0)); }
}  // namespace

Array batch_matmul(const Array& x, const Array& y) {
  const int batch = x.rank() - 2;
  const std::vector<int> lanes = ops::axis_range(0, batch);
  return dot_general(x, y, {{batch + 1}, {batch}, lanes, lanes});
}
Array matrix_transpose(const Array& x) {
  std::vector<int> order = ops::axis_range(0, x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}
Array adjoint(const Array& x) {
  const Array t = matrix_transpose(x);
  return is_complex(x.dtype()) ? conj(t) : t;
}
Array identity(Dtype dtype, const Dims& shape) { return convert(mask(shape, 0, eq), dtype); }
Array lower_triangle(const Array& x, int offset) { return where(mask(x.shape(), offset, le), x); }
Array upper_triangle(const Array& x, int offset) { return where(mask(x.shape(), offset, ge), x); }
Array matrix_diagonal(const Array& x) { return reduce_sum(where(mask(x.shape(), 0, eq), x), {x.rank() - 2}); }
Array as_rows(const Array& v, const Dims& shape) {
  std::vector<int> dims = ops::axis_range(0, shape.rank() - 1);
  dims.back() = shape.rank() - 1;
  return broadcast_in_dim(v, shape, dims);
}
Array as_columns(const Array& v, const Dims& shape) {
  return broadcast_in_dim(v, shape, ops::axis_range(0, shape.rank() - 1));
}
Array take_rows(const Array& x, const Array& order) {
  Dims column = order.shape();
  column.push_back(1);
  Arrays components;
  for (int d = 0; d < x.rank() - 2; ++d) components.push_back(iota(Dtype::i32, column, d));
  components.push_back(reshape(order, column));
  return gather(x, concatenate(components, column.rank() - 1));
}
Array hermitian_of_lower(const Array& x) {
  const Array below = lower_triangle(x, -1);
  Array diagonal = where(mask(x.shape(), 0, eq), x);
  if (is_complex(x.dtype())) diagonal = convert(real(diagonal), x.dtype());
  return add(add(below, adjoint(below)), diagonal);
}

}  // namespace uni::lax
